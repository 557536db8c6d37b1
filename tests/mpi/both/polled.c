/*
 * Nonblocking and persistent sums have the bits of blocking ones on all ranks, although the program
 * has another floating-point environment while they are pending, and calls MPI in it; rank 1 is
 * late, so that the others add in such calls.  With -t a thread of each rank does that instead.
 *
 *   polled [-t]
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <fenv.h>
#include <pthread.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "harness.h"
#include "persistent.h"

enum { ELEMS = 64, TRIALS = 12, LATE_US = 8000, AFTER_US = 16000 };

static const double us_per_s = 1e6;
static bool by_thread;
static volatile bool stop;

/* ---- environments ---- */

static void round_upwards(void)
{
    (void) fesetround(FE_UPWARD);
}

static void flush_denormals(void)
{
#if defined(__x86_64__)
    _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
    _mm_setcsr(_mm_getcsr() | 0x40); /* denormals are zeros */
#endif
}

typedef struct mode {
    const char *name;
    void (*enter)(void);
    double scale; /* of the numbers: denormal ones, or not */
} environment_t;

static const environment_t modes[] = {
    {"rounds upwards", round_upwards, 1},
    {"flushes denormals", flush_denormals, 1e-309},
};

static void poll_once(void)
{
    int flag = 0;

    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void *poll_in_mode(void *mode)
{
    ((const environment_t *) mode)->enter();
    while (!stop) {
        poll_once();
    }
    return NULL;
}

static void poll_for_a_while(const environment_t *mode)
{
    const double end = MPI_Wtime() + AFTER_US / us_per_s;
    fenv_t usual;

    if (by_thread) {
        usleep(AFTER_US);
        return;
    }
    (void) fegetenv(&usual);
    mode->enter();
    while (MPI_Wtime() < end) {
        poll_once();
    }
    (void) fesetenv(&usual);
}

/* ---- sums ---- */

static void check_sums(const environment_t *mode, MPI_Datatype type, const void *in, void *out,
                       const void *exact, size_t bytes)
{
    MPI_Request persistent;

    persistent_allreduce_init(in, out, ELEMS, type, MPI_SUM, MPI_COMM_WORLD, &persistent);
    for (int trial = 0; trial < TRIALS; trial++) {
        MPI_Request request = persistent;

        memset(out, 0, bytes);
        MPI_Barrier(MPI_COMM_WORLD);
        if (1 == world_rank) {
            usleep(LATE_US);
        }
        if (0 == trial % 2) {
            MPI_Iallreduce(in, out, ELEMS, type, MPI_SUM, MPI_COMM_WORLD, &request);
        } else {
            MPI_Start(&request);
        }
        poll_for_a_while(mode);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        tap_check(0 == memcmp(out, exact, bytes), "%s: not the bits of a blocking sum", mode->name);
        tap_check_same(out, bytes, MPI_COMM_WORLD);
    }
    MPI_Request_free(&persistent);
}

static void check_doubles(const environment_t *mode)
{
    double in[ELEMS];
    double out[ELEMS];
    double exact[ELEMS];

    for (int i = 0; i < ELEMS; i++) {
        in[i] = mode->scale * (((double) world_rank + 1) / 3 + i * 1e-3 / 7);
    }
    MPI_Allreduce(in, exact, ELEMS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check_sums(mode, MPI_DOUBLE, in, out, exact, sizeof out);
}

/* Of which Open MPI's function adds up, in another unit of the processor. */
static void check_long_doubles(const environment_t *mode)
{
    long double in[ELEMS];
    long double out[ELEMS];
    long double exact[ELEMS];

    memset(in, 0, sizeof in);
    memset(exact, 0, sizeof exact);
    for (int i = 0; i < ELEMS; i++) {
        in[i] = ((long double) world_rank + 1) / 3 + i * 1e-3L / 7;
    }
    MPI_Allreduce(in, exact, ELEMS, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check_sums(mode, MPI_LONG_DOUBLE, in, out, exact, sizeof out);
}

int main(int argc, char **argv)
{
    int provided = MPI_THREAD_SINGLE;

    by_thread = argc > 1 && 0 == strcmp(argv[1], "-t");
    MPI_Init_thread(&argc, &argv, by_thread ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    tap_start();
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        pthread_t thread;

        stop = false;
        if (by_thread) {
            (void) pthread_create(&thread, NULL, poll_in_mode, (void *) &modes[i]);
        }
        check_doubles(&modes[i]);
        check_long_doubles(&modes[i]);
        stop = true;
        if (by_thread) {
            (void) pthread_join(thread, NULL);
        }
        tap_case("%s %s while sums are pending: the same bits", by_thread ? "a thread" : "it",
                 modes[i].name);
    }
    return tap_end();
}
