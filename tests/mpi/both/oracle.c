/*
 * The oracle of the MPI tests and the one place that calls MPI_Allreduce and
 * looks at everything it may have touched. oracle.h has the contract.
 *
 * Cost: ranks * count draws and folds per oracle; the callers keep one oracle
 * per type and operation and look at different stretches of it, so that
 * successive calls also see different data.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "oracle.h"

draw_t draw_of(op_id_t op, uint64_t seed)
{
    return (draw_t){op, seed, (unsigned) world_rank, (unsigned) world_ranks};
}

void oracle_init(oracle_t *oracle, const type_row_t *type, const draw_t *draw, size_t count)
{
    const size_t bytes = count * type->extent_bytes;
    SCOPED void *input = must_alloc(bytes);
    draw_t of_rank = *draw;

    *oracle = (oracle_t){type, draw->op, count, must_alloc(bytes), must_alloc(bytes)};
    memset(oracle->mine, 0, bytes);
    type->draw(oracle->mine, draw, count);
    for (of_rank.rank = 0; of_rank.rank < draw->ranks; of_rank.rank++) {
        type->draw(of_rank.rank == 0 ? oracle->expected : input, &of_rank, count);
        if (of_rank.rank > 0) {
            type->fold(oracle->expected, input, draw->op, count);
        }
    }
}

void oracle_fini(oracle_t *oracle)
{
    free(oracle->mine);
    free(oracle->expected);
}

size_t oracle_mismatch(const oracle_t *oracle, size_t first, size_t count, const void *result)
{
    const type_row_t *type = oracle->type;
    const unsigned char *expected =
        (const unsigned char *) oracle->expected + first * type->extent_bytes;
    const unsigned char *got = result;

    if (type->parts[0].bytes == type->extent_bytes &&
        memcmp(expected, got, count * type->extent_bytes) == 0) {
        return count;
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t p = 0; p < TYPE_PARTS; p++) {
            size_t at = i * type->extent_bytes + type->parts[p].offset_bytes;

            if (memcmp(expected + at, got + at, type->parts[p].bytes) != 0) {
                return i;
            }
        }
    }
    return count;
}

void check_buffers_init(check_buffers_t *buffers, size_t capacity_bytes)
{
    guarded_init(&buffers->send, capacity_bytes);
    guarded_init(&buffers->receive, capacity_bytes);
}

void check_buffers_fini(check_buffers_t *buffers)
{
    guarded_fini(&buffers->send);
    guarded_fini(&buffers->receive);
}

/*
 * An address that is aligned for the type and no better, and another one on every rank: how a
 * rank's buffer is aligned must not decide which way the ranks go.
 */
static size_t shift_for(const type_row_t *type, const call_t *call)
{
    enum { STRICTEST_BYTES = 16, PLACES = 4 };
    const size_t align_bytes = type->extent_bytes & -type->extent_bytes;

    return (call->first + (size_t) world_rank) % PLACES *
           (align_bytes > STRICTEST_BYTES ? STRICTEST_BYTES : align_bytes);
}

/* Is all that is in no part what it was?  A long double has padding that belongs to it. */
static bool gaps_intact(const type_row_t *type, const unsigned char *out, size_t count,
                        unsigned char was)
{
    bool intact = true;

    for (size_t in = 0; type->parts[0].bytes <= sizeof(double) && in < type->extent_bytes; in++) {
        bool covered = false;

        for (size_t p = 0; p < TYPE_PARTS; p++) {
            covered |= in - type->parts[p].offset_bytes < type->parts[p].bytes;
        }
        for (size_t i = 0; !covered && i < count; i++) {
            intact &= out[i * type->extent_bytes + in] == was;
        }
    }
    return intact;
}

bool check_allreduce(const oracle_t *oracle, check_buffers_t *buffers, const call_t *call)
{
    enum { POISON = 0x5C };
    const type_row_t *type = oracle->type;
    const op_row_t *op = &op_table[oracle->op];
    const char *how = call->in_place ? "in place" : "out of place";
    size_t bytes = call->count * type->extent_bytes;
    const unsigned char *mine =
        (const unsigned char *) oracle->mine + call->first * type->extent_bytes;
    void *send = guarded_place_at(&buffers->send, bytes, shift_for(type, call));
    void *receive = guarded_place_at(&buffers->receive, bytes, shift_for(type, call));

    memcpy(send, mine, bytes);
    if (call->in_place) {
        memcpy(receive, mine, bytes);
    } else {
        memset(receive, POISON, bytes);
    }
    int code = MPI_Allreduce(call->in_place ? MPI_IN_PLACE : send, receive, (int) call->count,
                             type->handle, op->handle, MPI_COMM_WORLD);
    size_t wrong = oracle_mismatch(oracle, call->first, call->count, receive);

    bool good = tap_check(code == MPI_SUCCESS, "%s %s count %zu %s: returned %d", type->name,
                          op->name, call->count, how, code);
    good &= tap_check(wrong == call->count, "%s %s count %zu %s: element %zu is wrong", type->name,
                      op->name, call->count, how, wrong);
    good &=
        tap_check(call->in_place || gaps_intact(type, receive, call->count, POISON),
                  "%s %s count %zu %s: wrote into a gap", type->name, op->name, call->count, how);
    good &= tap_check(memcmp(send, mine, bytes) == 0, "%s %s count %zu %s: send buffer changed",
                      type->name, op->name, call->count, how);
    good &= tap_check(guarded_intact(&buffers->send) && guarded_intact(&buffers->receive),
                      "%s %s count %zu %s: wrote outside of a buffer", type->name, op->name,
                      call->count, how);
    return good;
}
