/*
 * Memory that ranks map from each other, simulated in one process.
 *
 * Every rank has a copy of its own of every other rank's segment:
 *
 *     what rank v sees of rank o   =   view[v][o]
 *     what rank o writes           =   view[o][o]
 *
 * A store becomes visible to another rank when it is delivered, at a time and
 * in an order that a seed decides.  What a real machine guarantees is kept, and
 * no more: the data that a flag publishes are delivered before or with the flag
 * (release/acquire), but data may also arrive long before, in any pieces.  So a
 * missing wait reads old data, and a buffer that is used again too early is
 * seen changing under the reader.
 *
 * Streaming stores (copy.h) are exempt from that guarantee: a flag arrives without what its owner
 * has streamed and not fenced.  So a missing fence, or one behind the flag, reads old data, too.
 * Every rank draws whether it stages by them, and from which length on.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include "lowlat.h"
#include "testlib.h"

/* Bytes of an owner's arenas that were streamed and not yet fenced. */
enum { SIM_STREAMED_RANGES = 64 };
typedef struct sim_streamed {
    unsigned ranges;
    struct {
        size_t offset_bytes;
        size_t bytes;
    } range[SIM_STREAMED_RANGES];
} sim_streamed_t;

typedef struct sim_memory {
    unsigned ranks;
    size_t arena_bytes;
    lowlat_segment_t **view;  /* [viewer * ranks + owner] NULL: the viewer does not see it */
    unsigned *reader;         /* [owner * ranks + i] the others that see it, of whom there are */
    unsigned *readers;        /* [owner] */
    const void **parts;       /* [ranks * ranks] the ranks' scratch */
    sim_streamed_t *streamed; /* [ranks] by owner */
    test_random_t random;
} sim_memory_t;

/* Segments with arenas of `arena_bytes`, as after a set-up. */
sim_memory_t *sim_memory_new(unsigned ranks, size_t arena_bytes, uint64_t seed);
void sim_memory_free(sim_memory_t *memory);

/* Let `viewer` see, from now on, what `owner` writes. */
void sim_memory_map(sim_memory_t *memory, unsigned viewer, unsigned owner);

/* The group as `rank` has it: it sees all others, or only its own segment and those that it maps.
 */
lowlat_group_t sim_memory_group(sim_memory_t *memory, unsigned rank, size_t block_bytes,
                                size_t chunk_bytes);
lowlat_group_t sim_memory_group_alone(sim_memory_t *memory, unsigned rank, size_t block_bytes,
                                      size_t chunk_bytes);

/* From here on it is `group`'s rank that stores. */
void sim_memory_turn(sim_memory_t *memory, const lowlat_group_t *group);

/* Deliver something of somebody's to somebody else. */
void sim_memory_deliver(sim_memory_t *memory);

#endif
