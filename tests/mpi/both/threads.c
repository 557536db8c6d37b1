/*
 * MPI_THREAD_MULTIPLE: several threads of each rank call MPI_Allreduce at the
 * same time, each on its own communicator, with changing sizes and data; the
 * communicators are made before the threads start. Besides, one of the threads
 * makes and frees communicators of its own, and all of them use and free some
 * that were made before: shared memory is taken and given back at the same time.
 *
 *   -n N   calls per thread (default 1500)
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <pthread.h>

#include "harness.h"

enum {
    THREADS = 3,
    LARGEST_ELEMS = 9000,
    SMALL_ELEMS = 100,
    LARGE_EVERY = 10,
    DUP_EVERY = 100,
    SPARES = 50,
    SPARE_EVERY = 2
};

/** What one thread works on and what it found. */
typedef struct worker {
    pthread_t thread;
    MPI_Comm comm;
    MPI_Comm spare[SPARES]; /* each is used in one call, and freed after the next one's */
    int number;
    int calls;
    long wrong; /* elements; tap_fail() is for one thread only */
    int data[LARGEST_ELEMS];
} worker_t;

static int value(int rank, int thread, int call, int i)
{
    return rank + 5 * thread + 11 * call + i % 13;
}

static void sum_once(worker_t *worker, MPI_Comm comm, int call)
{
    int range = call % LARGE_EVERY == 0 ? LARGEST_ELEMS : SMALL_ELEMS;
    int count =
        (int) (draw_bits(51, (unsigned) worker->number, (uint64_t) call) % (unsigned) range) + 1;
    int rank;
    int ranks;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int i = 0; i < count; i++) {
        worker->data[i] = value(rank, worker->number, call, i);
    }
    MPI_Allreduce(MPI_IN_PLACE, worker->data, count, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < count; i++) {
        int expected = ranks * value(0, worker->number, call, i) + ranks * (ranks - 1) / 2;

        worker->wrong += worker->data[i] != expected;
    }
}

static void use_spare(worker_t *worker, int which, int call)
{
    if (which < SPARES) {
        sum_once(worker, worker->spare[which], call);
    }
    if (which > 0 && which <= SPARES) {
        MPI_Comm_free(&worker->spare[which - 1]);
    }
}

static void *run_thread(void *argument)
{
    worker_t *worker = argument;

    for (int call = 0; call < worker->calls; call++) {
        sum_once(worker, worker->comm, call);
        if (worker->number == 0 && call % DUP_EVERY == 0) {
            MPI_Comm own;

            MPI_Comm_dup(worker->comm, &own);
            sum_once(worker, own, call);
            MPI_Comm_free(&own);
        }
        if (call % SPARE_EVERY == 0) {
            use_spare(worker, call / SPARE_EVERY, call);
        }
    }
    return NULL;
}

static void run_threads(int calls)
{
    SCOPED worker_t *workers = must_alloc(THREADS * sizeof *workers);

    for (int t = 0; t < THREADS; t++) {
        workers[t].number = t;
        workers[t].calls = calls;
        workers[t].wrong = 0;
        MPI_Comm_dup(MPI_COMM_WORLD, &workers[t].comm);
        for (int i = 0; i < SPARES; i++) {
            MPI_Comm_dup(MPI_COMM_WORLD, &workers[t].spare[i]);
        }
    }
    for (int t = 0; t < THREADS; t++) {
        if (pthread_create(&workers[t].thread, NULL, run_thread, &workers[t]) != 0) {
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(workers[t].thread, NULL);
        tap_check(workers[t].wrong == 0, "thread %d: %ld elements are wrong", t, workers[t].wrong);
        MPI_Comm_free(&workers[t].comm);
    }
}

int main(int argc, char **argv)
{
    const char *description = "threads on communicators of their own: right sums";
    int calls = 1500;
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    TAKE_OPTIONS(OPTION('n', calls));
    if (calls < SPARE_EVERY * (SPARES + 1)) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE); /* spares would be left */
    }
    tap_start();
    if (provided < MPI_THREAD_MULTIPLE) {
        tap_skip(description, "this Open MPI has no MPI_THREAD_MULTIPLE");
    } else {
        run_threads(calls);
        tap_case("%d %s, %d calls each", THREADS, description, calls);
    }
    return tap_end();
}
