/*
 * The correctness matrix of MPI_Allreduce: every predefined type with every
 * operation MPI allows on it, counts around every boundary, in place and not,
 * on many kinds of communicators.  Operations of the program: lowlat/user_types.c.
 *
 * All predefined results are compared with an exact oracle byte by byte, so the
 * comparison also proves that all ranks hold the same bits; sums of arbitrary
 * floats, which have no exact oracle, are checked for both properties on their
 * own in matrix_special.c.
 *
 *   -l N   leave out counts above N (elements); for runs with many ranks
 *   -t     thinned: predefined types on world only, and counts around the smallest block, chunk
 *          and memory that coll_lowlat can be set to; for many algorithms with many ranks
 *   -b     only NaN, byte by byte
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "matrix.h"

enum {
    COUNTS_MAX = 48,
    MIXED_COUNT = 70000,
    LARGEST_COUNT = 300001,
    THIN_LARGEST_COUNT = 20011,
    STAGGER_ELEMS = 61, /* a prime: successive calls reduce different stretches of the vectors */
};

static const size_t small_counts[] = {0, 1, 2, 3, 5, 7, 8, 13, 14, 15, 1023, 1024, 1025};

/* Sizes at which an implementation may change its way: a packet of a line, a packet, a page, a
 * segment. */
static const size_t boundary_bytes[] = {56, 632, 4096, 8192, 65536};

/* The same for the smallest values of block_bytes, chunk_bytes, and slots times that. */
static const size_t thin_bytes[] = {56, 256, 4096, 12288};
static const size_t thin_counts[] = {0, 1, 997};

/** An ascending list of element counts without repetitions. */
typedef struct counts {
    size_t values[COUNTS_MAX];
    size_t used;
} counts_t;

static void counts_add(counts_t *counts, size_t value)
{
    size_t at = 0;

    while (at < counts->used && counts->values[at] < value) {
        at++;
    }
    if (counts->used == COUNTS_MAX || (at < counts->used && counts->values[at] == value)) {
        return;
    }
    memmove(&counts->values[at + 1], &counts->values[at],
            (counts->used - at) * sizeof counts->values[0]);
    counts->values[at] = value;
    counts->used++;
}

static void counts_around(counts_t *counts, size_t elems)
{
    counts_add(counts, elems > 0 ? elems - 1 : 0);
    counts_add(counts, elems);
    counts_add(counts, elems + 1);
}

static void counts_limit(counts_t *counts, size_t limit)
{
    while (counts->used > 0 && counts->values[counts->used - 1] > limit) {
        counts->used--;
    }
}

/* Counts for one type, up to `limit`; `large` adds the counts that cost time. */
static void counts_for(counts_t *counts, const type_row_t *type, bool large, size_t limit)
{
    counts->used = 0;
    for (size_t i = 0; i < sizeof small_counts / sizeof small_counts[0]; i++) {
        counts_add(counts, small_counts[i]);
    }
    for (size_t i = 0; i < sizeof boundary_bytes / sizeof boundary_bytes[0]; i++) {
        counts_around(counts, boundary_bytes[i] / type->extent_bytes);
    }
    if (large) {
        counts_add(counts, MIXED_COUNT);
        counts_add(counts, LARGEST_COUNT);
    }
    counts_limit(counts, limit);
}

/* Counts for one type in a thinned run: `ranks` decides which of them have empty parts. */
static void counts_for_thin(counts_t *counts, const type_row_t *type, bool large, size_t limit)
{
    int ranks;

    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    counts->used = 0;
    for (size_t i = 0; i < sizeof thin_counts / sizeof thin_counts[0]; i++) {
        counts_add(counts, thin_counts[i]);
    }
    counts_around(counts, (size_t) ranks);
    counts_around(counts, thin_bytes[0] / type->extent_bytes);
    for (size_t i = 1; large && i < sizeof thin_bytes / sizeof thin_bytes[0]; i++) {
        counts_around(counts, thin_bytes[i] / type->extent_bytes);
    }
    if (large && type->broad) {
        counts_add(counts, THIN_LARGEST_COUNT);
    }
    counts_limit(counts, limit);
}

/* All counts of one type and operation on world, out of place and in place. */
static void check_world_op(const type_row_t *type, op_id_t op, const counts_t *counts)
{
    size_t largest = counts->values[counts->used - 1];
    check_buffers_t buffers;
    oracle_t oracle;
    draw_t draw = {.op = op, .seed = (uint64_t) op + 1};
    int rank;
    int ranks;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    draw.rank = (unsigned) rank;
    draw.ranks = (unsigned) ranks;
    oracle_init(&oracle, type, &draw, largest + STAGGER_ELEMS);
    check_buffers_init(&buffers, largest * type->extent_bytes);
    for (size_t i = 0; i < counts->used; i++) {
        for (int in_place = 0; in_place < 2; in_place++) {
            call_t call = {.comm = MPI_COMM_WORLD,
                           .first = (2 * i + (size_t) in_place) % STAGGER_ELEMS,
                           .count = counts->values[i],
                           .in_place = in_place != 0};

            (void) check_allreduce(&oracle, &buffers, &call);
        }
    }
    check_buffers_fini(&buffers);
    oracle_fini(&oracle);
}

static void check_world_type(const type_row_t *type, size_t limit, bool thin)
{
    char ops[128] = "";
    counts_t counts;
    size_t reached = 0;
    bool first_op = true;

    if (!type_present(type)) {
        tap_skip(type->name, "this Open MPI was built without the type");
        return;
    }
    for (unsigned op = 0; op < OP_COUNT; op++) {
        if (type->ops & (1u << op)) {
            /* The largest counts once per type: how bytes are moved does not depend on the op. */
            if (thin) {
                counts_for_thin(&counts, type, first_op, limit);
            } else {
                counts_for(&counts, type, type->broad && first_op, limit);
            }
            first_op = false;
            check_world_op(type, (op_id_t) op, &counts);
            strncat(ops, " ", sizeof ops - strlen(ops) - 1);
            strncat(ops, op_table[op].name, sizeof ops - strlen(ops) - 1);
            if (counts.values[counts.used - 1] > reached) {
                reached = counts.values[counts.used - 1];
            }
        }
    }
    tap_case("world: %s x%s, counts 0..%zu, in place and not", type->name, ops, reached);
}

int main(int argc, char **argv)
{
    size_t limit = LARGEST_COUNT;
    bool only_nan = false;
    bool thin = false;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('l', limit), OPTION('b', only_nan), OPTION('t', thin));
    if (only_nan) {
        matrix_check_nan();
    } else {
        for (size_t row = 0; row < type_table_rows; row++) {
            check_world_type(&type_table[row], limit, thin);
        }
    }
    if (!only_nan && !thin) {
        matrix_check_communicators();
        matrix_check_random_floats();
    }
    return tap_end();
}
