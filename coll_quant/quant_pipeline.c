/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "quant_feedback.h"
#include "quant_pipeline_state.h"
#include "quant_wire.h"

static bool is_reduce(const quant_pipeline_t *pipe, unsigned round)
{
    return round < pipe->plan.rounds / 2;
}

static cell_t *cell_of(const quant_pipeline_t *pipe, unsigned shard, unsigned lane)
{
    return &pipe->cell[(size_t) shard * pipe->plan.window + lane];
}

/* Which numbers are drawn for a message: of a partial sum by its round, of a total for all. */
static uint64_t key_of(const quant_pipeline_t *pipe, bool partial, const place_t *place,
                       unsigned shard)
{
    return QUANT_ROUNDING_NEAREST == pipe->config.rounding
               ? 0
               : quant_transform_key(pipe->operation.sequence,
                                     partial ? place->round : pipe->plan.rounds, shard,
                                     place->segment);
}

/* Partial sums are exact inside a machine. */
static const quant_format_t *reduce_format_of(const quant_pipeline_t *pipe, unsigned round)
{
    return pipe->round[round].inside ? &quant_format_fp32 : pipe->config.reduce_format;
}

/* A message of `shard` in the place; of a total any place of its segment will do. */
static quant_wire_segment_t segment_of(const quant_pipeline_t *pipe, bool partial,
                                       const place_t *place, unsigned shard,
                                       const quant_span_t *span)
{
    return (quant_wire_segment_t){
        .format = partial ? reduce_format_of(pipe, place->round) : pipe->config.gather_format,
        .block_rows = pipe->config.block_rows,
        .sequence = pipe->operation.sequence,
        .elements = (uint32_t) span->elems,
        .transform =
            {
                .rounding = pipe->config.rounding,
                .rotation = pipe->config.rotation,
                .key = key_of(pipe, partial, place, shard),
                .tile = pipe->tile,
            },
    };
}

/* The own part of a segment, with what it lacked in the call before; *error: how far it is off. */
static const float *own_part(quant_pipeline_t *pipe, const quant_span_t *span, float *error)
{
    const float *x = pipe->operation.send + span->begin;
    const float *residual = pipe->operation.residual;

    *error = 0;
    if (NULL == residual) {
        return x;
    }
    *error = quant_feedback_add(x, residual + span->begin, span->elems, pipe->own);
    return pipe->own;
}

/* `message` was made of `value`: keep what it lacks for the next call. */
static void keep_residual(const quant_pipeline_t *pipe, const quant_wire_segment_t *segment,
                          const quant_span_t *span, const float *value, const void *message)
{
    if (NULL != pipe->operation.residual) {
        quant_feedback_keep(segment, pipe->config.kernels, value, message,
                            pipe->operation.residual + span->begin);
    }
}

/* One user less; the last one frees the slot. */
static void release(quant_pipeline_t *pipe, slot_t *slot)
{
    if (0 == --slot->users) {
        *(slot->kept ? &pipe->kept : &pipe->coded) -= 1;
        pipe->free_slot[pipe->free_slots++] = slot;
    }
}

static ARC_MUST_CHECK arc_status_t reap_sends(quant_pipeline_t *pipe)
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
        release(pipe, sending->slot);
        pipe->sending_at[i] = pipe->sending_at[--pipe->sendings];
        pipe->sending_at[pipe->sendings] = sending;
    }
    return ARC_OK;
}

static ARC_MUST_CHECK arc_status_t start_receives(quant_pipeline_t *pipe)
{
    while (pipe->receiving < pipe->plan.flight && pipe->start_next < pipe->end &&
           0 != pipe->free_slots) {
        const place_t place = quant_pipeline_place(pipe, pipe->start_next);
        const quant_span_t span = quant_pipeline_received(pipe, &place);
        const quant_round_t *round = &pipe->round[place.round];
        const quant_wire_segment_t segment =
            segment_of(pipe, is_reduce(pipe, place.round), &place, round->receive_shard, &span);
        slot_t *slot = pipe->free_slot[pipe->free_slots - 1];
        arc_status_t status = pipe->stream->ops->receive(
            pipe->stream, round->receive_peer, slot->message,
            quant_wire_bytes_max(segment.format, segment.elements, segment.block_rows),
            &slot->receive);
        if (ARC_OK != status) {
            return status;
        }
        --pipe->free_slots;
        pipe->receiving_at[(pipe->receiving_head + pipe->receiving) % pipe->plan.flight] = slot;
        ++pipe->receiving;
        pipe->start_next = quant_pipeline_skip(pipe, pipe->start_next + 1, quant_pipeline_received);
    }
    return ARC_OK;
}

