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

/* FNV-1a */
static uint64_t hash_bytes(const void *memory, size_t bytes)
{
    const unsigned char *place = memory;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < bytes; i++) {
        hash = (hash ^ place[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
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
    float *send = must_alloc(bytes);
    float *receive = must_alloc(bytes);
    for (int i = 0; i < count; i++) {
        send[i] = rounding_value(seed, (unsigned) rank, i);
    }
    MPI_Allreduce(send, receive, count, MPI_FLOAT, MPI_SUM, comm);
    const uint64_t own = hash_bytes(receive, bytes);
    uint64_t first = own;
    MPI_Bcast(&first, 1, MPI_UINT64_T, 0, comm);
    free(receive);
    free(send);
    return tap_check(own == first, "seed %llu, count %d: rank %d has other bits than rank 0",
                     (unsigned long long) seed, count, rank);
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
