/*
 * Does an element's sum depend on anything but that element of all ranks? A few
 * dozen elements whose sum depends on the order of addition are repeated in
 * vectors of 1 to 2 million elements, each time at other places:
 *
 *   | e5 e6 ... e63 e0 e1 ... | e64 ...        element i of a vector is e((i + shift) mod 64)
 *
 * and every one of them must have the bits of the sum in rank order, computed
 * here one addition at a time; on several nodes those of the nodes' sums, each in rank
 * order, added along the tree of recursive doubling:
 *
 *   5 nodes   ((n0 + n1) + n2) + (n3 + n4)       of 2^k + m nodes the first m pairs are one
 *
 * Two elements are infinite in one rank, and so in the sum.
 *
 * A vector is added by one call, in place, and in pieces of uneven lengths, a call each.  In any
 * case all ranks have the same bits.
 *
 *   -g A,B,.. the nodes have A, B, ... ranks, which follow each other
 *   -h TYPE   MPI_UINT16_T holds bf16 or fp16, too: added as 32-bit floats, then rounded
 *   -n        fp16 are MPIX_C_FLOAT16, in place of MPI_UINT16_T
 *   -r        each node's sum of them is rounded, too, and each sum of nodes' sums
 *   -l N      leave out vectors above N elements
 *   -d        the bits are expected to depend on something: a difference must be found, or the
 *             values of this test would prove nothing
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "half_oracle.h"
#include "harness.h"
#include "numbers.h"

enum {
    ELEMENTS = 64,
    SHIFT_STEP = 13, /* another beginning for every vector */
    LARGEST_TURN = 21,
    LARGEST = 1 << LARGEST_TURN,
    SEED = 61,
    NODES_MAX = 16,
};

/** How a vector is added. */
typedef enum way { WHOLE, IN_PLACE, IN_PIECES, WAYS } way_t;
static const char *const way_texts[WAYS] = {"", " in place", " in pieces"};

/* The nodes; node n has ranks [first_rank[n], first_rank[n + 1]). */
static int nodes = 1;
static int first_rank[NODES_MAX + 1];

/* One element; a few; around a cache line; blocks and chunks of the algorithms; many of them. */
static const int lengths[] = {1, 2, 7, 14, 15, 31, 1000, 4097, 8193, 20011, 70001, 300007, LARGEST};

static const half_format_t *half;
static bool rounds_between; /* -r */

/* The nearest 32-bit or 16-bit float, and what needs no rounding. */
static double to_double(double x)
{
    return x;
}

static double to_float(double x)
{
    return (double) (float) x;
}

static double to_half(double x)
{
    return half_number(half, half_round(half, x));
}

/**
 * What a type of this test is to the oracle, which adds doubles: a sum of two floats that is
 * rounded to a float is what an addition of floats gives.
 */
typedef struct row {
    const char *name;
    MPI_Datatype type;
    size_t elem_bytes;
    double (*part)(double x);  /* of a rank */
    double (*added)(double x); /* after each addition */
} row_t;

static row_t rows[] = {
    {"MPI_FLOAT", MPI_FLOAT, sizeof(float), to_float, to_float},
    {"MPI_DOUBLE", MPI_DOUBLE, sizeof(double), to_double, to_double},
    {"16-bit float", MPI_DATATYPE_NULL, sizeof(uint16_t), to_half, to_float},
};

static bool is_half(const row_t *row)
{
    return row->elem_bytes == sizeof(uint16_t);
}

static void put_number(const row_t *row, void *out, double x)
{
    const float as_float = (float) x;
    const uint16_t as_half = is_half(row) ? half_round(half, x) : 0;
    const void *from = is_half(row)                       ? (const void *) &as_half
                       : row->elem_bytes == sizeof(float) ? (const void *) &as_float
                                                          : (const void *) &x;

    memcpy(out, from, row->elem_bytes);
}

/* The part of `rank` in element e: a full mantissa and one of 16 magnitudes, so that almost every
 * order gives other bits. */
static double part_of(const row_t *row, int rank, int e)
{
    if (e < 2 && rank == e * (world_ranks - 1)) {
        return 0 == e ? INFINITY : -INFINITY;
    }
    const uint64_t bits = draw_bits(SEED, (unsigned) rank, (uint64_t) e);
    const double mantissa = 1.0 + (double) (bits >> 12) / (double) (UINT64_C(1) << 52);
    const double x = ldexp(bits & 1 ? mantissa : -mantissa, (int) (bits >> 1 & 15));

    return row->part(is_half(row) ? x / 1024 : x);
}

/* A partial sum that leaves its node. */
static double between_nodes(const row_t *row, double sum)
{
    return is_half(row) && rounds_between ? to_half(sum) : sum;
}

/* A node's sum of element e. */
static double sum_node(const row_t *row, int node, int e)
{
    double sum = part_of(row, first_rank[node], e);

    for (int rank = first_rank[node] + 1; rank < first_rank[node + 1]; rank++) {
        sum = row->added(sum + part_of(row, rank, e));
    }
    return between_nodes(row, sum);
}

/* The sum of `positions` positions, a power of two; of these the first ones are two nodes. */
static double sum_positions(const row_t *row, int pairs, int first, int positions, int e)
{
    if (positions == 1 && first >= pairs) {
        return sum_node(row, first + pairs, e);
    }
    const double left = positions > 1 ? sum_positions(row, pairs, first, positions / 2, e)
                                      : sum_node(row, 2 * first, e);
    const double right = positions > 1
                             ? sum_positions(row, pairs, first + positions / 2, positions / 2, e)
                             : sum_node(row, 2 * first + 1, e);
    return between_nodes(row, row->added(left + right));
}

