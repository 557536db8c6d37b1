/*
 * Sums of floats where coll_quant tries whether quantizing pays: whatever it decides, all ranks
 * have the same bytes, an error is one of eight bits, and calls of a length that was tried are all
 * served alike; on a duplicate of the communicator, too.
 *
 *   -w WHAT    what the sums have to be: exact, quantized, or any (default)
 *   -l N       leave out counts above N
 *   -m         memory is short on the last rank when the longest length is to be tried
 *   -t         threads at the same time, each on a communicator of its own
 *
 * Values are integers, far too fine for 8 bits, and their sums are exact in floats: a sum that was
 * quantized shows.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "harness.h"

enum {
    RANGE = 1 << 20, /* times 16 ranks it is still exact in a float */
    LARGEST = 5 << 20,
    SLACK_BYTES = 24 << 20, /* less than the 32 MiB of the longest trial */
    THREADS = 3,
    THREAD_COUNT = 131072,
    THREAD_CALLS = 4,
};

/* Two counts of a class stand one after the other: 256 KiB, 512 KiB, 1 MiB, 4 MiB, 16 MiB. */
static const int counts[] = {65536,  70001,   100003,  131072,      262144,
                             300000, 1048576, 1048577, 4 * 1048576, LARGEST};
enum { COUNTS = sizeof counts / sizeof counts[0] };

enum { QUANTIZED = 1, EXACT = 2, ANY = QUANTIZED | EXACT };

static int world_rank;
static int world_ranks;
static int wanted = ANY;
static float *data;
static float *sums;

static double value(int rank, int i)
{
    return (double) (draw_bits(67, (unsigned) rank, (uint64_t) i) % RANGE) - RANGE / 2;
}

static uint64_t hash_of(const float *vector, int count)
{
    uint64_t hash = 0xcbf29ce484222325;

    for (int i = 0; i < count; i++) {
        uint32_t bits;

        memcpy(&bits, &vector[i], sizeof bits);
        hash = (hash ^ bits) * 0x100000001b3;
    }
    return hash;
}

/* One call; whether its sums are exact or quantized. */
static int one_call(MPI_Comm comm, int count, bool in_place)
{
    /* Each rank encodes a sum of at most all of them, and the total is encoded once more. */
    const double step = (double) world_ranks * (RANGE / 2) / 127;
    const double tolerance = step * (world_ranks + 1);
    int inexact = 0;

    for (int i = 0; i < count; i++) {
        data[i] = (float) value(world_rank, i);
        sums[i] = data[i];
    }
    MPI_Allreduce(in_place ? MPI_IN_PLACE : data, sums, count, MPI_FLOAT, MPI_SUM, comm);
    for (int i = 0; i < count; i++) {
        double sum = 0;

        for (int rank = 0; rank < world_ranks; rank++) {
            sum += value(rank, i);
        }
        inexact += (double) sums[i] != sum;
        tap_check(fabs((double) sums[i] - sum) <= tolerance, "%d floats, element %d: %g, not %g",
                  count, i, (double) sums[i], sum);
    }
    const uint64_t hash = hash_of(sums, count);
    uint64_t of_root = hash;
    MPI_Bcast(&of_root, 1, MPI_UINT64_T, 0, comm);
    tap_check(hash == of_root, "%d floats: other bytes than on rank 0", count);
    return inexact == 0 ? EXACT : QUANTIZED;
}

/* All lengths, and what became of them; a length that was tried stays what it is. */
static void all_calls(MPI_Comm comm, int largest, int what[COUNTS])
{
    for (int round = 0; round < 2; round++) {
        for (int c = 0; c < COUNTS && counts[c] <= largest; c++) {
            const int now = one_call(comm, counts[c], (round + c) % 2 == 0);

            tap_check((now & wanted) != 0, "%d floats are %s", counts[c],
                      now == EXACT ? "exact" : "quantized");
            tap_check(round == 0 || now == what[c], "%d floats: not served as before", counts[c]);
            what[c] = now;
        }
        for (int c = 1; c < COUNTS && counts[c] <= largest; c += 2) {
            tap_check(what[c] == what[c - 1], "%d and %d floats are not served alike",
                      counts[c - 1], counts[c]);
        }
    }
}

