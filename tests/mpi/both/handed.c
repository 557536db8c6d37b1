/*
 * MPI_THREAD_MULTIPLE: a thread starts nonblocking allreduces on its communicator, another one
 * waits for them; pairs of such threads run at the same time, and one more makes blocking calls.
 *
 *   -n N   operations of each pair (default 2000)
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <pthread.h>

#include "harness.h"

enum { PAIRS = 2, UNDER_WAY = 16, ELEMS = 700 };

typedef struct place {
    MPI_Request request;
    int number; /* of the operation */
    bool full;
    int in[ELEMS];
    int out[ELEMS];
} place_t;

/* What a pair of threads works on: places in a circle. */
typedef struct pair {
    MPI_Comm comm;
    pthread_t starter;
    pthread_t waiter;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    place_t place[UNDER_WAY];
    long wrong;
} pair_t;

static int operations = 2000;
static int rank;
static int ranks;

static int count_of(int number)
{
    return 1 + (int) (draw_bits(7, 0, (uint64_t) number) % ELEMS);
}

static void *start_all(void *of)
{
    pair_t *pair = of;

    for (int number = 0; number < operations; number++) {
        place_t *place = &pair->place[number % UNDER_WAY];

        pthread_mutex_lock(&pair->lock);
        while (place->full) {
            pthread_cond_wait(&pair->changed, &pair->lock);
        }
        pthread_mutex_unlock(&pair->lock);
        place->number = number;
        for (int i = 0; i < ELEMS; i++) {
            place->in[i] = rank + number + i;
        }
        MPI_Iallreduce(place->in, place->out, count_of(number), MPI_INT, MPI_SUM, pair->comm,
                       &place->request);
        pthread_mutex_lock(&pair->lock);
        place->full = true;
        pthread_cond_broadcast(&pair->changed);
        pthread_mutex_unlock(&pair->lock);
    }
    return NULL;
}

static void *wait_for_all(void *of)
{
    pair_t *pair = of;

    for (int number = 0; number < operations; number++) {
        place_t *place = &pair->place[number % UNDER_WAY];

        pthread_mutex_lock(&pair->lock);
        while (!place->full) {
            pthread_cond_wait(&pair->changed, &pair->lock);
        }
        pthread_mutex_unlock(&pair->lock);
        MPI_Wait(&place->request, MPI_STATUS_IGNORE);
        for (int i = 0; i < count_of(number); i++) {
            pair->wrong += place->out[i] != ranks * (number + i) + ranks * (ranks - 1) / 2;
        }
        pthread_mutex_lock(&pair->lock);
        place->full = false;
        pthread_cond_broadcast(&pair->changed);
        pthread_mutex_unlock(&pair->lock);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static pair_t pairs[PAIRS];
    int provided = 0;
    long wrong = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    TAKE_OPTIONS(OPTION('n', operations));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    tap_start();
    if (MPI_THREAD_MULTIPLE != provided) {
        tap_skip("threads", "no MPI_THREAD_MULTIPLE");
        tap_finish();
        MPI_Finalize();
        return EXIT_SUCCESS;
    }
    for (int i = 0; i < PAIRS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &pairs[i].comm);
        pthread_mutex_init(&pairs[i].lock, NULL);
        pthread_cond_init(&pairs[i].changed, NULL);
    }
    for (int i = 0; i < PAIRS; i++) {
        pthread_create(&pairs[i].starter, NULL, start_all, &pairs[i]);
        pthread_create(&pairs[i].waiter, NULL, wait_for_all, &pairs[i]);
    }
    for (int call = 0; call < operations; call++) {
        int sum = rank + call;

        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        wrong += sum != ranks * call + ranks * (ranks - 1) / 2;
    }
    for (int i = 0; i < PAIRS; i++) {
        pthread_join(pairs[i].starter, NULL);
        pthread_join(pairs[i].waiter, NULL);
        wrong += pairs[i].wrong;
    }
    tap_check(0 == wrong, "%ld wrong elements", wrong);
    tap_case("%d operations of %d pairs of threads", operations, PAIRS);
    for (int i = 0; i < PAIRS; i++) {
        MPI_Comm_free(&pairs[i].comm);
        pthread_cond_destroy(&pairs[i].changed);
        pthread_mutex_destroy(&pairs[i].lock);
    }
    return tap_end();
}
