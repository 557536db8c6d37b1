/*
 * Communicators share what their processes share already: many of them take few System V ids, what
 * a communicator had is used again after it was freed, and not before all ranks have let go of it.
 *
 *   -c N   N communicators at once, in two rounds, each with one sum in each round
 *   -i N   ... and a process has at most so many System V ids then (default 4)
 *   -l N   N times all ranks sum; then all but one free the communicator and sum on others, while
 *          that one may still be adding: all ranks fall asleep at any time
 *   -s N   N times two processes are started and summed with: their memory does not stay mapped
 *   -x     to be such a process
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#define _DEFAULT_SOURCE /* setitimer */
#include "config.h"

#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include "footprint.h"
#include "harness.h"
#include "sums.h"

enum {
    SEED = 77,
    MOST_RANKS = 16,
    LATE_ELEMS = 4000, /* 16 KB: read for some microseconds */
    OTHERS = 3,        /* communicators of those that are not late */
    SLEEP_NS = 1000000,
    SHORTEST_US = 100, /* from one sleep to the next */
    LONGEST_US = 2000,
};

static void check_sum(MPI_Comm comm, int count, int salt)
{
    (void) sums_of(comm, MPI_INT, count, salt, true);
}

static footprint_t hold(MPI_Comm *comms, int communicators)
{
    for (int i = 0; i < communicators; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        check_sum(comms[i], 1, i);
    }
    for (int i = communicators; i-- > 0;) {
        check_sum(comms[i], 1, i);
    }
    const footprint_t footprint = footprint_settled();
    for (int i = 0; i < communicators; i++) {
        MPI_Comm_free(&comms[i]);
    }
    return footprint;
}

static void check_many(int communicators, long most_ids)
{
    SCOPED MPI_Comm *comms = must_alloc((size_t) communicators * sizeof(MPI_Comm));
    const footprint_t first = hold(comms, communicators);
    const footprint_t second = hold(comms, communicators);

    tap_note("%d communicators: rank 0 has %ld System V ids of %ld KiB, %ld files in /dev/shm",
             communicators, first.sysv_segments, first.sysv_bytes / 1024, first.shared_files);
    tap_check(first.sysv_segments <= most_ids, "%ld System V ids", first.sysv_segments);
    tap_check(second.sysv_segments <= first.sysv_segments && second.sysv_bytes <= first.sysv_bytes,
              "%ld ids of %ld bytes the second time, %ld of %ld the first", second.sysv_segments,
              second.sysv_bytes, first.sysv_segments, first.sysv_bytes);
    tap_check(second.shared_files <= first.shared_files,
              "%ld files in /dev/shm the second time, %ld the first", second.shared_files,
              first.shared_files);
    tap_case("%d communicators at once, twice: right sums, at most %ld System V ids a process",
             communicators, most_ids);
}

static uint64_t sleeps;

static void sleep_again_later(void)
{
    const uint64_t wait_us =
        SHORTEST_US + draw_bits(SEED, (unsigned) world_rank, sleeps++) % (LONGEST_US - SHORTEST_US);
    const struct itimerval timer = {.it_value = {.tv_usec = (suseconds_t) wait_us}};

    setitimer(ITIMER_REAL, &timer, NULL);
}

static void fall_asleep(int number)
{
    const struct timespec time = {.tv_nsec = SLEEP_NS};

    nanosleep(&time, NULL);
    sleep_again_later();
}

/* All ranks but `late`. */
static MPI_Comm comm_without(int late)
{
    MPI_Comm comm;

    MPI_Comm_split(MPI_COMM_WORLD, world_rank == late ? MPI_UNDEFINED : 0, 0, &comm);
    return comm;
}

static void check_late(int times)
{
    const struct sigaction asleep = {.sa_handler = fall_asleep, .sa_flags = SA_RESTART};
    MPI_Comm others[MOST_RANKS];

    for (int late = 0; late < world_ranks; late++) {
        others[late] = comm_without(late);
    }
    sigaction(SIGALRM, &asleep, NULL);
    sleep_again_later();
    for (int i = 0; i < times; i++) {
        MPI_Comm all = dup_of(MPI_COMM_WORLD);
        check_sum(all, LATE_ELEMS, i);
        MPI_Comm_free(&all);
        for (int k = 0; k < OTHERS && i % world_ranks != world_rank; k++) {
            MPI_Comm some = dup_of(others[i % world_ranks]);
            check_sum(some, LATE_ELEMS, 1000 * i + k);
            MPI_Comm_free(&some);
        }
    }
    signal(SIGALRM, SIG_IGN);
    for (int late = 0; late < world_ranks; late++) {
        if (others[late] != MPI_COMM_NULL) {
            MPI_Comm_free(&others[late]);
        }
    }
    tap_case("%d times memory is used again while a rank may be late: right sums", times);
}

static long mapped_regions(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    long regions = 0;

    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        regions += strstr(line, "/SYSV") != NULL;
    }
    if (maps != NULL) {
        fclose(maps);
    }
    return regions;
}

/* Sums with those at the other end. */
static void sum_with(MPI_Comm *others, int high)
{
    MPI_Comm all;

    MPI_Intercomm_merge(*others, high, &all);
    check_sum(all, 1, 0);
    check_sum(all, 1, 1);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(others);
}

static void check_spawned(char *program, int times)
{
    char option[] = "-x";
    char *options[] = {option, NULL};
    long before = 0;

    for (int i = 0; i < times; i++) {
        MPI_Comm children;

        MPI_Comm_spawn(program, options, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                       MPI_ERRCODES_IGNORE);
        sum_with(&children, 0);
        before = i == 0 ? mapped_regions() : before;
    }
    tap_check(before > 0, "no System V memory is mapped");
    tap_check(mapped_regions() == before, "%ld regions are mapped instead of %ld", mapped_regions(),
              before);
    tap_case("%d times two processes are started: right sums, their memory does not stay mapped",
             times);
}

int main(int argc, char **argv)
{
    int many = 0;
    int most_ids = 4;
    int late = 0;
    int spawned = 0;
    bool is_child = false;
    MPI_Comm parent;

    MPI_Init(&argc, &argv);
    TAKE_OPTIONS(OPTION('c', many), OPTION('i', most_ids), OPTION('l', late), OPTION('s', spawned),
                 OPTION('x', is_child));
    if (is_child) {
        MPI_Comm_get_parent(&parent);
        sum_with(&parent, 1);
        MPI_Finalize();
        return EXIT_SUCCESS;
    }
    tap_start();
    if (world_ranks > MOST_RANKS || world_ranks < 3) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    if (many > 0) {
        check_many(many, most_ids);
    }
    if (late > 0) {
        check_late(late);
    }
    if (spawned > 0) {
        check_spawned(argv[0], spawned);
    }
    return tap_end();
}
