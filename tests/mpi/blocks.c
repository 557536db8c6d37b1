/*
 * The worst block of a vector, where the mean over the vector hides it: some blocks have numbers
 * that fp16 has not, so they come out as zeros.  A limit for the vector allows that, a limit for
 * its blocks does not.
 *
 * To be run with coll_quant_format fp16, coll_quant_verify_every 2, coll_quant_max_nmse 1e-3, and
 *
 *   blocks exact       coll_quant_max_nmse_of block
 *   blocks quantized   coll_quant_max_nmse_of vector, the default
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "pvars.h"

enum {
    ELEMS = 100003,
    BLOCK = 64, /* the default of coll_quant_block */
};

static int world_rank;
static int world_ranks;

/* Every tenth block is small; sums of a few ranks are exact in floats. */
static double value_of(int rank, size_t i)
{
    const double value = (double) (draw_bits(107, (unsigned) rank, i) % 512 + 1);

    return i / BLOCK % 10 == 7 ? value * 0x1p-60 : value;
}

static bool call_is_exact(float *data)
{
    size_t inexact = 0;

    for (size_t i = 0; i < ELEMS; i++) {
        data[i] = (float) value_of(world_rank, i);
    }
    MPI_Allreduce(MPI_IN_PLACE, data, ELEMS, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    for (size_t i = 0; i < ELEMS; i++) {
        double sum = 0;

        for (int rank = 0; rank < world_ranks; rank++) {
            sum += value_of(rank, i);
        }
        inexact += (double) data[i] != sum;
    }
    return inexact == 0;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
    tap_start();
    pvars_begin();
    const bool exact = argc > 1 && strcmp(argv[1], "exact") == 0;
    float *data = must_alloc(ELEMS * sizeof *data);
    MPI_Comm world = MPI_COMM_WORLD;

    tap_check(!call_is_exact(data), "the first call is exact");
    tap_check(call_is_exact(data) == exact, "the verified call is%s exact", exact ? " not" : "");
    const double block = pvar_read_once("coll_quant_comm_last_block_nmse", &world);
    const double vector = pvar_read_once("coll_quant_comm_last_nmse", &world);
    tap_check(block == 1, "the worst block has %g", block);
    tap_check(vector > 0 && vector < 1e-6, "the vector has %g", vector);
    tap_check(call_is_exact(data) == exact, "the third call is%s exact", exact ? " not" : "");
    tap_case("blocks that are lost are%s more than the limit allows", exact ? "" : " not");
    free(data);
    pvars_end();
    tap_finish();
    MPI_Finalize();
    return EXIT_SUCCESS;
}
