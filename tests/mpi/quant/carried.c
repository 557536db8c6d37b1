/*
 * What error feedback carries from call to call, by the number of a call among those of its
 * communicator: it comes to the same vector whatever form the calls have (deferred.c), and so the
 * lines "bits" of two runs can be compared.
 *
 * On two communicators in turn, each of one half of the ranks, vectors have the same numbers in
 * every call, and the results differ by what is carried.  To be run with coll_quant_error_feedback
 * 2, on an even number of ranks from 4 on.
 *
 *   -m   instead, on any number of ranks, with coll_quant_error_feedback 3: blocking calls of one
 *        length, until it is known that quantizing pays, and then calls of that length with others
 *        in between, of a length of which nothing is known, and which count although not in all
 *        forms they are quantized; to be run with coll_arc_setup_calls 0 and the component for
 *        tests, to which quantizing always pays.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <inttypes.h>

#include "calls.h"
#include "harness.h"

enum {
    ELEMS = 30011,
    RESULTS = 12,
    VECTORS = 2, /* of each communicator */
    LEARNED_ELEMS = 65536,
    OTHER_ELEMS = 262144,
    LEARNING_CALLS = 60,
    CALLS = 12, /* of which every third is another one */
};

static void check_communicators(int rank, int ranks)
{
    MPI_Comm comms[2];
    SCOPED float *send = must_alloc((ELEMS + 1) * sizeof *send);
    SCOPED float *receive = must_alloc(ELEMS * sizeof *receive);
    uint64_t hashes[RESULTS];
    int place = 0;

    MPI_Comm_split(MPI_COMM_WORLD, rank / (ranks / 2), rank, &comms[0]);
    MPI_Comm_rank(comms[0], &place);
    MPI_Comm_dup(comms[0], &comms[1]);
    draw_normal(send, place, ELEMS + 1); /* the same data in both halves */
    for (int i = 0; i < RESULTS; i++) {
        MPI_Allreduce(send, receive, ELEMS, MPI_FLOAT, MPI_SUM, comms[i % 2]);
        tap_check_same(receive, ELEMS * sizeof *receive, MPI_COMM_WORLD);
        hashes[i] = hash_of(receive, ELEMS * sizeof *receive);
        tap_check(i % 2 == 0 || hashes[i] == hashes[i - 1], "communicators differ in call %d", i);
        const int before = i - 2 * VECTORS;
        tap_check(before < 0 || hashes[i] != hashes[before], "call %d carries nothing", i);
        tap_note("bits %016" PRIx64, hashes[i]);
    }
    tap_case("%d calls on the same data carry what those before have lost", RESULTS);
    MPI_Comm_free(&comms[0]);
    MPI_Comm_free(&comms[1]);
}

static void check_mixed(int rank)
{
    SCOPED float *send = must_alloc(OTHER_ELEMS * sizeof *send);
    SCOPED float *receive = must_alloc(OTHER_ELEMS * sizeof *receive);
    uint64_t before[2] = {0, 0}; /* the two vectors come in turn */

    draw_normal(send, rank, OTHER_ELEMS);
    for (int i = 0; i < LEARNING_CALLS; i++) {
        PMPI_Allreduce(send, receive, LEARNED_ELEMS, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }
    for (int i = 0; i < CALLS; i++) {
        const int elems = 1 == i % 3 ? OTHER_ELEMS : LEARNED_ELEMS;

        MPI_Allreduce(send, receive, elems, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        if (LEARNED_ELEMS == elems) {
            const uint64_t own = hash_of(receive, LEARNED_ELEMS * sizeof *receive);
            tap_check_same(receive, LEARNED_ELEMS * sizeof *receive, MPI_COMM_WORLD);
            tap_check(own != before[0], "call %d carries nothing", i);
            tap_note("bits %016" PRIx64, own);
            before[0] = before[1];
            before[1] = own;
        }
    }
    tap_case("calls of a length that pays, with others in between");
}

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv);
    if (argc > 1) {
        check_mixed(world_rank);
    } else {
        check_communicators(world_rank, world_ranks);
    }
    return tap_end();
}