static ARC_MUST_CHECK arc_status_t start_send(quant_pipeline_t *pipe, slot_t *slot, size_t bytes,
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
    const quant_wire_segment_t segment = segment_of(pipe, true, place, round->send_shard, &span);
    const float *in = NULL;
    float error = 0;

    if (pipe->coded == pipe->plan.flight || 0 == pipe->free_slots) {
        return ARC_IN_PROGRESS;
    }
    slot_t *slot = pipe->free_slot[--pipe->free_slots];
    slot->kept = false;
    slot->users = 1;
    ++pipe->coded;
    if (QUANT_AFTER_NOTHING != round->send_after) {
        const cell_t *cell = cell_of(pipe, round->send_shard, place->lane);
        /* Free for the next one already: it is read before anything else happens. */
        pipe->free_sum[pipe->free_sums++] = cell->sum;
        in = cell->sum;
        error = cell->error;
    } else {
        in = own_part(pipe, &span, &error);
    }
    size_t bytes = quant_wire_pack(&segment, pipe->config.kernels, in, error, slot->message);
    keep_residual(pipe, &segment, &span, in, slot->message);
    return start_send(pipe, slot, bytes, round->send_peer);
}

/* ARC_IN_PROGRESS: the next message is not there yet, or has no room. */
static ARC_MUST_CHECK arc_status_t send_next(quant_pipeline_t *pipe)
{
    if (pipe->send_next == pipe->end || pipe->sendings == pipe->plan.slots) {
        return ARC_IN_PROGRESS;
    }
    const place_t place = quant_pipeline_place(pipe, pipe->send_next);
    const quant_round_t *round = &pipe->round[place.round];
    if (QUANT_AFTER_NOTHING != round->send_after) {
        uint64_t rounds_since = place.round - (unsigned) round->send_after;
        if (pipe->send_next - rounds_since * pipe->window >= pipe->receive_next) {
            return ARC_IN_PROGRESS;
        }
    }
    if (is_reduce(pipe, place.round)) {
        return send_sum(pipe, &place);
    }
    slot_t *slot = cell_of(pipe, round->send_shard, place.lane)->kept;
    return start_send(pipe, slot, slot->bytes, round->send_peer);
}

/* All that can be sent now. */
static ARC_MUST_CHECK arc_status_t send_ready(quant_pipeline_t *pipe)
{
    arc_status_t status = ARC_OK;

    while (ARC_OK == status) {
        status = send_next(pipe);
    }
    return ARC_IN_PROGRESS == status ? ARC_OK : status;
}

/* The slot has a total: first send it to whom it has to go, then decode it. */
static ARC_MUST_CHECK arc_status_t pass_total(quant_pipeline_t *pipe, slot_t *slot, size_t bytes,
                                              const place_t *place, const quant_span_t *span)
{
    const quant_round_t *round = &pipe->round[place->round];
    const quant_wire_segment_t segment = segment_of(pipe, false, place, round->receive_shard, span);
    const quant_format_t *format = NULL;
    arc_status_t status = quant_wire_check(&segment, slot->message, bytes, &format);

    slot->kept = true;
    slot->bytes = bytes;
    slot->users = round->forwards + 1;
    ++pipe->kept;
    cell_of(pipe, round->receive_shard, place->lane)->kept = slot;
    if (ARC_OK == status) {
        const float bound = quant_wire_bound(slot->message);
        pipe->bound = bound > pipe->bound ? bound : pipe->bound;
        status = send_ready(pipe);
    }
    if (ARC_OK == status) {
        quant_wire_unpack(&segment, pipe->config.kernels, format, slot->message,
                          pipe->operation.recv + span->begin);
    }
    release(pipe, slot);
    return status;
}

