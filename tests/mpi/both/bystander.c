/*
 * What MPI_Init and a few allreduces do to the process around them. The program
 * prints facts, one per line with its rank; the script runs it with and without
 * our components and compares the lines: a component must leave a program's
 * process as it was.
 *
 *   signal     which handlers differ from the start of the program
 *   code       whether the first bytes of memory calls differ from the start:
 *              some libraries patch them to watch the memory of the program
 *   threads    how many
 *   variable   names of environment variables that appeared
 *   float      control state of the floating-point unit: rounding, flush to zero
 *   affinity, umask, directory
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE /* RTLD_DEFAULT, sched_getaffinity */
#include "config.h"

#include <dlfcn.h>
#include <fenv.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mpi.h>

#include "footprint.h"

enum { CODE_BYTES = 16, VARIABLES_MAX = 2048, SIGNALS = 64, LARGE_ELEMS = 300000, CALLS = 50 };

static const char *const watched_functions[] = {"mmap",   "munmap", "mremap",  "brk",    "sbrk",
                                                "shmat",  "shmdt",  "madvise", "malloc", "free",
                                                "memcpy", "dlopen", "fork",    "signal"};

enum { WATCHED = sizeof watched_functions / sizeof watched_functions[0] };

/** The process at one moment. */
typedef struct state {
    struct sigaction actions[SIGNALS];
    unsigned char code[WATCHED][CODE_BYTES];
    cpu_set_t affinity;
    fenv_t floats;
    mode_t umask;
    char *directory;
} state_t;

static char *variables_at_start[VARIABLES_MAX];
static int world_rank;

extern char **environ;

static void remember_variables(void)
{
    for (size_t i = 0; environ[i] != NULL && i + 1 < VARIABLES_MAX; i++) {
        variables_at_start[i] = strdup(environ[i]);
    }
}

static void take_state(state_t *state)
{
    memset(state, 0, sizeof *state);
    for (int number = 1; number < SIGNALS; number++) {
        sigaction(number, NULL, &state->actions[number]);
    }
    for (int i = 0; i < WATCHED; i++) {
        const void *function = dlsym(RTLD_DEFAULT, watched_functions[i]);

        if (function != NULL) {
            memcpy(state->code[i], function, CODE_BYTES);
        }
    }
    sched_getaffinity(0, sizeof state->affinity, &state->affinity);
    /* Exception flags record what was computed; they are not a setting. */
    feclearexcept(FE_ALL_EXCEPT);
    fegetenv(&state->floats);
    state->umask = umask(0);
    umask(state->umask);
    state->directory = getcwd(NULL, 0);
}

static void print_signals(const state_t *start, const state_t *end)
{
    for (int number = 1; number < SIGNALS; number++) {
        const struct sigaction *before = &start->actions[number];
        const struct sigaction *after = &end->actions[number];
        bool changed =
            before->sa_handler != after->sa_handler || before->sa_flags != after->sa_flags;

        printf("rank %d signal %d: %s\n", world_rank, number, changed ? "changed" : "as before");
    }
}

static void print_variables(void)
{
    for (size_t i = 0; environ[i] != NULL; i++) {
        size_t name_bytes = strcspn(environ[i], "=");
        bool known = false;

        for (size_t k = 0; variables_at_start[k] != NULL && !known; k++) {
            /* Up to and with the '=': a name that begins alike is another name. */
            known = strncmp(variables_at_start[k], environ[i], name_bytes + 1) == 0;
        }
        if (!known) {
            printf("rank %d variable %.*s\n", world_rank, (int) name_bytes, environ[i]);
        }
    }
}

static void print_facts(const state_t *start, const state_t *end)
{
    print_signals(start, end);
    for (int i = 0; i < WATCHED; i++) {
        bool same = memcmp(start->code[i], end->code[i], CODE_BYTES) == 0;

        printf("rank %d code of %s: %s\n", world_rank, watched_functions[i],
               same ? "as before" : "changed");
    }
    printf("rank %d threads: %ld\n", world_rank, footprint_count_entries("/proc/self/task"));
    print_variables();
    printf("rank %d float control: %s\n", world_rank,
           memcmp(&start->floats, &end->floats, sizeof start->floats) == 0 ? "as before"
                                                                           : "changed");
    printf("rank %d affinity: %s\n", world_rank,
           CPU_EQUAL(&start->affinity, &end->affinity) ? "as before" : "changed");
    printf("rank %d umask: %s\n", world_rank, start->umask == end->umask ? "as before" : "changed");
    printf("rank %d directory: %s\n", world_rank,
           strcmp(start->directory, end->directory) == 0 ? "as before" : "changed");
    fflush(stdout);
}

/* Small and large sums, so that every path of a component has run. */
static void call_allreduce(void)
{
    float *data = calloc(LARGE_ELEMS, sizeof *data);
    int ranks = 0;
    int one = 1;

    if (data == NULL) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    for (int call = 0; call < CALLS; call++) {
        MPI_Allreduce(&one, &ranks, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, data, call % 2 ? call : LARGE_ELEMS, MPI_FLOAT, MPI_SUM,
                      MPI_COMM_WORLD);
    }
    free(data);
}

int main(int argc, char **argv)
{
    state_t start;
    state_t end;

    take_state(&start);
    remember_variables();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    call_allreduce();
    take_state(&end);
    print_facts(&start, &end);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
