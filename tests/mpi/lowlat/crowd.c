/*
 * Many ranks of a node: the sums of many communicators, and what a rank pays for them, as the mean
 * of all ranks in notes: processor time and page faults of MPI_Init, of the first call, in which
 * coll_lowlat sets up, and of further ones; seconds of the calls of the first communicator and of
 * all, with their duplication; and how much more memory it has then.
 *
 *   -n COMMUNICATORS   MPI_COMM_WORLD and its duplicates (default 20)
 *
 * To be run with the set-ups at the first calls.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <sys/resource.h>

#include "harness.h"

enum {
    MOST_COMMUNICATORS = 100,
    CALLS = 10,
    MORE_CALLS = 39,
    MOST_ELEMS = 20000,
    US_PER_S = 1000000
};

/* What a rank has paid until now. */
typedef struct costs {
    double ms; /* of processors */
    double faults;
} costs_t;

static double milliseconds(struct timeval time)
{
    return ((double) time.tv_sec * US_PER_S + (double) time.tv_usec) / 1000;
}

static costs_t costs_now(void)
{
    struct rusage usage;

    (void) getrusage(RUSAGE_SELF, &usage);
    return (costs_t){milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime),
                     (double) usage.ru_minflt};
}

/* Memory, of which what ranks share counts in equal parts; 0 where the kernel does not tell. */
static double proportional_kib(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[200];
    long kib = 0;

    while (file != NULL && fgets(line, sizeof line, file) != NULL &&
           sscanf(line, "Pss: %ld", &kib) != 1) {
    }
    if (file != NULL) {
        (void) fclose(file);
    }
    return (double) kib;
}

/* Of all ranks, on rank 0.  Not by an allreduce: those are what is looked at. */
static double mean(double own)
{
    double all = 0;

    MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return all / world_ranks;
}

static void note_costs(const char *what, costs_t begin, costs_t end)
{
    const double ms = mean(end.ms - begin.ms);

    tap_note("%s: %.2f ms, %.0f faults", what, ms, mean(end.faults - begin.faults));
}

static void sum(MPI_Comm comm, int elems, int salt)
{
    static int in[MOST_ELEMS];
    static int out[MOST_ELEMS];
    int wrong = 0;

    for (int i = 0; i < elems; i++) {
        in[i] = (world_rank + 1) * (1 + (i + salt) % 7);
    }
    MPI_Allreduce(in, out, elems, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < elems; i++) {
        wrong += out[i] != world_ranks * (world_ranks + 1) / 2 * (1 + (i + salt) % 7);
    }
    tap_check(wrong == 0, "%d of %d numbers are wrong", wrong, elems);
}

/* 1 to MOST_ELEMS numbers. */
static void sum_often(MPI_Comm comm, int salt)
{
    for (int call = 0; call < CALLS; call++) {
        sum(comm, 1 + (MOST_ELEMS - 1) * call / (CALLS - 1), salt + call);
    }
}

static void check_communicators(int communicators)
{
    MPI_Comm comm[MOST_COMMUNICATORS] = {MPI_COMM_WORLD};
    const double before_kib = proportional_kib();
    const double start = MPI_Wtime();

    sum_often(comm[0], 0);
    const double first = MPI_Wtime();
    for (int i = 1; i < communicators; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        sum_often(comm[i], i);
    }
    tap_note("calls of the first communicator %.2f s, of %d %.2f s", first - start, communicators,
             MPI_Wtime() - start);
    tap_note("memory of them: %.0f KiB", mean(proportional_kib() - before_kib));
    for (int i = 1; i < communicators; i++) {
        MPI_Comm_free(&comm[i]);
    }
    tap_case("%d ranks, %d communicators: right sums", world_ranks, communicators);
}

int main(int argc, char **argv)
{
    const costs_t nothing = {0};
    int communicators = 20;
    int one = 1;

    TAKE_OPTIONS(OPTION('n', communicators));
    MPI_Init(&argc, &argv);
    const costs_t begin = costs_now();
    MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    const costs_t set_up = costs_now();
    for (int call = 0; call < MORE_CALLS; call++) {
        MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    const costs_t end = costs_now();
    tap_start();
    tap_check(one == world_ranks, "the first sum is %d", one);
    note_costs("MPI_Init", nothing, begin);
    note_costs("first call", begin, set_up);
    note_costs("more calls", set_up, end);
    check_communicators(communicators < MOST_COMMUNICATORS ? communicators : MOST_COMMUNICATORS);
    return tap_end();
}
