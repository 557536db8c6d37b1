/*
 * MPI_THREAD_MULTIPLE: several threads of each rank at the same time, each with communicators of
 * its own, which are made before the threads start.
 *
 *   -w own      each calls MPI_Allreduce with changing sizes and data. Besides, one of the threads
 *               makes and frees communicators, and all of them use and free some that were made
 *               before: shared memory is taken and given back at the same time (default)
 *   -w handed   a thread starts nonblocking sums and maxima in turn, another one waits for them;
 *               two such pairs, and one thread more makes blocking calls
 *
 *   -w locked   a nonblocking call is local, also while an operation of the program runs that waits
 *               for the thread that makes the call: one thread waits for a sum whose operation
 *               takes a lock of the program; the other one takes that lock, starts a sum, and gives
 *               it back
 *
 *   -w floats   each sums floats that coll_quant may take, and learns from that
 *
 *   -n N        calls of each (default 1500)
 *   -s KIB      of stack that each thread has
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <pthread.h>

#include "calls.h"
#include "harness.h"

enum {
    THREADS_MOST = 5,
    LARGEST_ELEMS = 9000,
    SMALL_ELEMS = 100,
    LARGE_EVERY = 10,
    DUP_EVERY = 100,
    SPARES = 50,
    SPARE_EVERY = 2,
    UNDER_WAY = 16,
    HANDED_ELEMS = 700,
    LOCKED_ELEMS = 64,
    LOCKED_US = 20,
};

static int calls = 1500;
static size_t stack_kib = 1024;

/** What one thread works on, or two that share it, and what was found. */
typedef struct worker {
    MPI_Comm comm;
    MPI_Comm spare[SPARES]; /* each is used in one call, and freed after the next one's */
    int number;
    long wrong; /* elements; tap_fail() is for one thread only */
    int in[UNDER_WAY][LARGEST_ELEMS];
    int out[UNDER_WAY][LARGEST_ELEMS];
    MPI_Request request[UNDER_WAY]; /* places in a circle */
    bool full[UNDER_WAY];
    pthread_mutex_t lock;
    pthread_cond_t changed;
} worker_t;

static int value(int rank, int thread, int call, int i)
{
    return rank + 5 * thread + 11 * call + i % 13;
}

static int count_of(const worker_t *worker, int call, int range)
{
    return 1 + (int) (draw_bits(51, (unsigned) worker->number, (uint64_t) call) % (unsigned) range);
}

static void fill(worker_t *worker, int place, MPI_Comm comm, int call, int count)
{
    int rank;

    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < count; i++) {
        worker->in[place][i] = value(rank, worker->number, call, i);
    }
}

static void check(worker_t *worker, int place, MPI_Comm comm, MPI_Op op, int call, int count)
{
    int ranks;

    MPI_Comm_size(comm, &ranks);
    for (int i = 0; i < count; i++) {
        const int first = value(0, worker->number, call, i);
        const int expected =
            op == MPI_SUM ? ranks * first + ranks * (ranks - 1) / 2 : first + ranks - 1;
        worker->wrong += worker->out[place][i] != expected;
    }
}

static void sum_once(worker_t *worker, MPI_Comm comm, int call)
{
    const int count = count_of(worker, call, call % LARGE_EVERY == 0 ? LARGEST_ELEMS : SMALL_ELEMS);

    fill(worker, 0, comm, call, count);
    MPI_Allreduce(worker->in[0], worker->out[0], count, MPI_INT, MPI_SUM, comm);
    check(worker, 0, comm, MPI_SUM, call, count);
}

/* ---- own ---- */

static void use_spare(worker_t *worker, int which, int call)
{
    if (which < SPARES) {
        sum_once(worker, worker->spare[which], call);
    }
    if (which > 0 && which <= SPARES) {
        MPI_Comm_free(&worker->spare[which - 1]);
    }
}

