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
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "calls.h"
#include "harness.h"
#include "pvars.h"

enum { ELEMS = 70001, LARGE = 1000, FROM = 64, TO = 128 };

static pvar_t bound;

/* The large numbers are in the part of one rank of a node. */
static void draw(int rank, size_t first, size_t count, float *out)
{
    for (size_t i = first; i < first + count; i++) {
        const int32_t bits = (int32_t) (draw_bits(89, (unsigned) rank, i) >> 32);
        out[i - first] = (float) bits / 2147483648.0f * (i >= FROM && i < TO ? LARGE : 1);
    }
}

static void check_bound(double least, double most)
{
    double of_rank_0 = pvar_read(&bound);

    MPI_Bcast(&of_rank_0, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    tap_check(pvar_read(&bound) == of_rank_0, "%g, and %g on rank 0", pvar_read(&bound), of_rank_0);
    tap_check(of_rank_0 > 0 && least <= of_rank_0 && of_rank_0 <= most, "%g is not from %g to %g",
              of_rank_0, least, most);
}

static void check_parts(void)
{
    const call_t call = call_of(ALLREDUCE, draw, ELEMS);

    check_bound(call_run(&call, NULL).worst, INFINITY);
    tap_case("where a part is larger than the others the bound is that, and the same on all ranks");
}

static void check_tiny(float *data)
{
    fenv_t usual;

    draw(world_rank, 0, ELEMS, data);
    for (int i = 0; i < ELEMS; i++) {
        data[i] *= FLT_MIN / 8 / (i >= FROM && i < TO ? LARGE : 1);
    }
    fegetenv(&usual);
#if defined(__x86_64__)
    if (world_rank == 1) {
        const unsigned flush_to_zero = 1u << 15;
        const unsigned denormals_are_zero = 1u << 6;
        _mm_setcsr(_mm_getcsr() | flush_to_zero | denormals_are_zero);
    }
#endif
    MPI_Allreduce(MPI_IN_PLACE, data, ELEMS, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    fesetenv(&usual);
    check_bound(0, (double) FLT_MIN);
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
    check_parts();
    check_tiny(data);
    pvar_close(&bound);
    pvars_end();
    return tap_end();
}
