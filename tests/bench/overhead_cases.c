/*
 * Times of the calls by which a program comes to communicators, for the script overhead: what a
 * component of coll costs a program that has nothing to gain from it.
 *
 *   overhead_cases times [N]          a line "CASE MICROSECONDS" for each case below, of N samples
 *   overhead_cases communicators N    N times a dup, one allreduce, and the end: prints nothing
 *   overhead_cases dups N             N times a dup and its end: prints nothing
 *   overhead_cases paired N           a dup and its end, of communicators that all components are
 *                                     asked for and of some that ours are not, in turn: medians
 *                                     over N blocks of 50 each, in microseconds
 *   overhead_cases blocks N           the same of communicators without info, by all components: a
 *                                     line "dup MICROSECONDS"
 *   overhead_cases sums N BYTES MOST  sums of floats on two communicators, as in paired, that take
 *                                     turns for N milliseconds or three calls each: by length, up
 *                                     to MOST, a line "BYTES WITHOUT WITH RATIO", medians of turns
 *                                     in microseconds, and of the ratios without/with of
 * neighbours; ARC_DEFERRED=nonblocking: by MPI_Iallreduce and MPI_Wait
 *
 *   first        the first allreduce on MPI_COMM_WORLD; one sample
 *   shapes       split, one allreduce, free: the mean of 20 communicators of other ranks or another
 *                order each, as far as there are so many
 *   dup          dup, free
 *   dup-call     dup, one allreduce, free
 *   window       MPI_Win_allocate, MPI_Win_free
 *
 * Cases come in this order: the first two are about what nobody has done before. All allreduces
 * are sums of one int. A sample begins behind a barrier, and its time is that of the rank that took
 * longest; a case prints the median of its samples.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "../lib/seconds.h"

enum {
    SHAPES = 20,
    WARM = 20, /* samples that do not count: connections come with the first messages */
    DEFAULT_SAMPLES = 200,
    WINDOW_BYTES = 4096,
    BLOCK_DUPS = 50,
    TURNS = 24,         /* of each communicator */
    SETTLE_CALLS = 100, /* of each length before the first turn, at least */
    SETTLE_MOST_CALLS = 2000,
};

static int world_rank;
static int world_ranks;

static void die(const char *text)
{
    fprintf(stderr, "overhead_cases: %s\n", text);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    abort();
}

static void sum_once(MPI_Comm comm)
{
    int ranks = 0;
    int sum = 1;

    MPI_Comm_size(comm, &ranks);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (sum != ranks) {
        die("a sum is wrong");
    }
}

static void run_first(int sample)
{
    sum_once(MPI_COMM_WORLD);
}

/* Shape k: so many ranks as it is its turn, from another one on each time around. */
static void run_shape(int k)
{
    const int size = 2 + k % (world_ranks - 1);
    const int first = k / (world_ranks - 1) % world_ranks;
    const int place = (world_rank - first + world_ranks) % world_ranks;
    MPI_Comm comm = MPI_COMM_NULL;

    MPI_Comm_split(MPI_COMM_WORLD, place < size ? 0 : MPI_UNDEFINED, place, &comm);
    if (comm != MPI_COMM_NULL) {
        sum_once(comm);
        MPI_Comm_free(&comm);
    }
}

static void run_dup(int sample)
{
    MPI_Comm comm = MPI_COMM_NULL;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_free(&comm);
}

static void run_dup_call(int sample)
{
    MPI_Comm comm = MPI_COMM_NULL;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    sum_once(comm);
    MPI_Comm_free(&comm);
}

static void run_window(int sample)
{
    char *memory = NULL;
    MPI_Win window = MPI_WIN_NULL;

    MPI_Win_allocate(WINDOW_BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_free(&window);
}

typedef struct overhead_case {
    const char *name;
    void (*run)(int sample);
    int samples; /* 0: as many as asked for, behind WARM others */
} overhead_case_t;

static const overhead_case_t cases[] = {
    {"first", run_first, 1},       {"shapes", run_shape, SHAPES}, {"dup", run_dup, 0},
    {"dup-call", run_dup_call, 0}, {"window", run_window, 0},
};

static double mean(const double *values, int count)
{
    double sum = 0;

    for (int i = 0; i < count; i++) {
        sum += values[i];
    }
    return sum / count;
}

static void time_case(const overhead_case_t *one, int asked)
{
    const int samples = one->samples > 0 ? one->samples : asked;
    const int warm = one->samples > 0 ? 0 : WARM;
    double *seconds = malloc((size_t) samples * sizeof *seconds);
    double *longest = malloc((size_t) samples * sizeof *longest);

    if (seconds == NULL || longest == NULL) {
        die("no memory");
    }
    for (int i = -warm; i < samples; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        one->run(i);
        const double end = MPI_Wtime();
        if (i >= 0) {
            seconds[i] = end - begin;
        }
    }
    MPI_Reduce(seconds, longest, samples, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (world_rank == 0) {
        const double typical = one->run == run_shape ? mean(longest, samples)
                                                     : seconds_median(longest, (size_t) samples);
        printf("%s %.3f\n", one->name, typical * 1e6);
        fflush(stdout);
    }
    free(longest);
    free(seconds);
}

/* The mean of a block of dups with that info, and their ends. */
static double time_block(MPI_Info info)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < BLOCK_DUPS; i++) {
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
        MPI_Comm_free(&comm);
    }
    return (MPI_Wtime() - begin) / BLOCK_DUPS;
}

typedef struct kind {
    const char *name;
    const char *preference; /* NULL: no info */
} kind_t;

