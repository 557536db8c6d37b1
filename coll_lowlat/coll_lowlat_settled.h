/*
 * What measurements have settled in coll_lowlat (docs/benchmarks.md, docs/benchmarks_nodes.md):
 * nobody needs to turn it, so these are no parameters.  Tests have small pieces and little room.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_LOWLAT_SETTLED_H
#define COLL_LOWLAT_SETTLED_H

#include "lowlat.h"
#include "settled.h"

enum {
    /*
     * oneshot stages longer messages in blocks, so that peers read one while the next is written.
     * Between distant cores readers take lines away from under the writer, and small blocks lose:
     * 64 KiB took 9.1 us in blocks of 8 KiB and 7.5 us in blocks of 32 KiB.
     */
    LOWLAT_BLOCK_BYTES = ARC_SETTLED(32 << 10, 256),
    /* twoshot sends longer messages in chunks, so that no message needs more memory than these. */
    LOWLAT_CHUNK_BYTES = ARC_SETTLED(256 << 10, 4 << 10),
    /* Chunks that a rank's memory has room for: what a pipeline needs, and one for late ranks. */
    LOWLAT_SLOTS = ARC_SETTLED(4, LOWLAT_MIN_SLOTS),

    /*
     * On one node the memory of a communicator grows to a quarter of this for all its ranks
     * together: so four of 256 ranks fit into coll_arc_max_memory as it is set by default.
     */
    LOWLAT_NODE_BYTES = 1 << 30,
    LOWLAT_NODE_COMMUNICATORS = 4,

    /*
     * Between nodes: a chunk has SHARE bytes for each owner, so that the shortest messages of
     * halving are worth a message, within two bounds.  Half of the lower one is below the eager
     * limit of Open MPI's TCP, 64 KiB: on 4 nodes with 1 Gb/s longer chunks took 1.1 to 1.5 times
     * as long.  Where no node has two ranks, halving cuts long vectors into a few chunks that are
     * longer than the upper one (tests/network/run --chunk), two in place of three if a node's part
     * would be shorter than PART bytes: 1 MiB at 10 Gb/s took 1.04 times as long in three on 128
     * nodes.
     */
    LOWLAT_NODES_SHARE_BYTES = 15 << 10,
    LOWLAT_NODES_CHUNK_BYTES = ARC_SETTLED(120 << 10, 5000),
    LOWLAT_NODES_LONG_CHUNK_BYTES = ARC_SETTLED(256 << 10, 5000),
    LOWLAT_NODES_SINGLE_CHUNK_BYTES = ARC_SETTLED(1 << 20, 10000),
    LOWLAT_NODES_PART_BYTES = ARC_SETTLED(3 << 10, 1000),
    /* A message of direct and ring: as long as that limit allows, header and all. */
    LOWLAT_PIECE_BYTES = ARC_SETTLED(60 << 10, 640),
    /* Up to this length one rank of each node exchanges, where calls have not told better. */
    LOWLAT_LEADER_BYTES = ARC_SETTLED(16 << 10, 64),
    /* Another choice must be faster by so much of the time: less is not worth other bits. */
    LOWLAT_NODES_MARGIN_PERCENT = 3,
    /* Calls of a class before its first agreement, which costs about a short call; and of longer
       ones. */
    LOWLAT_EXPLORE_CALLS = ARC_SETTLED(32, 2),
    LOWLAT_EXPLORE_SOON_CALLS = ARC_SETTLED(4, 1),
    LOWLAT_EXPLORE_SOON_BYTES = 32 << 10,

    /*
     * Puts.  Up to FUSED bytes data travel in words of half data, half flag: twice the bytes, but
     * neither a fence nor a second packet and its acknowledgement.  A slot is one put, which UCX
     * copies (RC_SEG_SIZE in ucx_worker.c) and the network acknowledges: with half as many bytes a
     * call of 64 KiB on two nodes has 56 packets, not 48; with more the network idles while they
     * are copied.  So many slots that partners who answer each other need no credits.
     */
    LOWLAT_PUT_FUSED_BYTES = ARC_SETTLED(1024, 100),
    LOWLAT_PUT_SLOT_BYTES = ARC_SETTLED(16 << 10, 256),
    LOWLAT_PUT_SLOTS = ARC_SETTLED(8, 2),
    /* While connections are made beside messages the ranks agree how far they are after so many
       calls: an agreement takes about as long as a short call. */
    LOWLAT_OPENING_CALLS = ARC_SETTLED(64, 4),
    /* Between declared nodes puts are shared memory: tried only to test how they are tried. */
    LOWLAT_TRIES_DECLARED = ARC_SETTLED(0, 1),

    /*
     * The first region of System V memory: room for 14 communicators as they begin.  What of it
     * nobody writes takes no memory.
     */
    LOWLAT_FIRST_REGION_BYTES = ARC_SETTLED(1 << 20, 128 << 10),

    /*
     * Polls before a waiting rank lets Open MPI run on every poll: a few microseconds, which cost
     * nothing where each rank has a core.  Where cores are shared a polling rank keeps the one it
     * waits for from running, and messages between nodes do not move: none then.
     */
    LOWLAT_SPINS = 200,
    /* Short calls after which neighbours look how far apart they are: a look takes 2 to 8 us. */
    LOWLAT_STAGING_CALLS = ARC_SETTLED(16384, 1),
};

_Static_assert((int) LOWLAT_MAX_ELEMENT_BYTES <= (int) LOWLAT_CHUNK_BYTES &&
                   (int) LOWLAT_MAX_ELEMENT_BYTES <= (int) LOWLAT_NODES_CHUNK_BYTES,
               "a chunk has room for an element");
_Static_assert((int) LOWLAT_LEADER_BYTES <= (int) LOWLAT_NODES_CHUNK_BYTES,
               "a function of the program gets whole vectors: in one chunk, of one owner");
_Static_assert(LOWLAT_CHUNK_BYTES % (int) LOWLAT_PAGE_BYTES == 0,
               "whole pages: the second arena begins where the first one ends");
_Static_assert((int) LOWLAT_SLOTS >= (int) LOWLAT_MIN_SLOTS, "a pipeline needs so many");
_Static_assert(LOWLAT_PUT_SLOT_BYTES % (int) LOWLAT_CACHE_LINE_BYTES == 0 &&
                   (int) LOWLAT_PUT_FUSED_BYTES <= (int) LOWLAT_PUT_SLOT_BYTES,
               "slots of whole lines, and fused data fit into one");

#endif
