/*
 * MPI_THREAD_MULTIPLE: a nonblocking call is local, also while an operation of the program runs
 * that waits for the thread that makes the call.
 *
 *     one thread      MPI_Iallreduce with an operation that takes a lock of the program; MPI_Wait
 *     another one     takes the lock; MPI_Iallreduce on another communicator; gives it back;
 * MPI_Wait
 *
 *   -n N   sums of each (default 1000)
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <pthread.h>

#include "harness.h"

enum { ELEMS = 64, PAUSE_US = 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sums = 1000;
static MPI_Op op;
static MPI_Comm of_operation;
static MPI_Comm of_lock;

static void add_locked(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void) pthread_mutex_lock(&lock);
    for (int i = 0; i < *count; i++) {
        ((int *) inout)[i] += ((int *) in)[i];
    }
    (void) pthread_mutex_unlock(&lock);
}

static int sum_once(MPI_Comm comm, MPI_Op with, bool locked)
{
    MPI_Request request;
    int in[ELEMS];
    int out[ELEMS];
    int ranks = 0;
    int wrong = 0;

    MPI_Comm_size(comm, &ranks);
    for (int i = 0; i < ELEMS; i++) {
        in[i] = i;
    }
    if (locked) {
        (void) pthread_mutex_lock(&lock);
        usleep(PAUSE_US);
    }
    MPI_Iallreduce(in, out, ELEMS, MPI_INT, with, comm, &request);
    if (locked) {
        (void) pthread_mutex_unlock(&lock);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < ELEMS; i++) {
        wrong += out[i] != i * ranks;
    }
    return wrong;
}

static void *use_operation(void *wrong)
{
    for (int i = 0; i < sums; i++) {
        *(int *) wrong += sum_once(of_operation, op, false);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided = MPI_THREAD_SINGLE;
    int of_thread = 0;
    int wrong = 0;
    pthread_t thread;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    TAKE_OPTIONS(OPTION('n', sums));
    tap_start();
    MPI_Op_create(add_locked, 1, &op);
    MPI_Comm_dup(MPI_COMM_WORLD, &of_operation);
    MPI_Comm_dup(MPI_COMM_WORLD, &of_lock);
    (void) pthread_create(&thread, NULL, use_operation, &of_thread);
    for (int i = 0; i < sums; i++) {
        wrong += sum_once(of_lock, MPI_SUM, true);
    }
    (void) pthread_join(thread, NULL);
    tap_check(0 == wrong + of_thread, "%d elements are wrong", wrong + of_thread);
    tap_case("%d sums of two threads, of which one waits for the other within an operation", sums);
    MPI_Comm_free(&of_operation);
    MPI_Comm_free(&of_lock);
    MPI_Op_free(&op);
    return tap_end();
}
