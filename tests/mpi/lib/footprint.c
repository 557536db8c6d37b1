/*
 * Reader of /proc for footprint.h.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h> /* malloc_trim */
#endif

#include <mpi.h>

#include "footprint.h"

/*
 * AddressSanitizer keeps what is freed for a while, and looks for leaks itself: where it is at
 * work, memory and mappings of the process tell nothing and count as 0.
 */
enum { LINE_BYTES = 4096, BYTES_PER_KIB = 1024, SETTLING_BARRIERS = 10 };

static void fail_on(const char *path)
{
    perror(path);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    abort();
}

static FILE *must_open(const char *path)
{
    FILE *file = fopen(path, "r");

    if (file == NULL) {
        fail_on(path);
    }
    return file;
}

long footprint_count_entries(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    long entries = 0;

    if (directory == NULL) {
        fail_on(path);
        return 0;
    }
    while ((entry = readdir(directory)) != NULL) {
        entries += entry->d_name[0] != '.';
    }
    closedir(directory);
    return entries;
}

static void count_mappings(footprint_t *footprint)
{
    FILE *file = must_open("/proc/self/maps");
    char line[LINE_BYTES];

    while (fgets(line, sizeof line, file) != NULL) {
#ifndef __SANITIZE_ADDRESS__
        footprint->mappings++;
#endif
        footprint->shared_files += strstr(line, " /dev/shm/") != NULL;
    }
    fclose(file);
}

/* Columns of /proc/sysvipc/shm: key, id, permissions, size, pid of the creator, ... */
static void count_sysv_segments(footprint_t *footprint)
{
    FILE *file = fopen("/proc/sysvipc/shm", "r");
    char line[LINE_BYTES];
    long creator;
    long bytes;

    if (file == NULL) {
        return; /* a kernel without System V IPC has no segments to leak */
    }
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%*s %*s %*s %ld %ld", &bytes, &creator) == 2 &&
            creator == (long) getpid()) {
            footprint->sysv_segments++;
            footprint->sysv_bytes += bytes;
        }
    }
    fclose(file);
}

footprint_t footprint_take(void)
{
    footprint_t footprint = {0};
    FILE *file = must_open("/proc/self/statm");
    long resident_pages;

    if (fscanf(file, "%*d %ld", &resident_pages) != 1) {
        fail_on("/proc/self/statm");
    }
    fclose(file);
#ifndef __SANITIZE_ADDRESS__
    footprint.resident_kib = resident_pages * (sysconf(_SC_PAGESIZE) / BYTES_PER_KIB);
#endif
    footprint.files = footprint_count_entries("/proc/self/fd");
    count_mappings(&footprint);
    count_sysv_segments(&footprint);
    return footprint;
}

footprint_t footprint_settled(void)
{
    for (int i = 0; i < SETTLING_BARRIERS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
#ifdef __GLIBC__
    malloc_trim(0);
#endif
    const footprint_t footprint = footprint_take();
    MPI_Barrier(MPI_COMM_WORLD);
    return footprint;
}

/* ---- a process that runs out of memory ---- */

static struct rlimit before;
static bool is_short;

void shortage_begin(size_t slack_bytes)
{
    FILE *file = must_open("/proc/self/statm");
    unsigned long pages = 0;

    if (fscanf(file, "%lu", &pages) != 1 || getrlimit(RLIMIT_AS, &before) != 0) {
        fail_on("what is mapped");
    }
    fclose(file);
    const rlim_t mapped_bytes = (rlim_t) pages * (rlim_t) sysconf(_SC_PAGESIZE);
    const struct rlimit less = {mapped_bytes + slack_bytes, before.rlim_max};
    if (setrlimit(RLIMIT_AS, &less) != 0) {
        fail_on("a limit of memory");
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