static void *use_own(void *of)
{
    worker_t *worker = of;

    for (int call = 0; call < calls; call++) {
        sum_once(worker, worker->comm, call);
        if (worker->number == 0 && call % DUP_EVERY == 0) {
            MPI_Comm own = dup_of(worker->comm);
            sum_once(worker, own, call);
            MPI_Comm_free(&own);
        }
        if (call % SPARE_EVERY == 0) {
            use_spare(worker, call / SPARE_EVERY, call);
        }
    }
    return NULL;
}

/* ---- handed ---- */

static void await_place(worker_t *worker, int place, bool full)
{
    pthread_mutex_lock(&worker->lock);
    while (worker->full[place] != full) {
        pthread_cond_wait(&worker->changed, &worker->lock);
    }
    pthread_mutex_unlock(&worker->lock);
}

static void change_place(worker_t *worker, int place)
{
    pthread_mutex_lock(&worker->lock);
    worker->full[place] = !worker->full[place];
    pthread_cond_broadcast(&worker->changed);
    pthread_mutex_unlock(&worker->lock);
}

/* In turn, so that a call that is started has another kernel than the one that runs meanwhile. */
static MPI_Op op_of(int call)
{
    return call % 2 == 0 ? MPI_SUM : MPI_MAX;
}

static void *start_all(void *of)
{
    worker_t *worker = of;

    for (int call = 0; call < calls; call++) {
        const int place = call % UNDER_WAY;
        const int count = count_of(worker, call, HANDED_ELEMS);

        await_place(worker, place, false);
        fill(worker, place, worker->comm, call, count);
        MPI_Iallreduce(worker->in[place], worker->out[place], count, MPI_INT, op_of(call),
                       worker->comm, &worker->request[place]);
        change_place(worker, place);
    }
    return NULL;
}

static void *wait_for_all(void *of)
{
    worker_t *worker = of;

    for (int call = 0; call < calls; call++) {
        const int place = call % UNDER_WAY;

        await_place(worker, place, true);
        MPI_Wait(&worker->request[place], MPI_STATUS_IGNORE);
        check(worker, place, worker->comm, op_of(call), call, count_of(worker, call, HANDED_ELEMS));
        change_place(worker, place);
    }
    return NULL;
}

static void *call_blocking(void *of)
{
    worker_t *worker = of;

    for (int call = 0; call < calls; call++) {
        sum_once(worker, worker->comm, call);
    }
    return NULL;
}

/* ---- locked ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static MPI_Op locking;

static void add_locked(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void) pthread_mutex_lock(&lock);
    for (int i = 0; i < *count; i++) {
        ((int *) inout)[i] += ((int *) in)[i];
    }
    (void) pthread_mutex_unlock(&lock);
}

/* Thread 0 has the operation, thread 1 the lock. */
static void *use_lock(void *of)
{
    worker_t *worker = of;
    const bool locks = worker->number == 1;

    for (int call = 0; call < calls; call++) {
        MPI_Request request;

        fill(worker, 0, worker->comm, call, LOCKED_ELEMS);
        if (locks) {
            (void) pthread_mutex_lock(&lock);
            usleep(LOCKED_US);
        }
        MPI_Iallreduce(worker->in[0], worker->out[0], LOCKED_ELEMS, MPI_INT,
                       locks ? MPI_SUM : locking, worker->comm, &request);
        if (locks) {
            (void) pthread_mutex_unlock(&lock);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(worker, 0, worker->comm, MPI_SUM, call, LOCKED_ELEMS);
    }
    return NULL;
}

/* ---- floats ---- */

/* Far too fine for 8 bits, and each rank may encode a sum of all, and the total once more. */
static void *sum_floats(void *of)
{
    enum { FLOATS = 131072 };
    const double most = (double) world_ranks * (WHOLE_RANGE / 127.0) * (world_ranks + 1);
    worker_t *worker = of;
    SCOPED float *in = must_alloc(FLOATS * sizeof *in);
    SCOPED float *out = must_alloc(FLOATS * sizeof *out);
    SCOPED double *exact = must_alloc(FLOATS * sizeof *exact);

    memset(exact, 0, FLOATS * sizeof *exact);
    for (int rank = 0; rank < world_ranks; rank++) {
        draw_wholes(rank, 0, FLOATS, in);
        for (int i = 0; i < FLOATS; i++) {
            exact[i] += (double) in[i];
        }
    }
    draw_wholes(world_rank, 0, FLOATS, in);
    for (int call = 0; call < calls; call++) {
        MPI_Allreduce(in, out, FLOATS, MPI_FLOAT, MPI_SUM, worker->comm);
        for (int i = 0; i < FLOATS; i++) {
            worker->wrong += !(fabs((double) out[i] - exact[i]) <= most);
        }
    }
    return NULL;
}

/* What the threads do, and which worker each of them is or shares. */
static const struct kind {
    const char *name;
    int threads;
    void *(*run[THREADS_MOST])(void *worker);
    int worker[THREADS_MOST];
} kinds[] = {
    {"own", 3, {use_own, use_own, use_own}, {0, 1, 2}},
    {"handed",
     5,
     {start_all, wait_for_all, start_all, wait_for_all, call_blocking},
     {0, 0, 1, 1, 2}},
    {"locked", 2, {use_lock, use_lock}, {0, 1}},
    {"floats", 3, {sum_floats, sum_floats, sum_floats}, {0, 1, 2}},
};

static const struct kind *kind_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].name, name) == 0) {
            return &kinds[i];
        }
    }
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    return NULL;
}

