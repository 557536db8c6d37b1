/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>

#include "exchange_layout.h"
#include "sizes.h"

/* First element of shard `shard` of `elems` elements; the number of shards gives the end. */
static size_t shard_begin(const exchange_layout_t *layout, size_t elems, size_t shard)
{
    const size_t rows = arc_divide_up(elems, layout->row_elems);
    const size_t each = rows / layout->shards;
    const size_t longer = rows % layout->shards; /* the first so many shards have one row more */
    const size_t row = shard * each + arc_min(shard, longer);

    /* Compare rows, not elements: the end of the last row may be no size_t. */
    return row <= elems / layout->row_elems ? row * layout->row_elems : elems;
}

static exchange_span_t shard_of(const exchange_layout_t *layout, size_t elems, unsigned shard)
{
    assert(shard < layout->shards);
    const size_t begin = shard_begin(layout, elems, shard);
    const size_t end = shard_begin(layout, elems, (size_t) shard + 1);
    return (exchange_span_t){.begin = begin, .elems = end - begin};
}

exchange_span_t exchange_layout_shard(const exchange_layout_t *layout, unsigned shard)
{
    if (layout->blocks) {
        const size_t block = (shard + layout->shards - 1) % layout->shards;
        return (exchange_span_t){.begin = block * layout->count, .elems = layout->count};
    }
    return shard_of(layout, layout->count, shard);
}

size_t exchange_layout_segments(const exchange_layout_t *layout)
{
    return 0 != layout->chunks
               ? layout->chunks
               : arc_divide_up(exchange_layout_shard(layout, 0).elems, layout->segment_elems);
}

/* The shard's part of a chunk. */
static exchange_span_t part_of_chunk(const exchange_layout_t *layout, unsigned shard, size_t chunk)
{
    const size_t begin = chunk * layout->chunk_elems;
    const bool is_last = chunk + 1 == layout->chunks;
    exchange_span_t span =
        shard_of(layout, is_last ? layout->count - begin : layout->chunk_elems, shard);

    span.begin += begin;
    return span;
}

exchange_span_t exchange_layout_segment(const exchange_layout_t *layout, unsigned shard,
                                        size_t segment)
{
    if (0 != layout->chunks) {
        return segment < layout->chunks ? part_of_chunk(layout, shard, segment)
                                        : (exchange_span_t){.begin = layout->count, .elems = 0};
    }
    const exchange_span_t span = exchange_layout_shard(layout, shard);
    if (segment >= arc_divide_up(span.elems, layout->segment_elems)) {
        return (exchange_span_t){.begin = span.begin + span.elems, .elems = 0};
    }
    const size_t skipped = segment * layout->segment_elems;
    const size_t left = span.elems - skipped;
    return (exchange_span_t){
        .begin = span.begin + skipped,
        .elems = arc_min(left, layout->segment_elems),
    };
}
