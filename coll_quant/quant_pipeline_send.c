/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "quant_pipeline_state.h"
#include "quant_wire.h"

bool quant_pipeline_is_reduce(const quant_pipeline_t *pipe, unsigned round)
{
    return round < pipe->plan.rounds / 2;
}

cell_t *quant_pipeline_cell(const quant_pipeline_t *pipe, unsigned shard, unsigned lane)
{
    return &pipe->cell[(size_t) shard * pipe->plan.window + lane];
}

/* Which numbers are drawn for a message: of a partial sum by its round, of a total for all. */
static uint64_t key_of(const quant_pipeline_t *pipe, bool partial, const place_t *place,
                       unsigned shard)
{
    return QUANT_ROUNDING_NEAREST == pipe->config.rounding
               ? 0
               : quant_transform_key(pipe->config.draws_base, pipe->operation.sequence,
                                     partial ? place->round : pipe->plan.rounds, shard,
                                     place->segment);
}

/* Partial sums are exact inside a machine. */
static const quant_format_t *reduce_format_of(const quant_pipeline_t *pipe, unsigned round)
{
    return pipe->round[round].inside ? &quant_format_fp32 : pipe->config.reduce_format;
}

quant_wire_segment_t quant_pipeline_segment(const quant_pipeline_t *pipe, bool partial,
                                            const place_t *place, unsigned shard,
                                            const quant_span_t *span)
{
    const quant_format_t *format =
        partial ? reduce_format_of(pipe, place->round) : pipe->config.gather_format;
    const quant_format_t *exact = pipe->numbers->exact;

    return (quant_wire_segment_t){
        .format = quant_format_is_exact(format) ? exact : format,
        .exact = exact,
        .block_rows = pipe->block_rows,
        .sequence = pipe->operation.sequence,
        .elements = (uint32_t) span->elems,
        .transform =
            {
                .rounding = pipe->config.rounding,
                .rotation = pipe->config.rotation,
                .key = key_of(pipe, partial, place, shard),
                .tile = pipe->scratch.tile,
            },
    };
}

const void *quant_pipeline_own_part(quant_pipeline_t *pipe, const quant_span_t *span, float *error)
{
    const quant_outer_t *outer = pipe->operation.outer;
    const float *residual = pipe->operation.residual;
    const void *x = quant_pipeline_at(pipe, pipe->operation.send, span->begin);

    *error = 0;
    if (NULL != outer) {
        outer->widen(x, pipe->scratch.floats, span->elems);
        x = pipe->scratch.floats;
    }
    if (NULL == residual) {
        return x;
    }
    *error = pipe->numbers->feed(x, residual + span->begin, span->elems, pipe->scratch.numbers);
    return pipe->scratch.numbers;
}

void quant_pipeline_keep_residual(const quant_pipeline_t *pipe, const quant_wire_segment_t *segment,
                                  const quant_span_t *span, const void *value, const void *message)
{
    if (NULL != pipe->operation.residual) {
        pipe->numbers->keep(segment, pipe->config.kernels, message, value, &pipe->scratch,
                            pipe->operation.residual + span->begin);
    }
}

void quant_pipeline_release(quant_pipeline_t *pipe, slot_t *slot)
{
    if (0 == --slot->users) {
        *(slot->kept ? &pipe->kept : &pipe->coded) -= 1;
        pipe->free_slot[pipe->free_slots++] = slot;
    }
}

arc_status_t quant_pipeline_reap_sends(quant_pipeline_t *pipe)
{
    for (unsigned i = 0; i < pipe->sendings;) {
        sending_t *sending = pipe->sending_at[i];
        arc_status_t status = pipe->stream->ops->test(pipe->stream, &sending->request);
        if (ARC_IN_PROGRESS == status) {
            ++i;
            continue;
        }
        if (ARC_OK != status) {
            return status;
        }
        quant_pipeline_release(pipe, sending->slot);
        pipe->sending_at[i] = pipe->sending_at[--pipe->sendings];
        pipe->sending_at[pipe->sendings] = sending;
    }
    return ARC_OK;
}

arc_status_t quant_pipeline_start_send(quant_pipeline_t *pipe, slot_t *slot, size_t bytes,
                                       unsigned peer)
{
    sending_t *sending = pipe->sending_at[pipe->sendings];
    arc_status_t status =
        pipe->stream->ops->send(pipe->stream, peer, slot->message, bytes, &sending->request);

    if (ARC_OK == status) {
        sending->peer = peer;
        sending->slot = slot;
        ++pipe->sendings;
        pipe->send_next = quant_pipeline_skip(pipe, pipe->send_next + 1, quant_pipeline_sent);
    }
    return status;
}

