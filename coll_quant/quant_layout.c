/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "quant_codec.h"
#include "quant_layout.h"

/* First element of part `part` of `count` elements in `parts`; `parts` itself gives the end. */
static size_t part_begin(size_t count, size_t parts, size_t part)
{
    size_t rows = quant_divide_up(count, QUANT_LANES);
    size_t each = rows / parts;
    size_t longer = rows % parts; /* the first so many parts have one row more */
    size_t row = part * each + (part < longer ? part : longer);

    /* Compare rows, not elements: the end of the last row may be no size_t. */
    return row <= count / QUANT_LANES ? row * QUANT_LANES : count;
}

static quant_span_t part_of(size_t count, size_t parts, size_t part)
{
    size_t begin = part_begin(count, parts, part);
    size_t end = part_begin(count, parts, part + 1);
    return (quant_span_t){.begin = begin, .elems = end - begin};
}

quant_span_t quant_layout_shard(const quant_layout_t *layout, unsigned shard)
{
    if (0 == layout->blocks) {
        return part_of(layout->count, layout->shards, shard);
    }
    const size_t block = (shard % layout->blocks + layout->blocks - 1) % layout->blocks;
    quant_span_t span =
        part_of(layout->count, layout->shards / layout->blocks, shard / layout->blocks);
    span.begin += block * layout->count;
    return span;
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