static void check_trials(int largest)
{
    int what[COUNTS] = {0};
    int again[COUNTS] = {0};
    MPI_Comm other;

    all_calls(MPI_COMM_WORLD, largest, what);
    for (int c = 0; c < COUNTS && counts[c] <= largest; c++) {
        tap_note("%d floats are %s", counts[c], what[c] == EXACT ? "exact" : "quantized");
    }
    tap_case("sums are the same bytes on all ranks, and those of a length are served alike");
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    all_calls(other, largest, again);
    tap_check(memcmp(what, again, sizeof what) == 0, "the duplicate decides otherwise");
    tap_case("a duplicate of the communicator serves them alike");
    MPI_Comm_free(&other);
}

/* What this process has mapped: the size in /proc/self/statm, in pages. */
static size_t mapped_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;

    if (file == NULL || fscanf(file, "%lu", &pages) != 1) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    fclose(file);
    return pages * (size_t) sysconf(_SC_PAGESIZE);
}

static void check_memory(void)
{
    struct rlimit before;

    one_call(MPI_COMM_WORLD, counts[0], false);
    getrlimit(RLIMIT_AS, &before);
    if (world_rank == world_ranks - 1) {
        const struct rlimit less = {mapped_bytes() + SLACK_BYTES, before.rlim_max};
        setrlimit(RLIMIT_AS, &less);
    }
    const int what = one_call(MPI_COMM_WORLD, LARGEST, true);
    setrlimit(RLIMIT_AS, &before);
    tap_check(what == QUANTIZED, "the call without a trial is exact");
    tap_check(one_call(MPI_COMM_WORLD, LARGEST, false) == QUANTIZED, "the next one is exact");
    tap_case("calls that cannot be tried are quantized");
}

/** What one thread works on and what it found. */
typedef struct worker {
    pthread_t thread;
    MPI_Comm comm;
    long wrong; /* elements; tap_fail() is for one thread only */
} worker_t;

static void *work(void *argument)
{
    worker_t *worker = argument;
    const int largest = THREAD_COUNT;
    const double tolerance = (double) world_ranks * (RANGE / 2) / 127 * (world_ranks + 1);
    float *in = must_alloc((size_t) largest * sizeof *in);
    float *out = must_alloc((size_t) largest * sizeof *out);
    uint64_t first = 0;

    for (int call = 0; call < THREAD_CALLS; call++) {
        for (int i = 0; i < largest; i++) {
            in[i] = (float) value(world_rank, i);
        }
        MPI_Allreduce(in, out, largest, MPI_FLOAT, MPI_SUM, worker->comm);
        for (int i = 0; i < largest; i++) {
            double sum = 0;
            for (int rank = 0; rank < world_ranks; rank++) {
                sum += value(rank, i);
            }
            worker->wrong += !(fabs((double) out[i] - sum) <= tolerance);
        }
        const uint64_t hash = hash_of(out, largest);
        worker->wrong += call > 0 && hash != first;
        first = hash;
    }
    free(in);
    free(out);
    return NULL;
}

static void check_threads(void)
{
    worker_t workers[THREADS];

    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker_t){.comm = MPI_COMM_NULL};
        MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
    }
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        tap_check(workers[i].wrong == 0, "thread %d: %ld elements are wrong", i, workers[i].wrong);
        MPI_Comm_free(&workers[i].comm);
    }
    tap_case("threads that try at the same time have right sums, call after call the same");
}

int main(int argc, char **argv)
{
    int provided;
    bool threads = false;
    int largest = LARGEST;
    bool short_of_memory = false;
    int option;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    while ((option = getopt(argc, argv, "w:l:mt")) != -1) {
        if (option == 'w') {
            wanted = strcmp(optarg, "exact") == 0       ? EXACT
                     : strcmp(optarg, "quantized") == 0 ? QUANTIZED
                                                        : ANY;
        } else if (option == 'l') {
            largest = atoi(optarg);
        } else if (option == 'm') {
            short_of_memory = true;
        } else if (option == 't') {
            threads = true;
        } else {
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
    tap_start();
    data = must_alloc(LARGEST * sizeof *data);
    sums = must_alloc(LARGEST * sizeof *sums);
    if (short_of_memory) {
        check_memory();
    } else if (threads && provided == MPI_THREAD_MULTIPLE) {
        check_threads();
    } else {
        check_trials(largest);
    }
    free(data);
    free(sums);
    tap_finish();
    MPI_Finalize();
    return EXIT_SUCCESS;
}
