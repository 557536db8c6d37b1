/*
 * What was done with calls: a table, and what becomes of it at the end: the report, and files for
 * monitoring.
 *
 * A call is either served by an algorithm or passed to the component below for a reason: its
 * outcome is a number, first those of the algorithms, then those of the reasons.  The table has a
 * row for each outcome, collective, size of communicator and class of lengths that occurred:
 *
 *   | collective, outcome, ranks, nodes, class | calls, bytes, time, longest wait and for whom |
 *
 * Where there is no room for more, rows of all sizes and lengths together take the rest, so that
 * sums stay what they are.
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

/* At most so many algorithms; from ARC_TALLY_PASSED on outcomes are reasons. */
enum {
    ARC_TALLY_ALGORITHMS = 8,
    ARC_TALLY_PASSED = ARC_TALLY_ALGORITHMS,
    ARC_TALLY_OUTCOMES = ARC_TALLY_PASSED + (int) ARC_REASONS
};

/* Lengths from 4^(k - 1) to below 4^k bytes are of class k; 0: nothing. */
enum { ARC_TALLY_CLASS_ANY = UINT16_MAX };
static inline unsigned arc_tally_class(size_t bytes)
{
    enum { BITS = 64 };

    return 0 == bytes ? 0 : 1 + (BITS - 1 - (unsigned) __builtin_clzll(bytes)) / 2;
}

/* What the calls of a row have in common; a collective is a number of whoever counts. */
typedef enum arc_tally_fact {
    ARC_TALLY_COLLECTIVE,
    ARC_TALLY_OUTCOME,
    ARC_TALLY_CLASS,
    ARC_TALLY_RANKS, /* of the communicator; 0: of any */
    ARC_TALLY_NODES, /* 0: not known */
    ARC_TALLY_FACTS
} arc_tally_fact_t;

typedef struct arc_tally_row {
    uint32_t fact[ARC_TALLY_FACTS];
    uint64_t calls; /* 0: the row is free */
    uint64_t bytes;
    uint64_t call_ns;     /* 0: they were not timed; of them: */
    uint64_t late_ns;     /* until all ranks of the node had come */
    uint64_t messages_ns; /* waiting for messages, and using them */
    uint64_t wait_ns;     /* the longest of them; 0: it is not known */
    uint32_t awaited;     /* for whom: its rank in MPI_COMM_WORLD; UINT32_MAX: not known */
} arc_tally_row_t;

/* From ARC_TALLY_OWN_ROWS rows on new ones are of ARC_TALLY_CLASS_ANY. */
enum { ARC_TALLY_ROWS = 1024, ARC_TALLY_OWN_ROWS = ARC_TALLY_ROWS / 4 * 3 };

/* Of zeros it is empty. */
typedef struct arc_tally {
    unsigned used;
    arc_tally_row_t row[ARC_TALLY_ROWS];
} arc_tally_t;

/* Count a call, in the row that is returned.  One thread at a time. */
arc_tally_row_t *arc_tally_count(arc_tally_t *tally, const uint32_t fact[ARC_TALLY_FACTS],
                                 size_t bytes);

/* Who has counted, and what the numbers mean. */
typedef struct arc_tally_about {
    const char *component; /* "lowlat" */
    const char *job;
    const char *host;
    unsigned long process;
    unsigned rank;
    const char *(*collective)(unsigned collective); /* its name */
    const char *const *algorithms;
    size_t algorithm_count;
    bool wanted; /* by somebody: collective 0 has a report without calls, too */
} arc_tally_about_t;

/*
 * Print the report about one collective, if there is one: where calls have come but those that
 * nobody wants here, or that a rank cannot serve.  It has a line for each algorithm, and one for
 * each reason that occurred.  NULL: nowhere; is there one?
 */
bool arc_tally_print(FILE *stream, const arc_tally_about_t *about, unsigned collective,
                     const arc_tally_t *tally);

/* Write all rows, as a list of JSON or in the text format of Prometheus, with the same names. */
void arc_tally_write(FILE *file, bool json, const arc_tally_about_t *about,
                     const arc_tally_t *tally);

#endif