/* Is the sum that this receive completes the next message, and can it be sent now? */
static bool can_pass_sum(const quant_pipeline_t *pipe, const place_t *place)
{
    if (pipe->send_next == pipe->end || pipe->sendings == pipe->plan.slots ||
        pipe->coded == pipe->plan.flight) {
        return false;
    }
    const place_t next = quant_pipeline_place(pipe, pipe->send_next);
    return is_reduce(pipe, next.round) && next.segment == place->segment &&
           pipe->round[next.round].send_after == (int) place->round;
}

/* Replace the received message of the slot by that of `segment` with the sum of it and `x`. */
static size_t hop(quant_pipeline_t *pipe, slot_t *slot, const quant_wire_segment_t *segment,
                  const quant_format_t *from, const quant_span_t *span, const float *x, float error)
{
    const quant_kernels_t *kernels = pipe->config.kernels;
    uint8_t *received = slot->message;
    size_t bytes = 0;

    if (NULL == pipe->operation.residual) {
        bytes = quant_wire_hop(segment, kernels, from, received, x, error, pipe->tile, pipe->spare);
    } else {
        const quant_wire_segment_t taken = quant_wire_received(segment);
        error = quant_wire_add(&taken, kernels, from, received, x, error, pipe->own);
        bytes = quant_wire_pack(segment, kernels, pipe->own, error, pipe->spare);
        keep_residual(pipe, segment, span, pipe->own, pipe->spare);
    }
    slot->message = pipe->spare;
    pipe->spare = received;
    return bytes;
}

/* The slot has the sum of the subtree. */
static ARC_MUST_CHECK arc_status_t pass_sum(quant_pipeline_t *pipe, slot_t *slot, size_t bytes)
{
    const place_t place = quant_pipeline_place(pipe, pipe->send_next);

    slot->kept = false;
    slot->users = 1;
    ++pipe->coded;
    return start_send(pipe, slot, bytes, pipe->round[place.round].send_peer);
}

/*
 * A partial sum has arrived: add it.  What becomes a total, or can be sent at once, goes straight
 * into a message; other sums are kept.
 */
static ARC_MUST_CHECK arc_status_t add_partial(quant_pipeline_t *pipe, slot_t *slot, size_t bytes,
                                               const place_t *place, const quant_span_t *span)
{
    const quant_round_t *round = &pipe->round[place->round];
    const quant_wire_segment_t segment = segment_of(pipe, true, place, round->receive_shard, span);
    const quant_format_t *format = NULL;
    arc_status_t status = quant_wire_check(&segment, slot->message, bytes, &format);

    if (ARC_OK != status) {
        pipe->free_slot[pipe->free_slots++] = slot;
        return status;
    }
    cell_t *cell = cell_of(pipe, round->receive_shard, place->lane);
    float error = cell->error;
    const float *x = round->opens ? own_part(pipe, span, &error) : cell->sum;
    if (round->totals || can_pass_sum(pipe, place)) {
        const place_t sent = quant_pipeline_place(pipe, pipe->send_next);
        quant_wire_segment_t next = segment_of(pipe, !round->totals, round->totals ? place : &sent,
                                               round->receive_shard, span);
        next.received_key = segment.transform.key;
        bytes = hop(pipe, slot, &next, format, span, x, error);
        if (!round->opens) {
            pipe->free_sum[pipe->free_sums++] = cell->sum;
        }
        return round->totals ? pass_total(pipe, slot, bytes, place, span)
                             : pass_sum(pipe, slot, bytes);
    }
    if (round->opens) {
        cell->sum = pipe->free_sum[--pipe->free_sums];
    }
    cell->error =
        quant_wire_add(&segment, pipe->config.kernels, format, slot->message, x, error, cell->sum);
    pipe->free_slot[pipe->free_slots++] = slot;
    return ARC_OK;
}

/* Is there room for what the next receive makes? */
static bool can_act(const quant_pipeline_t *pipe)
{
    const quant_round_t *round = &pipe->round[quant_pipeline_place(pipe, pipe->receive_next).round];

    return (!round->opens || round->totals || 0 != pipe->free_sums) &&
           (0 == round->forwards || pipe->kept < pipe->plan.kept);
}

