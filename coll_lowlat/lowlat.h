/*
 * What the parts of coll_lowlat share: configuration, the memory of a group of
 * ranks, and the shape of an algorithm.  Pure: no MPI, no UCX.
 *
 * Every rank owns one segment.  It alone writes there, everybody else maps it
 * and reads:
 *
 *   byte 0      128        256             384             4096
 *   | published | identity | line[0] | ... | line[1] | ... | arena[0] | arena[1] |
 *     64 bits     64 bits    56 + 8 bytes    56 + 8 bytes    arena_bytes each
 *
 *   published   (sequence << 20) + blocks staged of that operation; only grows
 *   identity    a random number, for the mapping to be checked at set-up
 *   line[h]     one cache line: up to 56 bytes of data, then the sequence number
 *   arena[h]    staged data
 *
 * Operation `sequence` of the group uses half h = sequence & 1 of the lines and
 * of the arenas, whatever its algorithm.
 *
 * Why two halves suffice, with no barrier or credit at the end of an operation:
 * every operation completes on a rank only after it has seen *every* peer's
 * data of that operation.  A rank that writes half h for operation k+2 has
 * completed k+1, so it has seen every peer publish in k+1; a peer publishes in
 * k+1 only after it has returned from k, that is, after its last read of
 * half h in operation k.
 *
 * Written by one rank and read by others: a line of its own for each flag, and
 * 128 bytes between them, because the prefetcher of x86 fetches lines in pairs.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_H
#define LOWLAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "element.h"
#include "task.h"

typedef struct lowlat_config {
#define ARC_PARAM_LIST "lowlat_params.def"
#include "param_fields.h"
} lowlat_config_t;

enum {
    LOWLAT_FLAG_SPACING_BYTES = 128, /* two cache lines */
    LOWLAT_LINE_DATA_BYTES = 56,     /* a cache line less the sequence number */
    LOWLAT_ARENA_OFFSET = 4096,      /* arenas start on a page */
    LOWLAT_BLOCK_BITS = 20,          /* of `published`, for the number of blocks */
    LOWLAT_HALVES = 2,
};

typedef struct lowlat_line {
    unsigned char data[LOWLAT_LINE_DATA_BYTES];
    uint64_t sequence;
} lowlat_line_t;

typedef struct lowlat_segment {
    _Alignas(LOWLAT_FLAG_SPACING_BYTES) uint64_t published;
    _Alignas(LOWLAT_FLAG_SPACING_BYTES) uint64_t identity;
    struct {
        _Alignas(LOWLAT_FLAG_SPACING_BYTES) lowlat_line_t line;
    } half[LOWLAT_HALVES];
    _Alignas(LOWLAT_ARENA_OFFSET) unsigned char arena[];
} lowlat_segment_t;

/* A group of ranks that map each other's segments. */
typedef struct lowlat_group {
    unsigned rank;
    unsigned ranks;
    size_t arena_bytes;         /* of each half */
    size_t block_bytes;         /* staging unit */
    uint64_t sequence;          /* operations started so far; the same on all ranks */
    lowlat_segment_t **segment; /* [ranks]; segment[rank] is our own */
} lowlat_group_t;

/* Bytes of a segment with two arenas of `arena_bytes` each. */
static inline size_t lowlat_segment_bytes(size_t arena_bytes)
{
    return offsetof(lowlat_segment_t, arena) + LOWLAT_HALVES * arena_bytes;
}

/* One operation.  Lives on the caller's stack; nothing is allocated for it. */
typedef struct lowlat_task {
    arc_task_t task; /* first: the algorithms are handed this */
    lowlat_group_t *group;
    const arc_reducer_t *reducer;
    const void *in; /* may be `out` */
    void *out;
    size_t count;      /* elements, > 0 */
    size_t span_bytes; /* of `count` elements */
    uint64_t sequence;
    const unsigned char *own; /* where our own part is added from */
    unsigned peer;            /* all ranks below have been seen in the present wait */
    size_t block_elems;       /* staging unit in elements */
    size_t blocks;
    size_t staged;                                           /* blocks published by us */
    size_t reduced;                                          /* blocks complete in `out` */
    _Alignas(16) unsigned char copy[LOWLAT_LINE_DATA_BYTES]; /* 16: of the largest element */
} lowlat_task_t;

typedef struct lowlat_algorithm {
    const char *name;
    const char *description;
    /* The longest message it can carry in this group. */
    size_t (*max_bytes)(const lowlat_group_t *group);
    /*
     * Start an operation: set up `task` from its first fields (group to
     * span_bytes are set) and publish what can be published.  Cannot fail.
     */
    void (*start)(lowlat_task_t *task);
} lowlat_algorithm_t;

#endif
