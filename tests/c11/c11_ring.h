/*
 * Two ranks that send each other fragments, by put_ring.c, on the memory of c11_memory.h.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef C11_RING_H
#define C11_RING_H

#include "c11_memory.h"

enum { C11_MOST_FRAGMENTS = 40 };

typedef struct c11_ring_case {
    unsigned slots;                      /* of 64 bytes; a turn of their sequences has 3 laps */
    size_t fused_bytes;                  /* the longest fused fragment */
    bool wraps;                          /* as if a turn ended with the first lap */
    bool answers;                        /* each fragment of rank 0 is answered before the next */
    size_t bytes[2][C11_MOST_FRAGMENTS]; /* of each rank's fragments, until one is 0 */
    bool ignores_fences;                 /* a defect of the window */
} c11_ring_case_t;

c11_run_t c11_ring_run(const c11_ring_case_t *what);

#endif
