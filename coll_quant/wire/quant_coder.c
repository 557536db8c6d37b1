/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>
#include <string.h>

#include "exchange_pipeline.h"
#include "lowlat_piped.h"
#include "quant_bound.h"
#include "quant_coder.h"
#include "quant_wire.h"
#include "sizes.h"

/* ---- where numbers of the program are ---- */

static size_t storage_bytes(const quant_coder_t *coder)
{
    return NULL == coder->operation.storage ? coder->element->bytes
                                            : coder->operation.storage->bytes;
}

/* Numbers of the program from `index` on, in one of its buffers; or of our parts. */
static void *number_at(const quant_coder_t *coder, const void *buffer, size_t index)
{
    const lowlat_task_t *parts = coder->operation.parts;

    return NULL == parts ? (uint8_t *) buffer + index * storage_bytes(coder)
                         : lowlat_own_at(parts, index);
}

static void *result_at(const quant_coder_t *coder, size_t index)
{
    return number_at(coder, coder->operation.recv, index);
}

/* Of elements that follow each other; there is a residual. */
static float *residual_at(const quant_coder_t *coder, size_t index)
{
    const lowlat_task_t *parts = coder->operation.parts;

    return coder->operation.residual + (NULL == parts ? index : lowlat_own_element(parts, index));
}

/* Numbers that are sent, as they are added; those that are widened until the next ones are. */
static const void *parts_at(const quant_coder_t *coder, size_t index, size_t elems)
{
    const quant_storage_t *storage = coder->operation.storage;
    const void *numbers = number_at(coder, coder->operation.send, index);

    if (NULL == storage) {
        return numbers;
    }
    storage->half.widen(numbers, coder->segment.floats, elems);
    return coder->segment.floats;
}

/* Where a result is made: in its place, unless it is to be made narrow. */
static void *made_at(const quant_coder_t *coder, size_t index)
{
    return NULL == coder->operation.storage ? result_at(coder, index) : coder->segment.floats;
}

/* A result that was made there and is off by up to `bound` comes to its place. */
static void finish_result(const quant_coder_t *coder, size_t index, size_t elems, float bound)
{
    const quant_storage_t *storage = coder->operation.storage;

    if (NULL != storage) {
        float *floats = coder->segment.floats;
        /* One pass over floats in the cache; another one where a number is so large, or a NaN. */
        if (isfinite(bound) && !(coder->element->most(coder->config.kernels, floats, elems) <
                                 (double) storage->overflow)) {
            quant_storage_clamp(storage, bound, floats, elems);
        }
        storage->half.narrow(floats, result_at(coder, index), elems);
    }
}

/* ---- what both ends know of a message ---- */

static quant_wire_segment_t segment_of(const quant_coder_t *coder,
                                       const exchange_message_t *message)
{
    quant_wire_segment_t segment = coder->segment;
    const quant_format_t *format = !message->partial ? coder->config.gather_format
                                   : message->inside ? segment.exact
                                                     : coder->config.reduce_format;

    segment.codec.format = format->exact ? segment.exact : format;
    segment.codec.elems = message->span.elems;
    segment.any_scaled = NULL != coder->fit.coarsest && !segment.codec.format->exact;
    return segment;
}

/* ---- partial sums ---- */

/* The own part, with what it lacked in the call before; error: how far it is off. */
static exchange_sum_t own_part(quant_coder_t *coder, const exchange_span_t *span)
{
    const void *x = parts_at(coder, span->begin, span->elems);
    const lowlat_task_t *parts = coder->operation.parts;
    const float error = NULL == parts ? 0 : lowlat_own_error(parts, span->begin);

    if (NULL == coder->operation.residual) {
        return (exchange_sum_t){.numbers = (void *) x, .error = error};
    }
    const float fed =
        coder->element->feed(x, residual_at(coder, span->begin), span->elems, coder->sum);
    return (exchange_sum_t){
        .error = quant_bound_added(fed, error, 0),
        .numbers = coder->sum,
    };
}

static exchange_sum_t part_of(quant_coder_t *coder, const exchange_span_t *span,
                              const exchange_sum_t *x)
{
    return NULL == x ? own_part(coder, span) : *x;
}

/* `buffer` was made of `value`: keep what it lacks for the next call. */
static void keep_residual(const quant_coder_t *coder, const quant_wire_segment_t *segment,
                          const exchange_span_t *span, const void *value, const void *buffer)
{
    if (NULL != coder->operation.residual) {
        coder->element->keep(segment, buffer, value, residual_at(coder, span->begin));
    }
}

