/*
 * Sums of doubles, and of floats next to them: which are quantized (coll_quant_types), how large
 * the error is, and that all ranks have the same bytes.
 *
 *   -f X   X = 1: sums of floats are quantized, 0: they are exact
 *   -d X   the same of doubles
 *   -c C   mean square error of one encoding of normals (default 3.55e-5: int8)
 *
 * Exact sums are recognized by integers, far too fine for 8 bits.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"
#include "normal.h"

enum { ELEMS = 200003, RANGE = 1 << 20 };

static double integer(int rank, int i)
{
    return (double) (draw_bits(77, (unsigned) rank, (uint64_t) i) % RANGE);
}

/* How many sums of integers are not exact, with a type of `bytes`. */
static int count_inexact(MPI_Datatype type)
{
    SCOPED double *doubles = must_alloc(ELEMS * sizeof *doubles);
    SCOPED float *floats = must_alloc(ELEMS * sizeof *floats);
    int off = 0;

    for (int i = 0; i < ELEMS; i++) {
        doubles[i] = integer(world_rank, i);
        floats[i] = (float) doubles[i];
    }
    MPI_Allreduce(MPI_IN_PLACE, type == MPI_DOUBLE ? (void *) doubles : (void *) floats, ELEMS,
                  type, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < ELEMS; i++) {
        double exact = 0;

        for (int rank = 0; rank < world_ranks; rank++) {
            exact += integer(rank, i);
        }
        off += (type == MPI_DOUBLE ? doubles[i] : (double) floats[i]) != exact;
    }
    return off;
}

static void check_type(MPI_Datatype type, bool quantized, const char *name)
{
    const int off = count_inexact(type);

    tap_check(quantized ? off > ELEMS / 2 : off == 0, "%d elements are not exact", off);
    tap_case("%s are %s", name, quantized ? "quantized" : "exact");
}

static double *draw_normals(int rank, float *scratch)
{
    double *values = must_alloc(ELEMS * sizeof *values);

    draw_normal(scratch, rank, ELEMS);
    for (int i = 0; i < ELEMS; i++) {
        values[i] = (double) scratch[i] * (1 + 0x1p-40); /* no float has these */
    }
    return values;
}

static void check_error(double step_error)
{
    const double loop = step_error * (world_ranks * (world_ranks - 1) / 2.0 + world_ranks);
    SCOPED float *scratch = must_alloc(ELEMS * sizeof *scratch);
    SCOPED double *result = must_alloc(ELEMS * sizeof *result);
    SCOPED double *own = draw_normals(world_rank, scratch);
    double squares = 0;

    MPI_Allreduce(own, result, ELEMS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    tap_check_same(result, ELEMS * sizeof *result, MPI_COMM_WORLD);
    for (int rank = 0; rank < world_ranks; rank++) {
        SCOPED double *values = draw_normals(rank, scratch);

        for (int i = 0; i < ELEMS; i++) {
            result[i] -= values[i];
        }
    }
    for (int i = 0; i < ELEMS; i++) {
        squares += result[i] * result[i] / ELEMS;
    }
    tap_check(squares > 0.95 * loop && squares < 1.05 * loop, "%g, expected %g", squares, loop);
    tap_case("a mean square error of %.3g is what theory says, and all ranks have the same bytes",
             squares);
}

int main(int argc, char **argv)
{
    double step_error = 3.55e-5;
    int floats = 1;
    int doubles = 1;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('f', floats), OPTION('d', doubles), OPTION('c', step_error));
    check_type(MPI_FLOAT, floats, "floats");
    check_type(MPI_DOUBLE, doubles, "doubles");
    if (doubles) {
        check_error(step_error);
    }
    return tap_end();
}
