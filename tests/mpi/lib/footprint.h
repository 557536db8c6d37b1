/*
 * What a process holds of the machine, read from /proc: to compare before and after; and a process
 * that runs out of memory when a test wants it to.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_TESTS_MPI_FOOTPRINT_H
#define ARC_TESTS_MPI_FOOTPRINT_H

#include <stddef.h>

/** Counts of this process alone; other programs on the machine do not change them.  Under
 * AddressSanitizer resident_kib and mappings are 0. */
typedef struct footprint {
    long resident_kib;
    long files;         /* open file descriptors */
    long mappings;      /* lines of /proc/self/maps */
    long shared_files;  /* of them, files in /dev/shm */
    long sysv_segments; /* System V segments that this process made */
    long sysv_bytes;    /* ... all of them */
} footprint_t;

/** Take the counts now. Aborts the job when /proc is not there. */
footprint_t footprint_take(void);

/**
 * The same when all ranks are at the same point; collective over MPI_COMM_WORLD.  A segment that a
 * peer still has attached counts for its maker; memory that the allocator keeps for later is given
 * back first.  More than one barrier: memory that others put into is given back when all of them
 * have left.
 */
footprint_t footprint_settled(void);

/** Number of entries in a directory, without the two dots. Aborts the job on failure. */
long footprint_count_entries(const char *path);

/** What a process has in most tests: less than the vectors of these tests take. */
enum { SHORTAGE_BYTES = 24 << 20 };

/** From now on this process can map `slack_bytes` more and no others. Aborts the job on failure. */
void shortage_begin(size_t slack_bytes);

/** As before shortage_begin(); nothing if there was none. */
void shortage_end(void);

#endif
