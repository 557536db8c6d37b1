/*
 * Exact sums: multiples of 1/16 below 4096, so that doubles hold any sum of them. Sums that round:
 * floats of many magnitudes, of which another order of addition nearly always makes other bits.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"
#include "sums.h"

enum {
    LARGEST_COUNT = 20000, /* 160 KB of doubles: several pieces with any algorithm */
    EXACT_MASK = 0xFFFF,
    EXACT_SCALE = 16,
    MAGNITUDES = 32,
};

static const int counts[] = {1, 14, 1000, LARGEST_COUNT};

static double exact_value(uint64_t seed, unsigned rank, int i)
{
    return (double) (draw_bits(seed, rank, (uint64_t) i) & EXACT_MASK) / EXACT_SCALE;
}

static float rounding_value(uint64_t seed, unsigned rank, int i)
{
    const uint64_t bits = draw_bits(seed, rank, (uint64_t) i);
    const float mantissa = (float) (int32_t) (bits >> 32);

    return ldexpf(mantissa, -(int) (bits % MAGNITUDES));
}

/* The sums over ranks 0 to ranks - 1 of a group whose values are those of `seed`. */
static bool sums_are(const double *sums, int count, uint64_t seed, int ranks)
{
    for (int i = 0; i < count; i++) {
        double expected = 0;

        for (int rank = 0; rank < ranks; rank++) {
            expected += exact_value(seed, (unsigned) rank, i);
        }
        if (!tap_check(sums[i] == expected, "seed %llu, count %d, element %d: %g instead of %g",
                       (unsigned long long) seed, count, i, sums[i], expected)) {
            return false;
        }
    }
    return true;
}

static bool check_exact(MPI_Comm comm, uint64_t seed, int count)
{
    int rank = 0;
    int ranks = 0;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    SCOPED double *data = must_alloc((size_t) count * sizeof *data);
    for (int i = 0; i < count; i++) {
        data[i] = exact_value(seed, (unsigned) rank, i);
    }
    MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_DOUBLE, MPI_SUM, comm);
    const bool good = sums_are(data, count, seed, ranks);
    return good;
}

/* The bits of rank 0 come by a broadcast, which is not what is tested. */
static bool check_bits(MPI_Comm comm, uint64_t seed, int count)
{
    const size_t bytes = (size_t) count * sizeof(float);
    int rank = 0;

    MPI_Comm_rank(comm, &rank);
    SCOPED float *send = must_alloc(bytes);
    SCOPED float *receive = must_alloc(bytes);
    for (int i = 0; i < count; i++) {
        send[i] = rounding_value(seed, (unsigned) rank, i);
    }
    MPI_Allreduce(send, receive, count, MPI_FLOAT, MPI_SUM, comm);
    return tap_check_same(receive, bytes, comm);
}

bool sums_check(MPI_Comm comm, uint64_t seed)
{
    bool good = true;

    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        good = check_exact(comm, seed, counts[c]) && good;
        good = check_bits(comm, seed, counts[c]) && good;
    }
    return good;
}

enum { FINE_RANGE = 1 << 19 }; /* 32 times that is exact in a float */

static int fine_value(int rank, int salt, int i)
{
    const unsigned mixed =
        (unsigned) rank * 7919 + (unsigned) salt * 104729 + (unsigned) i * 2654435761U;
    return (int) (mixed >> 8) % FINE_RANGE;
}

static void put_number(void *data, MPI_Datatype type, int i, int number)
{
    if (type == MPI_INT) {
        ((int *) data)[i] = number;
    } else if (type == MPI_FLOAT) {
        ((float *) data)[i] = (float) number;
    } else {
        ((double *) data)[i] = number;
    }
}

static double number_of(const void *data, MPI_Datatype type, int i)
{
    return type == MPI_INT     ? (double) ((const int *) data)[i]
           : type == MPI_FLOAT ? (double) ((const float *) data)[i]
                               : ((const double *) data)[i];
}

bool sums_of(MPI_Comm comm, MPI_Datatype type, int count, int salt, bool in_place)
{
    const size_t bytes = (size_t) count * sizeof(double);
    SCOPED void *send = must_alloc(bytes);
    SCOPED void *receive = must_alloc(bytes);
    int rank = 0;
    int ranks = 0;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int i = 0; i < count; i++) {
        put_number(send, type, i, fine_value(rank, salt, i));
        put_number(receive, type, i, in_place ? fine_value(rank, salt, i) : -1);
    }
    MPI_Allreduce(in_place ? MPI_IN_PLACE : send, receive, count, type, MPI_SUM, comm);
    for (int i = 0; i < count; i++) {
        double expected = 0;
        for (int from = 0; from < ranks; from++) {
            expected += fine_value(from, salt, i);
        }
        if (!tap_check(number_of(receive, type, i) == expected,
                       "sum %d of %d, element %d: %g instead of %g", salt, count, i,
                       number_of(receive, type, i), expected)) {
            return false;
        }
    }
    return true;
}

bool sums_check_once(MPI_Comm comm, uint64_t seed)
{
    return check_exact(comm, seed, 1);
}

bool sums_check_inter(MPI_Comm inter, uint64_t seed)
{
    double send[14];
    double receive[14];
    const int count = (int) (sizeof send / sizeof send[0]);
    int rank = 0;
    int remote_ranks = 0;

    MPI_Comm_rank(inter, &rank);
    MPI_Comm_remote_size(inter, &remote_ranks);
    for (int i = 0; i < count; i++) {
        send[i] = exact_value(seed, (unsigned) rank, i);
    }
    MPI_Allreduce(send, receive, count, MPI_DOUBLE, MPI_SUM, inter);
    return sums_are(receive, count, seed, remote_ranks);
}