static void run_threads(const struct kind *kind, const pthread_attr_t *attributes)
{
    const int workers = kind->worker[kind->threads - 1] + 1;
    SCOPED worker_t *all = must_alloc((size_t) workers * sizeof *all);
    pthread_t threads[THREADS_MOST];

    memset(all, 0, (size_t) workers * sizeof *all);
    for (int w = 0; w < workers; w++) {
        all[w].number = w;
        pthread_mutex_init(&all[w].lock, NULL);
        pthread_cond_init(&all[w].changed, NULL);
        MPI_Comm_dup(MPI_COMM_WORLD, &all[w].comm);
        for (int i = 0; kind->run[0] == use_own && i < SPARES; i++) {
            MPI_Comm_dup(MPI_COMM_WORLD, &all[w].spare[i]);
        }
    }
    for (int t = 0; t < kind->threads; t++) {
        if (pthread_create(&threads[t], attributes, kind->run[t], &all[kind->worker[t]]) != 0) {
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
    }
    for (int t = 0; t < kind->threads; t++) {
        pthread_join(threads[t], NULL);
    }
    for (int w = 0; w < workers; w++) {
        tap_check(all[w].wrong == 0, "communicator %d: %ld elements are wrong", w, all[w].wrong);
        MPI_Comm_free(&all[w].comm);
        pthread_cond_destroy(&all[w].changed);
        pthread_mutex_destroy(&all[w].lock);
    }
}

int main(int argc, char **argv)
{
    const char *name = kinds[0].name;
    pthread_attr_t attributes;
    int provided;

    pthread_attr_init(&attributes);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    TAKE_OPTIONS(OPTION('n', calls), OPTION('s', stack_kib), OPTION('w', name));
    const struct kind *kind = kind_by_name(name);
    if (kind->run[0] == use_own && calls < SPARE_EVERY * (SPARES + 1)) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE); /* spares would be left */
    }
    tap_start();
    if (provided < MPI_THREAD_MULTIPLE) {
        tap_skip("threads", "this Open MPI has no MPI_THREAD_MULTIPLE");
        return tap_end();
    }
    if (0 != pthread_attr_setstacksize(&attributes, stack_kib << 10)) {
        tap_skip("threads", "this system has no stacks so small");
        return tap_end();
    }
    MPI_Op_create(add_locked, 1, &locking);
    run_threads(kind, &attributes);
    tap_case("%d threads (%s), %d calls each: right sums", kind->threads, kind->name, calls);
    MPI_Op_free(&locking);
    return tap_end();
}