/* Encode the sum of the subtree, or the own part of a leaf, and send it. */
static ARC_MUST_CHECK arc_status_t send_sum(quant_pipeline_t *pipe, const place_t *place)
{
    const quant_round_t *round = &pipe->round[place->round];
    const quant_span_t span = quant_pipeline_sent(pipe, place);
    const quant_wire_segment_t segment =
        quant_pipeline_segment(pipe, true, place, round->send_shard, &span);
    const void *in = NULL;
    float error = 0;

    if (pipe->coded == pipe->plan.flight || 0 == pipe->free_slots) {
        return ARC_IN_PROGRESS;
    }
    slot_t *slot = pipe->free_slot[--pipe->free_slots];
    slot->kept = false;
    slot->users = 1;
    ++pipe->coded;
    if (QUANT_AFTER_NOTHING != round->send_after) {
        const cell_t *cell = quant_pipeline_cell(pipe, round->send_shard, place->lane);
        /* Free for the next one already: it is read before anything else happens. */
        pipe->free_sum[pipe->free_sums++] = cell->sum;
        in = cell->sum;
        error = cell->error;
    } else {
        in = quant_pipeline_own_part(pipe, &span, &error);
    }
    size_t bytes = pipe->numbers->pack(&segment, pipe->config.kernels, in, error, &pipe->scratch,
                                       slot->message);
    quant_pipeline_keep_residual(pipe, &segment, &span, in, slot->message);
    return quant_pipeline_start_send(pipe, slot, bytes, round->send_peer);
}

void quant_pipeline_keep(quant_pipeline_t *pipe, slot_t *slot, size_t bytes, unsigned forwards,
                         cell_t *cell)
{
    slot->kept = true;
    slot->bytes = bytes;
    slot->users = forwards + 1;
    ++pipe->kept;
    cell->kept = slot;
    const float bound = quant_wire_bound(slot->message);
    pipe->bound = bound > pipe->bound ? bound : pipe->bound;
}

void quant_pipeline_decode_total(const quant_pipeline_t *pipe, const quant_wire_segment_t *segment,
                                 const slot_t *slot, const quant_format_t *format,
                                 const quant_span_t *span)
{
    const quant_outer_t *outer = pipe->operation.outer;
    void *into = quant_pipeline_into(pipe, pipe->operation.recv, span->begin);

    pipe->numbers->unpack(segment, pipe->config.kernels, format, slot->message, &pipe->scratch,
                          NULL == outer ? into : pipe->scratch.floats);
    if (NULL != outer) {
        quant_outer_clamp(outer, pipe->config.kernels, quant_wire_bound(slot->message),
                          pipe->scratch.floats, span->elems);
        outer->narrow(pipe->scratch.floats, into, span->elems);
    }
}

/* An allgather: the own block is the total.  Encode it, send it for the first time, decode it. */
static ARC_MUST_CHECK arc_status_t send_own(quant_pipeline_t *pipe, const place_t *place)
{
    const quant_span_t span = quant_pipeline_sent(pipe, place);
    const quant_wire_segment_t segment =
        quant_pipeline_segment(pipe, false, place, pipe->round[place->round].send_shard, &span);
    /* The round of an allreduce in which the total of the own shard is complete. */
    const quant_round_t *totals = &pipe->round[place->round - 1];
    const quant_format_t *format = NULL;

    if (pipe->kept >= pipe->plan.kept || 0 == pipe->free_slots) {
        return ARC_IN_PROGRESS;
    }
    slot_t *slot = pipe->free_slot[--pipe->free_slots];
    const void *in = quant_pipeline_at(pipe, pipe->operation.send, span.begin - pipe->own);
    const size_t bytes =
        pipe->numbers->pack(&segment, pipe->config.kernels, in, 0, &pipe->scratch, slot->message);
    quant_pipeline_keep(pipe, slot, bytes, totals->forwards,
                        quant_pipeline_cell(pipe, totals->receive_shard, place->lane));
    arc_status_t status =
        quant_pipeline_start_send(pipe, slot, bytes, pipe->round[place->round].send_peer);
    if (ARC_OK == status) {
        status = quant_wire_check(&segment, slot->message, bytes, &format);
    }
    if (ARC_OK == status) {
        quant_pipeline_decode_total(pipe, &segment, slot, format, &span);
    }
    quant_pipeline_release(pipe, slot);
    return status;
}

arc_status_t quant_pipeline_send_next(quant_pipeline_t *pipe)
{
    if (pipe->send_next == pipe->end || pipe->sendings == pipe->plan.slots) {
        return ARC_IN_PROGRESS;
    }
    const place_t place = quant_pipeline_place(pipe, pipe->send_next);
    const quant_round_t *round = &pipe->round[place.round];
    if (round->send_after >= (int) pipe->first) {
        uint64_t rounds_since = place.round - (unsigned) round->send_after;
        if (pipe->send_next - rounds_since * pipe->window >= pipe->receive_next) {
            return ARC_IN_PROGRESS;
        }
    }
    if (quant_pipeline_is_reduce(pipe, place.round)) {
        return send_sum(pipe, &place);
    }
    if (place.round == pipe->first) {
        return send_own(pipe, &place);
    }
    slot_t *slot = quant_pipeline_cell(pipe, round->send_shard, place.lane)->kept;
    return quant_pipeline_start_send(pipe, slot, slot->bytes, round->send_peer);
}

arc_status_t quant_pipeline_send_ready(quant_pipeline_t *pipe)
{
    arc_status_t status = ARC_OK;

    while (ARC_OK == status) {
        status = quant_pipeline_send_next(pipe);
    }
    return ARC_IN_PROGRESS == status ? ARC_OK : status;
}
