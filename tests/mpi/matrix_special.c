/*
 * Sums of arbitrary floats have no exact result that every order reaches. Two
 * things still hold: the error is below the bound of any order of summation,
 * (ranks - 1) * epsilon * sum |x|, against a long-double sum; and all ranks
 * return the same bits, infinities and NaN at exactly the places where they
 * entered.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "matrix.h"

enum { COMPARE_TAG = 7, SPECIAL_STRIDE = 97, FLOAT_LARGEST = 70000 };

static const int float_counts[] = {1, 2, 14, 15, 1025, 5001, FLOAT_LARGEST};

/* Full 24-bit mantissas over 16 binary orders of magnitude, both signs. */
static double arbitrary_value(int rank, int i)
{
    uint64_t bits = draw_bits(31, (unsigned) rank, (uint64_t) i);
    double mantissa = (double) (int32_t) (bits >> 40 | 1) / (double) (1 << 24);

    return ldexp(bits & 1 ? mantissa : -mantissa, (int) (bits >> 1 & 15));
}

/* What rank `i % ranks` puts at every SPECIAL_STRIDE-th place; 0 for an ordinary number. */
static double special_value(int i)
{
    static const double specials[] = {INFINITY, -INFINITY, NAN};

    return i % SPECIAL_STRIDE == SPECIAL_STRIDE / 2 ? specials[i / SPECIAL_STRIDE % 3] : 0.0;
}

static double input_value(int rank, int ranks, int i, bool specials)
{
    if (specials && i % ranks == rank && special_value(i) != 0.0) {
        return special_value(i);
    }
    return arbitrary_value(rank, i);
}

/* Rank 0 sends its result to everyone by point-to-point; the others compare bytes. */
static void check_same_bits(const void *result, size_t bytes, int count)
{
    int rank;
    int ranks;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0) {
        for (int peer = 1; peer < ranks; peer++) {
            MPI_Send(result, (int) bytes, MPI_BYTE, peer, COMPARE_TAG, MPI_COMM_WORLD);
        }
    } else {
        void *of_rank_0 = must_alloc(bytes);

        MPI_Recv(of_rank_0, (int) bytes, MPI_BYTE, 0, COMPARE_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        tap_check(memcmp(of_rank_0, result, bytes) == 0, "count %d: bits differ from rank 0",
                  count);
        free(of_rank_0);
    }
}

static void check_element(double got, int i, int ranks, double epsilon, bool specials)
{
    long double sum = 0;
    long double magnitude = 0;
    double special = specials ? special_value(i) : 0.0;

    if (special != 0.0) {
        tap_check(isnan(special) ? isnan(got) : got == special, "element %d: %g is not %g", i, got,
                  special);
        return;
    }
    for (int rank = 0; rank < ranks; rank++) {
        sum += (long double) arbitrary_value(rank, i);
        magnitude += fabsl((long double) arbitrary_value(rank, i));
    }
    tap_check(fabsl((long double) got - sum) <= (ranks - 1) * epsilon * magnitude,
              "element %d: %.17g instead of %.17Lg", i, got, sum);
}

static void check_sums(bool single, bool specials)
{
    double epsilon = single ? FLT_EPSILON : DBL_EPSILON;
    size_t elem_bytes = single ? sizeof(float) : sizeof(double);
    float *singles = must_alloc(FLOAT_LARGEST * sizeof *singles);
    double *doubles = must_alloc(FLOAT_LARGEST * sizeof *doubles);
    void *buffer = single ? (void *) singles : (void *) doubles;
    int rank;
    int ranks;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t c = 0; c < sizeof float_counts / sizeof float_counts[0]; c++) {
        int count = float_counts[c];

        for (int i = 0; i < count; i++) {
            doubles[i] = input_value(rank, ranks, i, specials);
            singles[i] = (float) doubles[i];
        }
        MPI_Allreduce(MPI_IN_PLACE, buffer, count, single ? MPI_FLOAT : MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
        check_same_bits(buffer, (size_t) count * elem_bytes, count);
        for (int i = 0; i < count; i++) {
            check_element(single ? (double) singles[i] : doubles[i], i, ranks, epsilon, specials);
        }
    }
    free(singles);
    free(doubles);
    tap_case("arbitrary %s%s: within the rounding bound, same bits on all ranks",
             single ? "MPI_FLOAT" : "MPI_DOUBLE", specials ? " with Inf and NaN" : "");
}

void matrix_check_random_floats(void)
{
    check_sums(true, false);
    check_sums(false, false);
    check_sums(true, true);
    check_sums(false, true);
}
