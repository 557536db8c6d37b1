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
#include "half_type.h"
#include "harness.h"

enum {
    ELEMENTS = 64,
    SHIFT_STEP = 13, /* another beginning for every vector */
    LARGEST_TURN = 21,
    LARGEST = 1 << LARGEST_TURN,
    SEED = 61,
    NODES_MAX = 16,
    ELEM_BYTES_MAX = 8,
};

/** How a vector is added. */
typedef enum way { WHOLE, IN_PLACE, IN_PIECES, WAYS } way_t;
static const char *const way_texts[WAYS] = {"", " in place", " in pieces"};

/* The nodes; node n has ranks [first_rank[n], first_rank[n + 1]). */
static int nodes = 1;
static int first_rank[NODES_MAX + 1];

/* One element; a few; around a cache line; blocks and chunks of the algorithms; many of them. */
static const int lengths[] = {1, 2, 7, 14, 15, 31, 1000, 4097, 8193, 20011, 70001, 300007, LARGEST};

/** What a type of this test is to the oracle. */
typedef struct row {
    const char *name;
    MPI_Datatype type;
    size_t elem_bytes;
    /** The part of `rank` in element e. */
    void (*put)(void *out, int rank, int e);
    /** *sum += *part */
    void (*add)(void *sum, const void *part);
    /** Of a partial sum that leaves its node; NULL: it stays as it is. */
    void (*round)(void *sum);
    /** The type of partial sums and its end; NULL: the same type. */
    const struct row *sums;
    void (*narrow)(void *out, const void *sum);
} row_t;

/* A full mantissa and one of 16 magnitudes, so that almost every order gives other bits. */
static double value(int rank, int e)
{
    const uint64_t bits = draw_bits(SEED, (unsigned) rank, (uint64_t) e);
    const double mantissa = 1.0 + (double) (bits >> 12) / (double) (UINT64_C(1) << 52);

    return ldexp(bits & 1 ? mantissa : -mantissa, (int) (bits >> 1 & 15));
}

static void put_double(void *out, int rank, int e)
{
    const double x = value(rank, e);
    memcpy(out, &x, sizeof x);
}

static void add_double(void *sum, const void *part)
{
    double x;
    double y;

    memcpy(&x, sum, sizeof x);
    memcpy(&y, part, sizeof y);
    x += y;
    memcpy(sum, &x, sizeof x);
}

static void put_float(void *out, int rank, int e)
{
    const float x = (float) value(rank, e);
    memcpy(out, &x, sizeof x);
}

static void add_float(void *sum, const void *part)
{
    float x;
    float y;

    memcpy(&x, sum, sizeof x);
    memcpy(&y, part, sizeof y);
    x += y;
    memcpy(sum, &x, sizeof x);
}

static const half_format_t *half;

static uint16_t half_value(int rank, int e)
{
    return half_round(half, value(rank, e) * (1.0 / 1024));
}

static void put_half(void *out, int rank, int e)
{
    const uint16_t x = half_value(rank, e);
    memcpy(out, &x, sizeof x);
}

static void put_widened(void *out, int rank, int e)
{
    const float x = (float) half_number(half, half_value(rank, e));
    memcpy(out, &x, sizeof x);
}

static void narrow_sum(void *out, const void *sum)
{
    float x;

    memcpy(&x, sum, sizeof x);
    const uint16_t rounded = half_round(half, (double) x);
    memcpy(out, &rounded, sizeof rounded);
}

static bool rounds_between; /* -r */

static void round_partial(void *sum)
{
    uint16_t rounded;

    if (rounds_between) {
        narrow_sum(&rounded, sum);
        const float x = (float) half_number(half, rounded);
        memcpy(sum, &x, sizeof x);
    }
}

static const row_t widened = {
    "16-bit float, widened", MPI_FLOAT, sizeof(float), put_widened, add_float,
    round_partial,           NULL,      NULL};

static row_t rows[] = {
    {"MPI_FLOAT", MPI_FLOAT, sizeof(float), put_float, add_float, NULL, NULL, NULL},
    {"MPI_DOUBLE", MPI_DOUBLE, sizeof(double), put_double, add_double, NULL, NULL, NULL},
    {"16-bit float", MPI_DATATYPE_NULL, sizeof(uint16_t), put_half, NULL, NULL, &widened,
     narrow_sum},
};

/* *sum += *part between nodes */
static void add_partial(const row_t *row, void *sum, const void *part)
{
    row->add(sum, part);
    if (row->round != NULL) {
        row->round(sum);
    }
}

/* A node's sum of element e. */
static void sum_node(const row_t *row, int node, int e, void *sum)
{
    row->put(sum, first_rank[node], e);
    for (int rank = first_rank[node] + 1; rank < first_rank[node + 1]; rank++) {
        unsigned char part[ELEM_BYTES_MAX];
        row->put(part, rank, e);
        row->add(sum, part);
    }
    if (row->round != NULL) {
        row->round(sum);
    }
}

/* The sum of `positions` positions, a power of two; of these the first ones are two nodes. */
static void sum_positions(const row_t *row, int pairs, int first, int positions, int e, void *sum)
{
    unsigned char right[ELEM_BYTES_MAX];

    if (positions > 1) {
        sum_positions(row, pairs, first, positions / 2, e, sum);
        sum_positions(row, pairs, first + positions / 2, positions / 2, e, right);
        add_partial(row, sum, right);
    } else if (first < pairs) {
        sum_node(row, 2 * first, e, sum);
        sum_node(row, 2 * first + 1, e, right);
        add_partial(row, sum, right);
    } else {
        sum_node(row, first + pairs, e, sum);
    }
}

static void sum_all(const row_t *row, int e, void *sum)
{
    int positions = 1;

    while (2 * positions <= nodes) {
        positions *= 2;
    }
    if (row->sums == NULL) {
        sum_positions(row, nodes - positions, 0, positions, e, sum);
    } else {
        unsigned char wide[ELEM_BYTES_MAX];
        sum_positions(row->sums, nodes - positions, 0, positions, e, wide);
        row->narrow(sum, wide);
    }
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
    unsigned char *send = must_alloc(bytes);
    unsigned char *receive = must_alloc(bytes);
    unsigned char *parts = must_alloc(ELEMENTS * row->elem_bytes);
    unsigned char *sums = must_alloc(ELEMENTS * row->elem_bytes);
    int all_differences = 0;

    for (int e = 0; e < ELEMENTS; e++) {
        row->put(parts + (size_t) e * row->elem_bytes, world_rank, e);
        sum_all(row, e, sums + (size_t) e * row->elem_bytes);
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
    free(send);
    free(receive);
    free(parts);
    free(sums);
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
        } else if (rows[r].sums == NULL || half != NULL) {
            check_type(&rows[r], largest, expect_differences);
        }
    }
    return tap_end();
}