static void raise_bound(quant_coder_t *coder, float bound)
{
    coder->bound = bound > coder->bound ? bound : coder->bound;
}

/* ---- the operations of exchange_coder.h ---- */

static size_t capacity(const exchange_coder_t *base, const exchange_message_t *message)
{
    const quant_coder_t *coder = (const quant_coder_t *) base;
    const quant_codec_t codec = segment_of(coder, message).codec;
    const size_t coded = quant_wire_bytes_max(codec.format, codec.elems, codec.block_rows);
    const size_t exact = sizeof(quant_wire_header_t) + codec.elems * coder->element->bytes;

    return coded > exact ? coded : exact;
}

static arc_status_t check(const exchange_coder_t *base, const exchange_message_t *message,
                          const void *buffer, size_t bytes)
{
    const quant_wire_segment_t segment = segment_of((const quant_coder_t *) base, message);

    return quant_wire_check(&segment, buffer, bytes);
}

static size_t encode(exchange_coder_t *base, const exchange_message_t *message,
                     const exchange_sum_t *x, void *buffer)
{
    quant_coder_t *coder = (quant_coder_t *) base;
    const quant_wire_segment_t segment = segment_of(coder, message);

    if (!message->partial) {
        const void *block = parts_at(coder, message->span.begin - coder->own, message->span.elems);
        return quant_fit_pack(&coder->fit, &segment, block, 0, false, buffer);
    }
    const exchange_sum_t part = part_of(coder, &message->span, x);
    const size_t bytes =
        quant_fit_pack(&coder->fit, &segment, part.numbers, part.error, true, buffer);
    keep_residual(coder, &segment, &message->span, part.numbers, buffer);
    return bytes;
}

static void add(exchange_coder_t *base, const exchange_message_t *message, const void *buffer,
                const exchange_sum_t *x, exchange_sum_t *sum)
{
    quant_coder_t *coder = (quant_coder_t *) base;
    const quant_wire_segment_t segment = segment_of(coder, message);
    const exchange_sum_t part = part_of(coder, &message->span, x);

    sum->error = coder->element->add(&segment, buffer, part.numbers, part.error, sum->numbers);
}

static size_t hop(exchange_coder_t *base, const exchange_message_t *received, const void *buffer,
                  const exchange_sum_t *x, const exchange_message_t *sent, void *to)
{
    quant_coder_t *coder = (quant_coder_t *) base;
    const quant_element_t *element = coder->element;
    const exchange_sum_t part = part_of(coder, &received->span, x);
    const quant_wire_segment_t segment = segment_of(coder, sent);

    if (NULL == coder->operation.residual && 0 == coder->operation.bound_max &&
        NULL != element->hop) {
        return element->hop(&segment, buffer, part.numbers, part.error, to);
    }
    const float error = element->add(&segment, buffer, part.numbers, part.error, coder->sum);
    const size_t bytes =
        quant_fit_pack(&coder->fit, &segment, coder->sum, error, sent->partial, to);
    keep_residual(coder, &segment, &sent->span, coder->sum, to);
    return bytes;
}

static void store_sum(exchange_coder_t *base, const exchange_message_t *message, const void *buffer,
                      const exchange_sum_t *x)
{
    quant_coder_t *coder = (quant_coder_t *) base;
    const size_t at = message->span.begin - coder->own;
    exchange_sum_t result = {.numbers = made_at(coder, at)};

    add(base, message, buffer, x, &result);
    raise_bound(coder, result.error);
    finish_result(coder, at, message->span.elems, result.error);
}

static void store_total(exchange_coder_t *base, const exchange_message_t *message,
                        const void *buffer)
{
    quant_coder_t *coder = (quant_coder_t *) base;
    const quant_wire_segment_t segment = segment_of(coder, message);
    const float bound = quant_wire_bound(buffer);
    const size_t at = message->span.begin;

    raise_bound(coder, bound);
    if (quant_wire_format(buffer)->exact) {
        coder->exact_elems += message->span.elems;
    }
    coder->element->unpack(&segment, buffer, made_at(coder, at));
    finish_result(coder, at, message->span.elems, bound);
}

