/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "quant_codec.h"
#include "quant_layout.h"

/* First element of shard `shard` of `shards`; `shards` itself gives the end. */
static size_t shard_begin(size_t count, size_t shards, size_t shard)
{
    size_t rows = quant_divide_up(count, QUANT_LANES);
    size_t each = rows / shards;
    size_t longer = rows % shards; /* the first so many shards have one row more */
    size_t row = shard * each + (shard < longer ? shard : longer);

    /* Compare rows, not elements: the end of the last row may be no size_t. */
    return row <= count / QUANT_LANES ? row * QUANT_LANES : count;
}

quant_span_t quant_layout_shard(const quant_layout_t *layout, unsigned shard)
{
    if (layout->blocks) {
        const size_t block = (shard + layout->shards - 1) % layout->shards;
        return (quant_span_t){.begin = block * layout->count, .elems = layout->count};
    }
    const size_t begin = shard_begin(layout->count, layout->shards, shard);
    const size_t end = shard_begin(layout->count, layout->shards, shard + 1);
    return (quant_span_t){.begin = begin, .elems = end - begin};
}

size_t quant_layout_segments(const quant_layout_t *layout)
{
    return quant_divide_up(quant_layout_shard(layout, 0).elems, layout->segment_elems);
}

quant_span_t quant_layout_segment(const quant_layout_t *layout, unsigned shard, size_t segment)
{
    quant_span_t span = quant_layout_shard(layout, shard);

    if (segment >= quant_divide_up(span.elems, layout->segment_elems)) {
        return (quant_span_t){.begin = span.begin + span.elems, .elems = 0};
    }
    size_t skipped = segment * layout->segment_elems;
    size_t left = span.elems - skipped;
    return (quant_span_t){
        .begin = span.begin + skipped,
        .elems = left < layout->segment_elems ? left : layout->segment_elems,
    };
}
