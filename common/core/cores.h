/*
 * Does every rank of a node have a processor of its own?
 *
 * A rank that waits for one who waits for its processor had better yield.  The processors also say
 * which ranks are near each other (lowlat_levels.h).
 * Each rank describes itself in 104 bytes that the ranks of a node exchange, and one pure function
 * of all of them decides.  A rank has no processor of its own if
 *
 *   - there is no way to give each rank one of those it may run on,
 *   - the CPU quota of a control group is smaller than the number of ranks in it, or
 *   - it had to wait for a processor for much of its life, whoever had that: other jobs,
 *     processes of this job outside the communicator, threads of the program.
 *
 * Hardware threads count as processors.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_CORES_H
#define ARC_CORES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 8: two hyperthreads of each of 256 cores, or all of 512 processors. */
enum { ARC_CORES_WORDS = 8 };

/* The rank had to wait, which may be so now and not in the next run; there are too many processes.
 */
enum { ARC_CORES_WAITED = 1, ARC_CORES_MANY = 2 };

/* What a rank tells the others of its node.  Zero-initialised: nothing is known, thus shared. */
typedef struct arc_cores {
    uint64_t group;   /* names the control group that has the quota */
    uint32_t quota;   /* what its processes may use together, in 1/1000 processors; 0: any */
    uint32_t count;   /* processors the rank may run on */
    uint32_t crowded; /* why the rank counts as one without a processor; ARC_CORES_WAITED, ... */
    uint32_t words;   /* used in the arrays below: the lowest of the mask that are not 0 */
    uint16_t word[ARC_CORES_WORDS]; /* its index in the mask */
    unsigned long bits[ARC_CORES_WORDS];
} arc_cores_t;

/* What the operating system tells, in some 60 us, of this process, which is one of `processes` of
 * its job here. The files of the system are looked for below `root`: "", or a directory of a test.
 */
void arc_cores_get(arc_cores_t *own, unsigned processes, const char *root);

/* Cost: O(ranks) for each count, of those with a quota ranks^2.  true also if memory is short. */
bool arc_cores_are_shared(const arc_cores_t *all, unsigned ranks);

/* The parts of arc_cores_get(): set count, words, word and bits from a mask as
 * sched_getaffinity() fills it, */
void arc_cores_set_mask(arc_cores_t *own, const unsigned long *mask, size_t mask_words);

/* and why a process that ran and waited so long, one of `processes` on a node of `online`
 * processors, has none of its own: `crowded`. */
uint32_t arc_cores_are_crowded(uint64_t ran_ns, uint64_t waited_ns, unsigned processes,
                               long online);

#endif
