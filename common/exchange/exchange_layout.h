/*
 * Who reduces what: the vector is cut into one shard per rank, a shard into
 * segments; one segment is one message.
 *
 *   vector    | shard 0            | shard 1          | shard 2          |
 *   shard     | segment 0 | segment 1 | seg. 2 |
 *
 * Shards begin at multiples of row_elems and differ by at most one such row, so in
 * a short vector the last ones are empty.  Segments are segment_elems long, the
 * last one of a shard is what is left.  Everything follows from the fields of the
 * layout, which are equal on all ranks.
 *
 * Chunks: a vector that becomes available one chunk after the other is cut the other way round,
 * into chunks, and each chunk into one segment for each shard:
 *
 *   vector    | chunk 0                       | chunk 1                       | ...
 *   shard       0: seg. 0 | 1: seg. 0 | ...     0: seg. 1 | 1: seg. 1 | ...
 *
 * Blocks: the vector of a stage of an allreduce is one block of `count` elements for
 * each rank, of any length.  Rank r owns shard r + 1 (exchange_schedule.h), so with
 * N blocks shard s is block s - 1 (modulo N).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef EXCHANGE_LAYOUT_H
#define EXCHANGE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct exchange_layout {
    size_t count;         /* elements of the vector; any size_t; with blocks, of a block */
    unsigned shards;      /* at least 1 */
    size_t row_elems;     /* at least 1: elements that stay together */
    size_t segment_elems; /* at least 1; without chunks */
    size_t chunks;        /* 0: there are none */
    size_t chunk_elems;   /* of each but the last, which has what is left */
    bool blocks;          /* the vector is a block for each shard */
} exchange_layout_t;

/* Elements [begin, begin + elems) of the vector. */
typedef struct exchange_span {
    size_t begin;
    size_t elems; /* may be 0 */
} exchange_span_t;

/* Shard `shard` of 0 .. shards - 1. */
exchange_span_t exchange_layout_shard(const exchange_layout_t *layout, unsigned shard);

/* Segments of the longest shard, which is shard 0. */
size_t exchange_layout_segments(const exchange_layout_t *layout);

/* Segment `segment` of shard `shard`; empty behind the last one of the shard. */
exchange_span_t exchange_layout_segment(const exchange_layout_t *layout, unsigned shard,
                                        size_t segment);

/* What a call does: an allreduce, or one of its stages, with N blocks; block r is rank r's. */
typedef enum exchange_collective {
    EXCHANGE_ALLREDUCE,
    EXCHANGE_REDUCE_SCATTER, /* the result is the sum of the own block, not coded */
    EXCHANGE_ALLGATHER,      /* the result is N blocks, the own one coded, too */
    EXCHANGE_COLLECTIVES
} exchange_collective_t;

/* One call, the same on all ranks. */
typedef struct exchange_operation {
    exchange_layout_t layout; /* as many shards as ranks */
    exchange_collective_t collective;
    unsigned at_once; /* chunks that can be available at a time; 0: all segments are */
} exchange_operation_t;

#endif
