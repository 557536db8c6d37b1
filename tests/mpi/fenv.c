/*
 * Quantized sums do not depend on the floating-point environment of the program:
 * rank 0 rounds upwards, rank 1 takes denormal numbers for zero, rank 2 traps on
 * exceptions, the others do nothing special. The bytes are those of a run in
 * which nobody does, on all ranks; nothing traps; and each rank finds its
 * environment as it left it.
 *
 *   -n N   elements (default 200003)
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE /* feenableexcept */
#include "config.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "harness.h"

enum {
    DEFAULT_ELEMS = 200003,
    STRETCH = 512, /* several blocks of 64 with numbers of one kind */
    KINDS = 5,
    COMPARE_TAG = 3,
};

static int world_rank;
static int world_ranks;

/* Numbers that make every exception: ordinary, denormal, huge (sums overflow), zero, not finite. */
static float input(int rank, int i)
{
    const uint64_t bits = draw_bits(61, (unsigned) rank, (uint64_t) i);
    const float unit = (float) ((int32_t) (bits >> 32)) / 2147483648.0f;

    switch (i / STRETCH % KINDS) {
    case 0:
        return unit;
    case 1:
        return unit * FLT_MIN * 0.25f;
    case 2:
        return bits % 2 == 0 ? FLT_MAX : unit * FLT_MAX;
    case 3:
        return 0.0f;
    default:
        return bits % 61 == 0 ? INFINITY : bits % 67 == 0 ? -INFINITY : unit;
    }
}

/* What of the environment must survive: all but the flags of exceptions that have happened. */
static unsigned environment(void)
{
#if defined(__x86_64__)
    const unsigned flags = 0x3f;
    return _mm_getcsr() & ~flags;
#else
    return (unsigned) fegetround();
#endif
}

static void change_environment(void)
{
    if (world_rank == 0) {
        fesetround(FE_UPWARD);
    }
#if defined(__x86_64__)
    if (world_rank == 1) {
        const unsigned flush_to_zero = 1u << 15;
        const unsigned denormals_are_zero = 1u << 6;

        _mm_setcsr(_mm_getcsr() | flush_to_zero | denormals_are_zero);
    }
#endif
#ifdef __GLIBC__
    if (world_rank == 2) {
        feclearexcept(FE_ALL_EXCEPT);
        feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
    }
#endif
}

static void check_same(const float *result, size_t bytes)
{
    if (world_rank == 0) {
        for (int peer = 1; peer < world_ranks; peer++) {
            MPI_Send(result, (int) bytes, MPI_BYTE, peer, COMPARE_TAG, MPI_COMM_WORLD);
        }
        return;
    }
    float *of_rank_0 = must_alloc(bytes);

    MPI_Recv(of_rank_0, (int) bytes, MPI_BYTE, 0, COMPARE_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    tap_check(memcmp(of_rank_0, result, bytes) == 0, "bytes differ from rank 0");
    free(of_rank_0);
}

int main(int argc, char **argv)
{
    int elems = DEFAULT_ELEMS;
    int option;
    fenv_t usual;

    MPI_Init(&argc, &argv);
    while ((option = getopt(argc, argv, "n:")) != -1) {
        if (option != 'n') {
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
        elems = atoi(optarg);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
    tap_start();
    const size_t bytes = (size_t) elems * sizeof(float);
    float *send = must_alloc(bytes);
    float *expected = must_alloc(bytes);
    float *result = must_alloc(bytes);

    for (int i = 0; i < elems; i++) {
        send[i] = input(world_rank, i);
    }
    MPI_Allreduce(send, expected, elems, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    check_same(expected, bytes);
    tap_case("the same bytes on all ranks in the usual environment");

    fegetenv(&usual);
    change_environment();
    const unsigned before = environment();
    const int rounding = fegetround();

    MPI_Allreduce(send, result, elems, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    const unsigned after = environment();
    const int rounding_after = fegetround();

    fesetenv(&usual);
    tap_check(before == after, "control bits %#x became %#x", before, after);
    tap_check(rounding == rounding_after, "rounding %d became %d", rounding, rounding_after);
    tap_case("each rank finds its floating-point environment again");
    tap_check(memcmp(expected, result, bytes) == 0, "bytes differ from those of the usual one");
    check_same(result, bytes);
    tap_case("the same bytes, whatever the environment");
    free(send);
    free(expected);
    free(result);
    tap_finish();
    MPI_Finalize();
    return EXIT_SUCCESS;
}
