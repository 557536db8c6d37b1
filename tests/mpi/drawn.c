/*
 * What rounding draws, on several communicators: the same data are rounded in another way in every
 * call and on every communicator, also on two that have no process in common; and in the same way
 * in every run, of which the lines "bits" of two runs can be compared.
 *
 * To be run with coll_quant_rounding stochastic or dither, on an even number of ranks from 4 on.
 *
 *   -m   instead, on any number of ranks: blocking calls of one length, until it is known that
 *        quantizing pays, and then calls of that length with others in between, of a length of
 *        which nothing is known.  What is drawn is the same for any form of the calls (deferred.c),
 *        though not in all of them the others are quantized; to be run with coll_quant_setup_calls
 *        0 and the component for tests, to which quantizing always pays.
 *   -k   instead, on any number of ranks: calls on a communicator on which the last rank alone has
 * an info key, which says what is so anyway.  The ranks draw the same, although they learn late
 *        that their settings are equal; to be run with coll_quant_setup_calls above 0.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "normal.h"

enum {
    ELEMS = 30011,
    RESULTS = 6,
    LEARNED_ELEMS = 65536,
    OTHER_ELEMS = 262144,
    LEARNING_CALLS = 60,
    CALLS = 12, /* of which every third is another one */
    SHORT_ELEMS = 4096,
    SHORT_CALLS = 200,
};

/* FNV-1a, 64 bits. */
static uint64_t hash_of(const float *data, size_t elems)
{
    const unsigned char *byte = (const unsigned char *) data;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < elems * sizeof *data; i++) {
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static void check_communicators(int rank, int ranks)
{
    MPI_Comm half;
    MPI_Comm other;
    int place = 0;

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
        uint64_t own = hash_of(receive, ELEMS);
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
}

static void check_mixed(int rank)
{
    float *send = must_alloc(OTHER_ELEMS * sizeof *send);
    float *receive = must_alloc(OTHER_ELEMS * sizeof *receive);
    uint64_t before = 0;

    draw_normal(send, rank, OTHER_ELEMS);
    for (int i = 0; i < LEARNING_CALLS; i++) {
        PMPI_Allreduce(send, receive, LEARNED_ELEMS, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }
    for (int i = 0; i < CALLS; i++) {
        const int elems = 1 == i % 3 ? OTHER_ELEMS : LEARNED_ELEMS;

        MPI_Allreduce(send, receive, elems, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        if (LEARNED_ELEMS == elems) {
            const uint64_t own = hash_of(receive, LEARNED_ELEMS);
            uint64_t first = own;

            MPI_Bcast(&first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
            tap_check(own == first, "ranks differ");
            tap_check(own != before, "call %d is rounded as the one before", i);
            tap_note("bits %016" PRIx64, own);
            before = own;
        }
    }
    tap_case("calls of a length that pays, with others in between");
    free(send);
    free(receive);
}

static void check_key(int rank, int ranks)
{
    float *send = must_alloc(SHORT_ELEMS * sizeof *send);
    float *receive = must_alloc(SHORT_ELEMS * sizeof *receive);
    MPI_Info info;
    MPI_Comm comm;

    MPI_Info_create(&info);
    if (ranks - 1 == rank) {
        MPI_Info_set(info, "arc_quant_rounding", "dither");
    }
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    draw_normal(send, rank, SHORT_ELEMS);
    for (int i = 0; i < SHORT_CALLS; i++) {
        MPI_Allreduce(send, receive, SHORT_ELEMS, MPI_FLOAT, MPI_SUM, comm);
        const uint64_t own = hash_of(receive, SHORT_ELEMS);
        uint64_t first = own;

        MPI_Bcast(&first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        tap_check(own == first, "ranks differ in call %d", i);
    }
    tap_case("one rank has a key that says what is so anyway");
    free(send);
    free(receive);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    int rank = 0;
    int ranks = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    tap_start();
    if (argc > 1 && strcmp(argv[1], "-k") == 0) {
        check_key(rank, ranks);
    } else if (argc > 1) {
        check_mixed(rank);
    } else {
        check_communicators(rank, ranks);
    }
    tap_finish();
    MPI_Finalize();
    return EXIT_SUCCESS;
}
