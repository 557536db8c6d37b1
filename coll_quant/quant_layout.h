/*
 * Who reduces what: the vector is cut into one shard per rank, a shard into
 * segments; one segment is one message.
 *
 *   vector    | shard 0            | shard 1          | shard 2          |
 *   shard     | segment 0 | segment 1 | seg. 2 |
 *
 * Shards begin at multiples of 64 elements and differ by at most one such row,
 * so in a short vector the last ones are empty.  Segments are segment_elems
 * long, the last one of a shard is what is left.  Everything follows from
 * (count, shards, segment_elems), which are equal on all ranks; quant_cut.h has the last of them.
 *
 * Blocks: the vector of a half of an allreduce is one block of `count` elements for
 * each rank, of any length.  Rank r owns shard r + 1 (quant_schedule.h), so with N
 * blocks shard s is block s - 1 (modulo N).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_LAYOUT_H
#define QUANT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct quant_layout {
    size_t count;         /* elements of the vector; any size_t; with blocks, of a block */
    unsigned shards;      /* at least 1 */
    size_t segment_elems; /* at least 1 */
    bool blocks;          /* the vector is a block for each shard */
} quant_layout_t;

/* Elements [begin, begin + elems) of the vector. */
typedef struct quant_span {
    size_t begin;
    size_t elems; /* may be 0 */
} quant_span_t;

/* Shard `shard` of 0 .. shards - 1. */
quant_span_t quant_layout_shard(const quant_layout_t *layout, unsigned shard);

/* Segments of the longest shard, which is shard 0. */
size_t quant_layout_segments(const quant_layout_t *layout);

/* Segment `segment` of shard `shard`; empty behind the last one of the shard. */
quant_span_t quant_layout_segment(const quant_layout_t *layout, unsigned shard, size_t segment);

#endif