static double sum_all(const row_t *row, int e)
{
    int positions = 1;

    while (2 * positions <= nodes) {
        positions *= 2;
    }
    return sum_positions(row, nodes - positions, 0, positions, e);
}

/* `count` elements at `out` from the table of ELEMENTS, beginning at element `shift`. */
static void lay_out(unsigned char *out, const unsigned char *table, size_t elem_bytes, int count,
                    int shift)
{
    for (int i = 0; i < count; i++) {
        memcpy(out + (size_t) i * elem_bytes,
               table + (size_t) ((i + shift) % ELEMENTS) * elem_bytes, elem_bytes);
    }
}

/* Elements of the sum whose bits are not those of the table; the first goes to *first. */
static int count_differences(const unsigned char *sum, const unsigned char *table,
                             size_t elem_bytes, int count, int shift, int *first)
{
    int found = 0;

    for (int i = 0; i < count; i++) {
        if (memcmp(sum + (size_t) i * elem_bytes,
                   table + (size_t) ((i + shift) % ELEMENTS) * elem_bytes, elem_bytes) != 0) {
            *first = 0 == found ? i : *first;
            found++;
        }
    }
    return found;
}

/* Pieces of 1, 2, 4, ... elements, and then those the other way round. */
static void add_in_pieces(unsigned char *send, unsigned char *receive, const row_t *row, int count)
{
    int done = 0;

    for (int turn = 0; done < count; turn++) {
        const int wanted = turn < LARGEST_TURN ? 1 << turn : LARGEST;
        const int left = count - done;
        const int piece = wanted < left - left / 3 ? wanted : left - left / 3;
        MPI_Allreduce(send + (size_t) done * row->elem_bytes,
                      receive + (size_t) done * row->elem_bytes, piece, row->type, MPI_SUM,
                      MPI_COMM_WORLD);
        done += piece;
    }
}

static void check_type(const row_t *row, int largest, bool expect_differences)
{
    const size_t bytes = (size_t) LARGEST * row->elem_bytes;
    SCOPED unsigned char *send = must_alloc(bytes);
    SCOPED unsigned char *receive = must_alloc(bytes);
    SCOPED unsigned char *parts = must_alloc(ELEMENTS * row->elem_bytes);
    SCOPED unsigned char *sums = must_alloc(ELEMENTS * row->elem_bytes);
    int all_differences = 0;

    for (int e = 0; e < ELEMENTS; e++) {
        put_number(row, parts + (size_t) e * row->elem_bytes, part_of(row, world_rank, e));
        put_number(row, sums + (size_t) e * row->elem_bytes, sum_all(row, e));
    }
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0] && lengths[l] <= largest; l++) {
        for (way_t way = WHOLE; way < WAYS; way++) {
            const int shift = SHIFT_STEP * (int) (WAYS * l + (size_t) way);
            int first = -1;

            lay_out(way == IN_PLACE ? receive : send, parts, row->elem_bytes, lengths[l], shift);
            if (way == IN_PIECES) {
                add_in_pieces(send, receive, row, lengths[l]);
            } else {
                MPI_Allreduce(way == IN_PLACE ? MPI_IN_PLACE : send, receive, lengths[l], row->type,
                              MPI_SUM, MPI_COMM_WORLD);
            }
            tap_check_same(receive, (size_t) lengths[l] * row->elem_bytes, MPI_COMM_WORLD);
            const int found =
                count_differences(receive, sums, row->elem_bytes, lengths[l], shift, &first);
            all_differences += found;
            tap_check(found == 0 || expect_differences,
                      "%d elements%s: %d have other bits than promised, the first is %d",
                      lengths[l], way_texts[way], found, first);
        }
    }
    if (expect_differences) {
        tap_check(all_differences > 0, "all sums are in the order that is promised");
        tap_case("%s: sums in another order than the promised one are noticed", row->name);
    } else {
        tap_case("%s: the promised bits for 1 to %d elements, wherever they are", row->name,
                 largest);
    }
}

/* "2,2,1" */
static void read_nodes(const char *text, int ranks)
{
    const char *at = text;

    for (nodes = 0; nodes < NODES_MAX && *at != '\0'; nodes++) {
        char *end;
        first_rank[nodes + 1] = first_rank[nodes] + (int) strtol(at, &end, 10);
        at = *end == ',' ? end + 1 : end;
    }
    if (first_rank[nodes] != ranks) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

int main(int argc, char **argv)
{
    bool expect_differences = false;
    bool native = false;
    int largest = LARGEST;
    const char *groups = NULL;
    const char *half_name = "";

    tap_begin(&argc, &argv);
    first_rank[1] = world_ranks;
    TAKE_OPTIONS(OPTION('g', groups), OPTION('h', half_name), OPTION('n', native),
                 OPTION('r', rounds_between), OPTION('l', largest),
                 OPTION('d', expect_differences));
    half = half_by_name(half_name);
    if (groups != NULL) {
        read_nodes(groups, world_ranks);
    }
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        if (rows[r].type == MPI_DATATYPE_NULL) {
            rows[r].type = native ? half_native_type() : MPI_UINT16_T;
        }
        if (rows[r].type == MPI_DATATYPE_NULL && half != NULL) {
            tap_skip(rows[r].name, "this Open MPI has no MPIX_C_FLOAT16");
        } else if (!is_half(&rows[r]) || half != NULL) {
            check_type(&rows[r], largest, expect_differences);
        }
    }
    return tap_end();
}
