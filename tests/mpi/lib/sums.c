/*
 * Exact sums: whole numbers, which all types hold. Sums that round: floats of many magnitudes, of
 * which another order of addition nearly always makes other bits.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"
#include "numbers.h"
#include "sums.h"

enum {
    LARGEST_COUNT = 20000, /* 160 KB of doubles: several pieces with any algorithm */
    MAGNITUDES = 32,
    FINE_RANGE = 1 << 19, /* 32 times that is exact in a float */
};

static const int counts[] = {1, 14, 1000, LARGEST_COUNT};

static int fine_value(int rank, int salt, int i)
{
    const unsigned mixed =
        (unsigned) rank * 7919 + (unsigned) salt * 104729 + (unsigned) i * 2654435761U;
    return (int) (mixed >> 8) % FINE_RANGE;
}

static float rounding_value(uint64_t seed, unsigned rank, int i)
{
    const uint64_t bits = draw_bits(seed, rank, (uint64_t) i);
    const float mantissa = (float) (int32_t) (bits >> 32);

    return ldexpf(mantissa, -(int) (bits % MAGNITUDES));
}

/* The sums over ranks 0 to ranks - 1 of a group. */
static bool sums_are(const numbers_t *numbers, const void *sums, int count, int salt, int ranks)
{
    for (int i = 0; i < count; i++) {
        const double sum = numbers_read(numbers, sums, (size_t) i);
        double expected = 0;

        for (int rank = 0; rank < ranks; rank++) {
            expected += fine_value(rank, salt, i);
        }
        if (!tap_check(sum == expected, "sum %d of %d, element %d: %g instead of %g", salt, count,
                       i, sum, expected)) {
            return false;
        }
    }
    return true;
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
        good = sums_of(comm, MPI_DOUBLE, counts[c], (int) seed, true) && good;
        good = check_bits(comm, seed, counts[c]) && good;
    }
    return good;
}

bool sums_of(MPI_Comm comm, MPI_Datatype type, int count, int salt, bool in_place)
{
    const numbers_t numbers = {.type = type};
    const size_t bytes = (size_t) count * sizeof(double);
    SCOPED void *send = must_alloc(bytes);
    SCOPED void *receive = must_alloc(bytes);
    int rank = 0;
    int ranks = 0;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int i = 0; i < count; i++) {
        const float value = (float) fine_value(rank, salt, i);
        numbers_write(&numbers, send, (size_t) i, value);
        numbers_write(&numbers, receive, (size_t) i, in_place ? value : -1);
    }
    MPI_Allreduce(in_place ? MPI_IN_PLACE : send, receive, count, type, MPI_SUM, comm);
    return sums_are(&numbers, receive, count, salt, ranks);
}

bool sums_check_once(MPI_Comm comm, uint64_t seed)
{
    return sums_of(comm, MPI_DOUBLE, 1, (int) seed, true);
}

bool sums_check_inter(MPI_Comm inter, uint64_t seed)
{
    enum { COUNT = 14 };
    const numbers_t doubles = {.type = MPI_DOUBLE};
    double send[COUNT];
    double receive[COUNT];
    int rank = 0;
    int remote_ranks = 0;

    MPI_Comm_rank(inter, &rank);
    MPI_Comm_remote_size(inter, &remote_ranks);
    for (int i = 0; i < COUNT; i++) {
        send[i] = fine_value(rank, (int) seed, i);
    }
    MPI_Allreduce(send, receive, COUNT, MPI_DOUBLE, MPI_SUM, inter);
    return sums_are(&doubles, receive, COUNT, (int) seed, remote_ranks);
}