/* ARC_IN_PROGRESS: nothing has arrived, or there is no room for what it makes. */
static ARC_MUST_CHECK arc_status_t take_message(quant_pipeline_t *pipe)
{
    if (0 == pipe->receiving || !can_act(pipe)) {
        return ARC_IN_PROGRESS;
    }
    slot_t *slot = pipe->receiving_at[pipe->receiving_head];
    arc_status_t status = pipe->stream->ops->test(pipe->stream, &slot->receive);
    if (ARC_OK != status) {
        return status;
    }
    const size_t bytes = slot->receive.bytes;
    pipe->receiving_head = (pipe->receiving_head + 1) % pipe->plan.flight;
    --pipe->receiving;

    /* Keep the links busy while this message is worked on; its own slot is not yet free. */
    status = start_receives(pipe);
    if (ARC_OK != status) {
        return status;
    }
    const place_t place = quant_pipeline_place(pipe, pipe->receive_next);
    const quant_span_t span = quant_pipeline_received(pipe, &place);
    pipe->receive_next = quant_pipeline_skip(pipe, pipe->receive_next + 1, quant_pipeline_received);
    return is_reduce(pipe, place.round) ? add_partial(pipe, slot, bytes, &place, &span)
                                        : pass_total(pipe, slot, bytes, &place, &span);
}

/* ARC_OK: something was done; ARC_IN_PROGRESS: nothing can be done now. */
static ARC_MUST_CHECK arc_status_t act(quant_pipeline_t *pipe)
{
    arc_status_t status = reap_sends(pipe);
    if (ARC_OK == status) {
        status = start_receives(pipe);
    }
    if (ARC_OK == status) {
        status = send_next(pipe);
    }
    return ARC_IN_PROGRESS == status ? take_message(pipe) : status;
}

static bool is_complete(const quant_pipeline_t *pipe)
{
    return pipe->receive_next == pipe->end && pipe->send_next == pipe->end && 0 == pipe->sendings;
}

static arc_status_t progress(arc_task_t *task)
{
    quant_pipeline_t *pipe = (quant_pipeline_t *) task;
    arc_status_t status = pipe->status;

    while (ARC_OK == status && !is_complete(pipe)) {
        status = act(pipe);
        task->steps += ARC_OK == status;
    }
    if (ARC_OK != status && ARC_IN_PROGRESS != status) {
        quant_pipeline_abort(task);
        pipe->status = status;
    }
    return status;
}

static bool waits_for(const arc_task_t *task, unsigned rank)
{
    const quant_pipeline_t *pipe = (const quant_pipeline_t *) task;

    if (is_complete(pipe)) {
        return false;
    }
    if (0 != pipe->receiving && can_act(pipe)) {
        return rank ==
               pipe->round[quant_pipeline_place(pipe, pipe->receive_next).round].receive_peer;
    }
    for (unsigned i = 0; i < pipe->sendings; ++i) {
        if (rank == pipe->sending_at[i]->peer) {
            return true;
        }
    }
    return false;
}

const arc_task_ops_t quant_pipeline_ops = {.progress = progress, .waits_for = waits_for};

float quant_pipeline_bound(const arc_task_t *task)
{
    return ((const quant_pipeline_t *) task)->bound;
}

void quant_pipeline_abort(arc_task_t *task)
{
    quant_pipeline_t *pipe = (quant_pipeline_t *) task;

    for (; 0 != pipe->sendings; --pipe->sendings) {
        pipe->stream->ops->abort(pipe->stream, &pipe->sending_at[pipe->sendings - 1]->request);
    }
    for (; 0 != pipe->receiving; --pipe->receiving) {
        slot_t *slot = pipe->receiving_at[pipe->receiving_head];
        pipe->stream->ops->abort(pipe->stream, &slot->receive);
        pipe->receiving_head = (pipe->receiving_head + 1) % pipe->plan.flight;
    }
    pipe->status = ARC_ERR_TRANSPORT;
}
