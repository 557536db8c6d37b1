/*
 * The correctness matrix of MPI_Allreduce: every predefined type with every
 * operation MPI allows on it, counts around every boundary, in place and not.
 * Operations of the program: lowlat/user_types.c; communicators: lowlat/origins.c.
 *
 * Results are compared with an exact oracle byte by byte, so the comparison also
 * proves that all ranks hold the same bits; floats whose sums round have the bits
 * that lowlat/reproducible.c expects.
 *
 *   -l N   leave out counts above N (elements); for runs with many ranks
 *   -t     thinned: counts around the smallest block, chunk and memory that coll_lowlat can be set
 *          to; for many algorithms with many ranks
 *   -f     few operations: of each type the first and a quarter of the others, by the type and
 *          the number of ranks; where other runs have all
 *   -b     only NaN, byte by byte
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "oracle.h"

enum {
    COUNTS_MAX = 48,
    MIXED_COUNT = 70000,
    LARGEST_COUNT = 300001,
    THIN_LARGEST_COUNT = 20011,
    SHARE_OF_OPS = 4,
    STAGGER_ELEMS = 61, /* a prime: successive calls reduce different stretches of the vectors */
};

static const size_t small_counts[] = {0, 1, 2, 3, 5, 7, 8, 13, 14, 15, 1023, 1024, 1025};

/* Sizes at which an implementation may change its way: a packet of a line, a packet, a page, a
 * segment. */
static const size_t boundary_bytes[] = {56, 632, 4096, 8192, 65536};

/* The same for the smallest values of block_bytes, chunk_bytes, and slots times that. */
static const size_t thin_bytes[] = {56, 256, 4096, 12288};
static const size_t thin_counts[] = {0, 1, 997};

/** Element counts without repetitions, none above the limit. */
typedef struct counts {
    size_t values[COUNTS_MAX];
    size_t used;
    size_t limit;
    size_t largest;
} counts_t;

static void counts_add(counts_t *counts, size_t value)
{
    for (size_t i = 0; i < counts->used; i++) {
        if (counts->values[i] == value) {
            return;
        }
    }
    if (counts->used < COUNTS_MAX && value <= counts->limit) {
        counts->values[counts->used++] = value;
        counts->largest = value > counts->largest ? value : counts->largest;
    }
}

static void counts_around(counts_t *counts, size_t elems)
{
    counts_add(counts, elems > 0 ? elems - 1 : 0);
    counts_add(counts, elems);
    counts_add(counts, elems + 1);
}

/*
 * Counts for one type: those that cost time with its first operation only, for how bytes are moved
 * does not depend on the operation.  Thinned, the ranks decide which of them have empty parts.
 */
static counts_t counts_for(const type_row_t *type, size_t limit, bool thin, bool first_op)
{
    const size_t *few = thin ? thin_counts : small_counts;
    const size_t *bytes = thin ? thin_bytes : boundary_bytes;
    const size_t fews = (thin ? sizeof thin_counts : sizeof small_counts) / sizeof *few;
    const size_t sizes = (thin ? sizeof thin_bytes : sizeof boundary_bytes) / sizeof *bytes;
    counts_t counts = {.limit = limit};

    for (size_t i = 0; i < fews; i++) {
        counts_add(&counts, few[i]);
    }
    if (thin) {
        counts_around(&counts, (size_t) world_ranks);
    }
    for (size_t i = 0; i < (thin && !first_op ? 1 : sizes); i++) {
        counts_around(&counts, bytes[i] / type->extent_bytes);
    }
    if (type->broad && first_op) {
        counts_add(&counts, thin ? THIN_LARGEST_COUNT : MIXED_COUNT);
        counts_add(&counts, thin ? THIN_LARGEST_COUNT : LARGEST_COUNT);
    }
    return counts;
}

/* All counts of one type and operation, out of place and in place. */
static void check_op(const type_row_t *type, op_id_t op, const counts_t *counts)
{
    const draw_t draw = draw_of(op, (uint64_t) op + 1);
    check_buffers_t buffers;
    oracle_t oracle;

    oracle_init(&oracle, type, &draw, counts->largest + STAGGER_ELEMS);
    check_buffers_init(&buffers, counts->largest * type->extent_bytes);
    for (size_t i = 0; i < 2 * counts->used; i++) {
        const call_t call = {i % STAGGER_ELEMS, counts->values[i / 2], i % 2 != 0};

        (void) check_allreduce(&oracle, &buffers, &call);
    }
    check_buffers_fini(&buffers);
    oracle_fini(&oracle);
}

static bool is_of_few(const type_row_t *type, unsigned op)
{
    return (op + (unsigned) (type - type_table) + (unsigned) world_ranks) % SHARE_OF_OPS == 0;
}

static void check_type(const type_row_t *type, size_t limit, bool thin, bool few_ops)
{
    char ops[128] = "";
    size_t reached = 0;
    bool first_op = true;

    if (!type_present(type)) {
        tap_skip(type->name, "this Open MPI was built without the type");
        return;
    }
    for (unsigned op = 0; op < OP_COUNT; op++) {
        if (type->ops & (1u << op) && (!few_ops || first_op || is_of_few(type, op))) {
            const counts_t counts = counts_for(type, limit, thin, first_op);
            first_op = false;
            check_op(type, (op_id_t) op, &counts);
            strncat(ops, " ", sizeof ops - strlen(ops) - 1);
            strncat(ops, op_table[op].name, sizeof ops - strlen(ops) - 1);
            reached = counts.largest > reached ? counts.largest : reached;
        }
    }
    tap_case("%s x%s, counts 0..%zu, in place and not", type->name, ops, reached);
}

int main(int argc, char **argv)
{
    size_t limit = LARGEST_COUNT;
    bool only_nan = false;
    bool thin = false;
    bool few_ops = false;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('l', limit), OPTION('b', only_nan), OPTION('t', thin),
                 OPTION('f', few_ops));
    if (only_nan) {
        matrix_check_nan();
    }
    for (size_t row = 0; row < type_table_rows && !only_nan; row++) {
        check_type(&type_table[row], limit, thin, few_ops);
    }
    return tap_end();
}