exchange_sum_t quant_coder_begin_sum(const quant_coder_t *coder, const exchange_message_t *message,
                                     const void *buffer)
{
    const quant_wire_segment_t segment = segment_of(coder, message);
    void *sum = made_at(coder, 0);

    coder->element->unpack(&segment, buffer, sum);
    return (exchange_sum_t){.numbers = sum, .error = quant_wire_bound(buffer)};
}

void quant_coder_end_sum(quant_coder_t *coder, const exchange_sum_t *sum)
{
    raise_bound(coder, sum->error);
    finish_result(coder, 0, coder->operation.count, sum->error);
}

static const exchange_coder_ops_t ops = {
    .capacity = capacity,
    .check = check,
    .encode = encode,
    .add = add,
    .hop = hop,
    .store_sum = store_sum,
    .store_total = store_total,
};

/* ---- memory ---- */

/* The largest numbers that operations may have. */
static const quant_element_t *largest_element(const quant_config_t *config)
{
    return config->doubles ? &quant_doubles : &quant_floats;
}

size_t quant_coder_message_bytes(const quant_config_t *config, size_t elems)
{
    /* Of whole rows an exact message is longer than a coded one, whatever the rows of its tiles. */
    return sizeof(quant_wire_header_t) +
           arc_round_up(elems, QUANT_LANES) * largest_element(config)->bytes;
}

static size_t sum_bytes(const quant_config_t *config)
{
    return config->segment_elems * largest_element(config)->bytes;
}

quant_coder_t *quant_coder_init(const quant_config_t *config, unsigned ranks, unsigned rank,
                                const unsigned *peer, arc_stream_t *stream, arc_room_t *room)
{
    const exchange_config_t exchange = {
        .tree = config->algo->tree,
        .shape = quant_config_shape(config, ranks),
        .depth = config->depth,
        .message_bytes = quant_coder_message_bytes(config, config->segment_elems),
        .sum_bytes = sum_bytes(config),
        .peer = peer,
    };
    /* Of a segment, or of a vector that goes whole (quant_doubling.h). */
    const size_t doubling_elems = config->doubling_bytes / sizeof(float);
    const size_t most_elems =
        doubling_elems > config->segment_elems ? doubling_elems : config->segment_elems;
    const bool sums = config->feedback || config->bounded || config->doubles;
    const bool floats = config->doubles || config->storage;
    quant_coder_t *coder = arc_room_take(room, sizeof *coder);
    const quant_coder_t made = {
        .base.ops = &ops,
        .exchange =
            exchange_pipeline_init(&exchange, rank, stream, (exchange_coder_t *) coder, room),
        .config = *config,
        .ranks = ranks,
        .rank = rank,
        .sum = arc_room_take(room, sums ? sum_bytes(config) : 0),
        .segment.floats = arc_room_take(room, floats ? most_elems * sizeof(float) : 0),
        .segment.codec.kernels = config->kernels,
        .segment.codec.tile =
            arc_room_take(room, quant_tile_elems(config->block_rows) * sizeof(float)),
    };

    if (NULL != coder) {
        *coder = made;
    }
    return coder;
}

void quant_coder_start_whole(quant_coder_t *coder, const quant_operation_t *operation)
{
    coder->operation = *operation;
    coder->element = operation->element;
    coder->segment.codec.block_rows = coder->config.block_rows;
    coder->segment.exact = coder->element->exact;
    coder->segment.sequence = operation->sequence;
    coder->own = 0;
    coder->fit = (quant_fit_t){.element = operation->element};
    coder->bound = 0;
    coder->exact_elems = 0;
}

exchange_operation_t quant_coder_start(quant_coder_t *coder, const quant_operation_t *operation)
{
    const bool is_stage = EXCHANGE_ALLREDUCE != operation->collective;
    exchange_layout_t layout = {
        .count = operation->count,
        .shards = coder->ranks,
        .row_elems = QUANT_LANES,
        .blocks = is_stage,
    };
    const quant_cut_t cut = quant_cut(&coder->config, exchange_layout_shard(&layout, 0).elems);

    layout.segment_elems = cut.segment_elems;
    quant_coder_start_whole(coder, operation);
    coder->segment.codec.block_rows = cut.block_rows;
    coder->own = is_stage ? coder->rank * operation->count : 0;
    coder->fit = quant_fit_of(&coder->config, operation, coder->ranks);
    if (1 == coder->ranks && operation->send != operation->recv) {
        memcpy(operation->recv, operation->send, operation->count * storage_bytes(coder));
    }
    return (exchange_operation_t){
        .layout = layout,
        .collective = operation->collective,
    };
}
