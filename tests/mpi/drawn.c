/*
 * What rounding draws, on several communicators: the same data are rounded in another way in every
 * call and on every communicator, also on two that have no process in common; and in the same way
 * in every run, of which the lines "bits" of two runs can be compared.
 *
 * To be run with coll_quant_rounding stochastic or dither, on an even number of ranks from 4 on.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "normal.h"

enum { ELEMS = 30011, RESULTS = 6 };

/* FNV-1a, 64 bits. */
static uint64_t hash_of(const float *data)
{
    const unsigned char *byte = (const unsigned char *) data;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < ELEMS * sizeof *data; i++) {
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

int main(int argc, char **argv)
{
    MPI_Comm half;
    MPI_Comm other;
    int rank = 0;
    int ranks = 0;
    int place = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    tap_start();
    MPI_Comm_split(MPI_COMM_WORLD, rank / (ranks / 2), rank, &half);
    MPI_Comm_rank(half, &place);
    MPI_Comm_dup(half, &other);
    float *send = must_alloc((ELEMS + 1) * sizeof *send);
    float *receive = must_alloc(ELEMS * sizeof *receive);
    draw_normal(send, place, ELEMS + 1); /* the same data in both halves */

    const MPI_Comm comms[RESULTS / 2] = {half, other, half};
    uint64_t hashes[RESULTS];
    for (int i = 0; i < RESULTS / 2; i++) {
        MPI_Allreduce(send, receive, ELEMS, MPI_FLOAT, MPI_SUM, comms[i]);
        uint64_t own = hash_of(receive);
        hashes[i] = own;
        MPI_Bcast(&hashes[i], 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        hashes[RESULTS / 2 + i] = own;
        MPI_Bcast(&hashes[RESULTS / 2 + i], 1, MPI_UINT64_T, ranks / 2, MPI_COMM_WORLD);
        tap_check(own == hashes[rank < ranks / 2 ? i : RESULTS / 2 + i], "ranks differ");
    }
    for (int i = 0; i < RESULTS; i++) {
        for (int k = 0; k < i; k++) {
            tap_check(hashes[i] != hashes[k], "results %d and %d are the same", k, i);
        }
        tap_note("bits %016" PRIx64, hashes[i]);
    }
    tap_case("%d calls on the same data are rounded in different ways", RESULTS);
    free(send);
    free(receive);
    MPI_Comm_free(&half);
    MPI_Comm_free(&other);
    tap_finish();
    MPI_Finalize();
    return EXIT_SUCCESS;
}
