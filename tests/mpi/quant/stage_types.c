/*
 * MPI_Reduce_scatter_block and MPI_Allgather of doubles and of 16-bit floats, or MPI_Allreduce.
 *
 *   stage_types TYPE C [allreduce]
 *
 *   TYPE   float, double, bf16 (in MPI_UINT16_T)
 *   C      mean square error of one encoding of normals; 0: all is exact
 *
 * Long blocks have the error that theory says for a ring, which rounds partial sums of 1, 2, ...
 * N - 1 ranks, and the sums once more in an allreduce; an allgather in place is exact, as are short
 * blocks.  An allgather ends in the same bytes on all ranks, also where some of them gather into a
 * derived type.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"
#include "normal.h"
#include "numbers.h"

enum { LONG = 200003, SHORT = 50, SEED = 31, RANGE = 40 };

static numbers_t numbers;

/* What `of_rank` has for all blocks; small integers in short ones, whose sums are exact. */
static float *draw(int of_rank, size_t block)
{
    const size_t elems = block * (size_t) world_ranks;
    float *values = must_alloc((elems + 1) * sizeof *values);

    draw_normal(values, of_rank, elems);
    for (size_t i = 0; i < elems; i++) {
        values[i] = SHORT == block
                        ? (float) (draw_bits(SEED, (unsigned) of_rank, (uint64_t) i) % RANGE)
                        : numbers_value(values[i]);
    }
    return values;
}

/* The mean square of `mean` is what theory says: all of it, or what one rounding to bf16 adds. */
static void check_error(double mean, double expected, double variance)
{
    const double rounded = MPI_UINT16_T == numbers.type ? 3e-6 * variance : 0;

    /* Sums of floats are rounded, too. */
    tap_check(0 == expected ? mean < 1e-12
                            : mean > 0.8 * expected && mean < 1.2 * (expected + rounded),
              "%g instead of %g", mean, expected);
}

/* Of the own block, or of all. */
static void check_sum(bool scatters, size_t block, bool in_place, double expected)
{
    const size_t elems = block * (size_t) world_ranks;
    const size_t first = scatters ? (size_t) world_rank * block : 0;
    const size_t count = scatters ? block : elems;
    SCOPED void *send = must_alloc(elems * numbers.bytes);
    SCOPED void *receive = must_alloc(elems * numbers.bytes);
    SCOPED double *sum = must_alloc(elems * sizeof *sum);
    double squares = 0;

    memset(sum, 0, elems * sizeof *sum);
    for (int r = 0; r < world_ranks; r++) {
        SCOPED float *values = draw(r, block);
        for (size_t i = 0; i < elems; i++) {
            sum[i] += (double) values[i];
            if (r == world_rank) {
                numbers_write(&numbers, in_place ? receive : send, i, values[i]);
            }
        }
    }
    if (scatters) {
        MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : send, receive, (int) block, numbers.type,
                                 MPI_SUM, MPI_COMM_WORLD);
    } else {
        MPI_Allreduce(in_place ? MPI_IN_PLACE : send, receive, (int) elems, numbers.type, MPI_SUM,
                      MPI_COMM_WORLD);
        tap_check_same(receive, elems * numbers.bytes, MPI_COMM_WORLD);
    }
    for (size_t i = 0; i < count; i++) {
        const double error = numbers_read(&numbers, receive, i) - sum[first + i];
        squares += error * error;
    }
    check_error(squares / (double) count, expected, world_ranks);
    tap_case("%s of %zu%s: the error is %g", scatters ? "reduce_scatter_block" : "allreduce", count,
             in_place ? ", in place" : "", expected);
}

static double squares_of_gathered(const void *receive, size_t block)
{
    double squares = 0;

    for (int r = 0; r < world_ranks; r++) {
        SCOPED float *values = draw(r, block);
        for (size_t i = 0; i < block; i++) {
            const double error =
                numbers_read(&numbers, receive, (size_t) r * block + i) - (double) values[i];
            squares += error * error;
        }
    }
    return squares / (double) (block * (size_t) world_ranks);
}

/* `derived`: odd ranks receive blocks as one element of a derived type. */
static void check_allgather(size_t block, bool in_place, bool derived, double expected)
{
    const size_t elems = block * (size_t) world_ranks;
    SCOPED void *send = must_alloc(block * numbers.bytes);
    unsigned char *receive = must_alloc(elems * numbers.bytes);
    unsigned char *of_first = must_alloc(elems * numbers.bytes);
    SCOPED float *values = draw(world_rank, block);
    MPI_Datatype whole;

    MPI_Type_contiguous((int) block, numbers.type, &whole);
    MPI_Type_commit(&whole);
    for (size_t i = 0; i < block; i++) {
        numbers_write(&numbers,
                      in_place ? receive + (size_t) world_rank * block * numbers.bytes : send, i,
                      values[i]);
    }
    if (derived && world_rank % 2 == 1) {
        MPI_Allgather(send, (int) block, numbers.type, receive, 1, whole, MPI_COMM_WORLD);
    } else {
        MPI_Allgather(in_place ? MPI_IN_PLACE : send, (int) block, numbers.type, receive,
                      (int) block, numbers.type, MPI_COMM_WORLD);
    }
    check_error(squares_of_gathered(receive, block), expected, 1);
    tap_check_same(receive, elems * numbers.bytes, MPI_COMM_WORLD);
    tap_case("allgather of %zu%s%s: the error is %g, the same bytes everywhere", block,
             in_place ? ", in place" : "", derived ? ", derived types" : "", expected);
    MPI_Type_free(&whole);
    free(receive);
    free(of_first);
}

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv);
    if (argc < 3) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    numbers = numbers_named(argv[1]);
    const double once = atof(argv[2]);
    const double sums = once * world_ranks * (world_ranks - 1) / 2;
    const bool scatters = argc == 3;
    for (int in_place = 0; in_place < 2; in_place++) {
        check_sum(scatters, LONG, in_place, scatters ? sums : sums + once * world_ranks);
        check_sum(scatters, SHORT, in_place, 0);
    }
    if (!scatters) {
        return tap_end();
    }
    check_allgather(LONG, false, false, once);
    check_allgather(LONG, false, true, once);
    check_allgather(LONG, true, false, 0);
    check_allgather(SHORT, false, false, 0);
    return tap_end();
}
