/*
 * What coll_quant tells of the error of the last call, coll_quant_comm_last_bound of MPI_T, is no
 * less than the error, and the same on all ranks, also if it is a denormal number and one of them
 * takes these for zero.
 *
 * To be run with coll_quant_format bf16.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "harness.h"
#include "pvars.h"

enum { ELEMS = 70001 };

static pvar_t bound;

static double read_bound(void)
{
    return pvar_read(&bound);
}

static void sum_vector(float *data)
{
    MPI_Allreduce(MPI_IN_PLACE, data, ELEMS, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static float datum(int rank, int i)
{
    return (float) (int32_t) (draw_bits(89, (unsigned) rank, (uint64_t) i) >> 32) / 2147483648.0f;
}

static void fill_vector(float *data, float size)
{
    for (int i = 0; i < ELEMS; i++) {
        data[i] = datum(world_rank, i) * size;
    }
}

/* The large numbers are in the part of one rank of a node. */
static void check_parts(float *data)
{
    enum { LARGE = 1000, FROM = 64, TO = 128 };
    double worst = 0;

    fill_vector(data, 1);
    for (int i = FROM; i < TO; i++) {
        data[i] *= LARGE;
    }
    sum_vector(data);
    for (int i = 0; i < ELEMS; i++) {
        double sum = 0;
        for (int rank = 0; rank < world_ranks; rank++) {
            const float x = datum(rank, i) * (i >= FROM && i < TO ? LARGE : 1);
            sum += (double) x;
        }
        worst = fmax(worst, fabs(data[i] - sum));
    }
    tap_check(worst <= read_bound(), "an error of %g above %g", worst, read_bound());
    double of_rank_0 = read_bound();
    MPI_Bcast(&of_rank_0, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    tap_check(read_bound() > 0, "%g", read_bound());
    tap_check(read_bound() == of_rank_0, "%g, and %g on rank 0", read_bound(), of_rank_0);
    tap_case("where a part is larger than the others the bound is that, and the same on all ranks");
}

static void check_tiny(float *data)
{
    fenv_t usual;

    fill_vector(data, FLT_MIN / 8);
    fegetenv(&usual);
#if defined(__x86_64__)
    if (world_rank == 1) {
        const unsigned flush_to_zero = 1u << 15;
        const unsigned denormals_are_zero = 1u << 6;
        _mm_setcsr(_mm_getcsr() | flush_to_zero | denormals_are_zero);
    }
#endif
    sum_vector(data);
    fesetenv(&usual);
    double of_rank_0 = read_bound();
    MPI_Bcast(&of_rank_0, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    tap_check(read_bound() > 0 && read_bound() < (double) FLT_MIN, "%g", read_bound());
    tap_check(read_bound() == of_rank_0, "%g, and %g on rank 0", read_bound(), of_rank_0);
    tap_case("a denormal bound is the same on a rank that takes denormal numbers for zero");
}

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv);
    SCOPED float *data = must_alloc(ELEMS * sizeof *data);

    MPI_Comm world = MPI_COMM_WORLD;
    pvars_begin();
    tap_check(pvar_open(&bound, "coll_quant_comm_last_bound", &world),
              "there is no coll_quant_comm_last_bound");
    check_parts(data);
    check_tiny(data);
    pvar_close(&bound);
    pvars_end();
    return tap_end();
}