static const kind_t plain_dups[] = {{"dup", NULL}};
/* Both say as much, so that Open MPI has as much to read. */
static const kind_t pairs[] = {{"without", "^lowlat,quant"}, {"with", "^neither,nobody"}};

static MPI_Info make_info(const kind_t *kind)
{
    MPI_Info info = MPI_INFO_NULL;

    if (kind->preference != NULL) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "ompi_comm_coll_preference", kind->preference);
    }
    return info;
}

/* A block of each kind in turn, so many times. */
static void time_blocks(const kind_t *kinds, int count, int blocks)
{
    enum { KINDS = 2 };
    MPI_Info info[KINDS];
    double *seconds[KINDS];

    for (int kind = 0; kind < count; kind++) {
        seconds[kind] = malloc((size_t) blocks * sizeof *seconds[kind]);
        if (seconds[kind] == NULL) {
            die("no memory");
        }
        info[kind] = make_info(&kinds[kind]);
    }
    for (int i = -WARM; i < blocks; i++) {
        for (int kind = 0; kind < count; kind++) {
            const double block = time_block(info[kind]);
            if (i >= 0) {
                seconds[kind][i] = block;
            }
        }
    }
    for (int kind = 0; kind < count; kind++) {
        if (world_rank == 0) {
            printf("%s %.3f\n", kinds[kind].name,
                   seconds_median(seconds[kind], (size_t) blocks) * 1e6);
        }
        if (info[kind] != MPI_INFO_NULL) {
            MPI_Info_free(&info[kind]);
        }
        free(seconds[kind]);
    }
    fflush(stdout);
}

static double time_sums(MPI_Comm comm, float *vector, int count, int calls)
{
    const double begin = MPI_Wtime();

    for (int i = 0; i < calls; i++) {
        MPI_Allreduce(vector, vector + count, count, MPI_FLOAT, MPI_SUM, comm);
    }
    return (MPI_Wtime() - begin) / calls;
}

/* Until a second has passed, so that what is chosen by measurement is; returns a call's time. */
static double settle(MPI_Comm comm, float *vector, int count)
{
    double call = 0;
    double all = 0;
    int calls = 0;

    do {
        call = time_sums(comm, vector, count, SETTLE_CALLS);
        MPI_Bcast(&call, 1, MPI_DOUBLE, 0, comm);
        all += call * SETTLE_CALLS;
        calls += SETTLE_CALLS;
    } while (all < 1 && calls < SETTLE_MOST_CALLS);
    return call;
}

static void compare_sums(const MPI_Comm *comms, int milliseconds, float *vector, int count)
{
    enum { AHEAD = 2, LEAST = 3 }; /* calls that do not count, and that do */
    double seconds[2][TURNS];
    double ratios[TURNS];
    double call = 0;

    for (int kind = 1; kind >= 0; kind--) {
        call = settle(comms[kind], vector, count);
    }
    const int calls = (int) (milliseconds * 1e-3 / call);
    for (int i = 0; i < 2 * TURNS; i++) {
        const int kind = (i + i / 2) % 2; /* each is as often behind itself as behind the other */
        (void) time_sums(comms[kind], vector, count, AHEAD);
        seconds[kind][i / 2] = time_sums(comms[kind], vector, count, calls > LEAST ? calls : LEAST);
    }
    for (int i = 0; i < TURNS; i++) {
        ratios[i] = seconds[0][i] / seconds[1][i];
    }
    if (world_rank == 0) {
        printf("%zu %.2f %.2f %.3f\n", (size_t) count * sizeof *vector,
               seconds_median(seconds[0], TURNS) * 1e6, seconds_median(seconds[1], TURNS) * 1e6,
               seconds_median(ratios, TURNS));
        fflush(stdout);
    }
}

static void compare_all_sums(int milliseconds, size_t bytes, size_t most_bytes)
{
    float *vector = calloc(2, most_bytes);
    MPI_Comm comms[2];

    if (vector == NULL || bytes < sizeof *vector || bytes > most_bytes || most_bytes > INT_MAX) {
        die("no memory, or lengths that cannot be");
    }
    for (int kind = 0; kind < 2; kind++) {
        MPI_Info info = make_info(&pairs[kind]);
        MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comms[kind]);
        MPI_Info_free(&info);
    }
    for (; bytes <= most_bytes; bytes *= 2) {
        compare_sums(comms, milliseconds, vector, (int) (bytes / sizeof *vector));
    }
    for (int kind = 0; kind < 2; kind++) {
        MPI_Comm_free(&comms[kind]);
    }
    free(vector);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const int asked = argc > 2 ? atoi(argv[2]) : DEFAULT_SAMPLES;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
    if (world_ranks < 2 || asked < 1) {
        die("needs two ranks and at least one sample");
    }
    if (strcmp(what, "times") == 0) {
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            time_case(&cases[i], asked);
        }
    } else if (strcmp(what, "communicators") == 0 || strcmp(what, "dups") == 0) {
        for (int i = 0; i < asked; i++) {
            (what[0] == 'c' ? run_dup_call : run_dup)(i);
        }
    } else if (strcmp(what, "paired") == 0) {
        time_blocks(pairs, 2, asked);
    } else if (strcmp(what, "blocks") == 0) {
        time_blocks(plain_dups, 1, asked);
    } else if (strcmp(what, "sums") == 0 && argc == 5) {
        compare_all_sums(asked, (size_t) atol(argv[3]), (size_t) atol(argv[4]));
    } else {
        die("times, communicators, dups, paired, blocks, or sums with two lengths");
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
