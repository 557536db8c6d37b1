/*
 * Does an element's sum depend on anything but that element of all ranks? A few
 * dozen elements whose sum depends on the order of addition are repeated in
 * vectors of 1 to 2 million elements, each time at other places:
 *
 *   | e5 e6 ... e63 e0 e1 ... | e64 ...        element i of a vector is e((i + shift) mod 64)
 *
 * and every one of them must have the bits of the sum in rank order, computed
 * here one addition at a time.
 *
 *   -h TYPE   MPI_UINT16_T holds bf16 or fp16, too
 *   -l N      leave out vectors above N elements
 *   -d        the bits are expected to depend on something: a difference must be found, or the
 *             values of this test would prove nothing
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "half_oracle.h"
#include "harness.h"

enum {
    ELEMENTS = 64,
    SHIFT_STEP = 13, /* another beginning for every vector */
    LARGEST = 1 << 21,
    SEED = 61,
};

/* One element; a few; around a cache line; blocks and chunks of the algorithms; many of them. */
static const int lengths[] = {1, 2, 7, 14, 15, 31, 1000, 4097, 8193, 20011, 70001, 300007, LARGEST};

/** What a type of this test is to the oracle. */
typedef struct row {
    const char *name;
    MPI_Datatype type;
    size_t elem_bytes;
    /** The part of `rank` in element e. */
    void (*put)(void *out, int rank, int e);
    /** The sum of all ranks in rank order. */
    void (*sum)(void *out, int ranks, int e);
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

static void sum_double(void *out, int ranks, int e)
{
    double sum = value(0, e);

    for (int rank = 1; rank < ranks; rank++) {
        sum += value(rank, e);
    }
    memcpy(out, &sum, sizeof sum);
}

static void put_float(void *out, int rank, int e)
{
    const float x = (float) value(rank, e);
    memcpy(out, &x, sizeof x);
}

static void sum_float(void *out, int ranks, int e)
{
    float sum = (float) value(0, e);

    for (int rank = 1; rank < ranks; rank++) {
        sum += (float) value(rank, e);
    }
    memcpy(out, &sum, sizeof sum);
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

/* In 32-bit floats, rounded once. */
static void sum_half(void *out, int ranks, int e)
{
    float sum = (float) half_number(half, half_value(0, e));

    for (int rank = 1; rank < ranks; rank++) {
        sum += (float) half_number(half, half_value(rank, e));
    }
    const uint16_t rounded = half_round(half, (double) sum);
    memcpy(out, &rounded, sizeof rounded);
}

static const row_t rows[] = {
    {"MPI_FLOAT", MPI_FLOAT, sizeof(float), put_float, sum_float},
    {"MPI_DOUBLE", MPI_DOUBLE, sizeof(double), put_double, sum_double},
    {"16-bit float", MPI_UINT16_T, sizeof(uint16_t), put_half, sum_half},
};

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

static void check_type(const row_t *row, int largest, bool expect_differences)
{
    const size_t bytes = (size_t) LARGEST * row->elem_bytes;
    unsigned char *send = must_alloc(bytes);
    unsigned char *receive = must_alloc(bytes);
    unsigned char *parts = must_alloc(ELEMENTS * row->elem_bytes);
    unsigned char *sums = must_alloc(ELEMENTS * row->elem_bytes);
    int rank;
    int ranks;
    int all_differences = 0;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int e = 0; e < ELEMENTS; e++) {
        row->put(parts + (size_t) e * row->elem_bytes, rank, e);
        row->sum(sums + (size_t) e * row->elem_bytes, ranks, e);
    }
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0] && lengths[l] <= largest; l++) {
        for (int in_place = 0; in_place < 2; in_place++) {
            const int shift = SHIFT_STEP * (int) (2 * l + (size_t) in_place);
            int first = -1;

            lay_out(in_place ? receive : send, parts, row->elem_bytes, lengths[l], shift);
            MPI_Allreduce(in_place ? MPI_IN_PLACE : send, receive, lengths[l], row->type, MPI_SUM,
                          MPI_COMM_WORLD);
            const int found =
                count_differences(receive, sums, row->elem_bytes, lengths[l], shift, &first);
            all_differences += found;
            tap_check(found == 0 || expect_differences,
                      "%d elements%s: %d have other bits than in rank order, the first is %d",
                      lengths[l], in_place ? " in place" : "", found, first);
        }
    }
    free(send);
    free(receive);
    free(parts);
    free(sums);
    if (expect_differences) {
        tap_check(all_differences > 0, "all sums are as in rank order");
        tap_case("%s: sums in another order than that of the ranks are noticed", row->name);
    } else {
        tap_case("%s: the bits of rank order for 1 to %d elements, wherever they are", row->name,
                 largest);
    }
}

int main(int argc, char **argv)
{
    bool expect_differences = false;
    int largest = LARGEST;
    int option;

    MPI_Init(&argc, &argv);
    while ((option = getopt(argc, argv, "h:l:d")) != -1) {
        if (option == 'h') {
            half = half_by_name(optarg);
        } else if (option == 'l') {
            largest = atoi(optarg);
        } else if (option == 'd') {
            expect_differences = true;
        } else {
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
    }
    tap_start();
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        if (rows[r].type != MPI_UINT16_T || half != NULL) {
            check_type(&rows[r], largest, expect_differences);
        }
    }
    tap_finish();
    MPI_Finalize();
    return EXIT_SUCCESS;
}
