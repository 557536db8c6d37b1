/*
 * Ranks that make calls on a node, by the files of common/node, on the memory of c11_memory.h.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef C11_JOB_H
#define C11_JOB_H

#include "c11_memory.h"
#include "lowlat.h"

enum { C11_MOST_CALLS = 6, C11_MOST_NUMBERS = 256, C11_ARENA_BYTES = 512, C11_BLOCK_BYTES = 128 };

typedef struct c11_call {
    const char *algorithm;
    size_t count; /* of int32, up to C11_MOST_NUMBERS */
} c11_call_t;

typedef struct c11_case {
    unsigned ranks;
    unsigned members[LOWLAT_MAX_LEVELS]; /* of levels, innermost first; 0 first: flat */
    c11_call_t call[C11_MOST_CALLS];     /* until one has no algorithm */
    bool streams;
    bool leaves; /* in the end rank 1 lets go of the segment of rank 0, which uses it anew */
    bool agrees; /* the ranks agree on how to stage, between the calls */
    /* Defects: */
    bool one_buffer_set;
    bool no_fence;
} c11_case_t;

/* c11_run_any() or c11_run_all() of it: what was wrong, or NULL. */
const char *c11_job_any(const c11_case_t *what, uint64_t seed);
const char *c11_job_all(const c11_case_t *what, size_t most, size_t *runs);

#endif
