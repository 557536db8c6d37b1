/*
 * What was done with each call: counters, and the table they end in.
 *
 * A call is either served by an algorithm or passed to the component below for
 * a reason.  Both are rows: first the component's algorithms, then the reasons.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_TALLY_H
#define ARC_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* clang-format off */
#define ARC_REASON_TABLE(X)                                                             \
    X(OFF,            "switched off for this communicator")                             \
    X(YOUNG,          "the communicator has made few calls so far")                     \
    X(EMPTY,          "no elements")                                                    \
    X(USER_OP,        "operation is not a predefined one")                              \
    X(DERIVED_TYPE,   "datatype is not a predefined one")                               \
    X(TYPE_OR_OP,     "this datatype with this operation is not handled")               \
    X(NOT_CHOSEN,     "this collective, or its stage, is not to be quantized")          \
    X(IN_PLACE,       "in place, where the own block must stay what it is")             \
    X(TOO_SMALL,      "message is smaller than min_bytes")                              \
    X(TOO_LARGE,      "no algorithm here is for messages of this length")                \
    X(SLOWER,         "the component below is faster here")                             \
    X(LEARNING,       "whether quantizing is faster here is being learned")              \
    X(NOT_ONE_NODE,   "communicator spans several nodes")                               \
    X(INACCURATE,     "nothing allowed is below target_nmse here")         \
    X(BOUND,          "no format keeps target_abs or target_rel with these numbers")    \
    X(ERROR_MEASURED, "a verified call was less accurate than max_nmse")                \
    X(CONFIG_DIFFERS, "parameters are not the same on all ranks")                       \
    X(ABSENT,         "a rank lacks the component, or has not answered")               \
    X(NO_SETUP,       "set-up failed on some rank")                                     \
    X(NESTED,         "call made by the component below")
/* clang-format on */

typedef enum arc_reason {
#define X(_id, _text) ARC_REASON_##_id,
    ARC_REASON_TABLE(X)
#undef X
        ARC_REASONS,
    ARC_REASON_NONE = ARC_REASONS /* to pass the call down: it is served */
} arc_reason_t;

const char *arc_reason_text(arc_reason_t reason);

/* At most so many rows for algorithms; from ARC_TALLY_PASSED on those of reasons. */
enum {
    ARC_TALLY_ALGORITHMS = 8,
    ARC_TALLY_PASSED = ARC_TALLY_ALGORITHMS,
    ARC_TALLY_ROWS = ARC_TALLY_PASSED + (int) ARC_REASONS
};

typedef struct arc_tally_row {
    uint64_t calls;
    uint64_t bytes;
} arc_tally_row_t;

typedef struct arc_tally {
    arc_tally_row_t row[ARC_TALLY_ROWS];
} arc_tally_t;

/* threads: others may count at the same time. */
static inline void arc_tally_count(arc_tally_row_t *row, size_t bytes, bool threads)
{
    if (threads) {
        (void) __atomic_add_fetch(&row->calls, 1, __ATOMIC_RELAXED);
        (void) __atomic_add_fetch(&row->bytes, bytes, __ATOMIC_RELAXED);
    } else {
        row->calls += 1;
        row->bytes += bytes;
    }
}

/* Has any call been counted, but where nobody wants the component, or a rank lacks it? */
bool arc_tally_has_calls(const arc_tally_t *tally);

/*
 * Print the table for the `call` (as MPI_Allreduce) of `component`: one line for each algorithm
 * (`names`, in order, `algorithms` of them) and one for each reason that occurred.
 */
void arc_tally_print(FILE *stream, const char *component, const char *call,
                     const char *const *names, size_t algorithms, const arc_tally_t *tally);

#endif
