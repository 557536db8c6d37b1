/*
 * What is mapped now is in /proc/self/statm, in pages; setrlimit() does the rest.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <mpi.h>

#include "shortage.h"

static struct rlimit before;
static bool is_short;

void shortage_begin(size_t slack_bytes)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;

    if (file == NULL || fscanf(file, "%lu", &pages) != 1 || getrlimit(RLIMIT_AS, &before) != 0) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    fclose(file);
    const rlim_t mapped_bytes = (rlim_t) pages * (rlim_t) sysconf(_SC_PAGESIZE);
    const struct rlimit less = {mapped_bytes + slack_bytes, before.rlim_max};
    if (setrlimit(RLIMIT_AS, &less) != 0) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    is_short = true;
}

void shortage_end(void)
{
    if (is_short) {
        setrlimit(RLIMIT_AS, &before);
        is_short = false;
    }
}
