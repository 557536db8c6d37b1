/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "quant_pipeline_state.h"
#include "quant_wire.h"

static ARC_MUST_CHECK arc_status_t start_receives(quant_pipeline_t *pipe)
{
    while (pipe->receiving < pipe->plan.flight && pipe->start_next < pipe->end &&
           0 != pipe->free_slots) {
        const place_t place = quant_pipeline_place(pipe, pipe->start_next);
        const quant_span_t span = quant_pipeline_received(pipe, &place);
        const quant_round_t *round = &pipe->round[place.round];
        const quant_wire_segment_t segment = quant_pipeline_segment(
            pipe, quant_pipeline_is_reduce(pipe, place.round), &place, round->receive_shard, &span);
        slot_t *slot = pipe->free_slot[pipe->free_slots - 1];
        arc_status_t status = pipe->stream->ops->receive(
            pipe->stream, round->receive_peer, slot->message,
            pipe->numbers->bytes_max(segment.format, segment.elements, segment.block_rows),
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

/* The slot has a total: first send it to whom it has to go, then decode it. */
static ARC_MUST_CHECK arc_status_t pass_total(quant_pipeline_t *pipe, slot_t *slot, size_t bytes,
                                              const place_t *place, const quant_span_t *span)
{
    const quant_round_t *round = &pipe->round[place->round];
    const quant_wire_segment_t segment =
        quant_pipeline_segment(pipe, false, place, round->receive_shard, span);
    const quant_format_t *format = NULL;
    arc_status_t status = quant_wire_check(&segment, slot->message, bytes, &format);

    if (ARC_OK != status) {
        pipe->free_slot[pipe->free_slots++] = slot;
        return status;
    }
    quant_pipeline_keep(pipe, slot, bytes, round->forwards,
                        quant_pipeline_cell(pipe, round->receive_shard, place->lane));
    status = quant_pipeline_send_ready(pipe);
    if (ARC_OK == status) {
        quant_pipeline_decode_total(pipe, &segment, slot, format, span);
    }
    quant_pipeline_release(pipe, slot);
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
    return quant_pipeline_is_reduce(pipe, next.round) && next.segment == place->segment &&
           pipe->round[next.round].send_after == (int) place->round;
}

/* Replace the received message of the slot by that of `segment` with the sum of it and `x`. */
static size_t hop(quant_pipeline_t *pipe, slot_t *slot, const quant_wire_segment_t *segment,
                  const quant_format_t *from, const quant_span_t *span, const void *x, float error)
{
    const quant_kernels_t *kernels = pipe->config.kernels;
    const quant_numbers_t *numbers = pipe->numbers;
    const quant_scratch_t *scratch = &pipe->scratch;
    uint8_t *received = slot->message;
    size_t bytes = 0;

    if (NULL == pipe->operation.residual) {
        bytes = numbers->hop(segment, kernels, from, received, x, error, scratch, pipe->spare);
    } else {
        const quant_wire_segment_t taken = quant_wire_received(segment);
        error = numbers->add(&taken, kernels, from, received, x, error, scratch, scratch->numbers);
        bytes = numbers->pack(segment, kernels, scratch->numbers, error, scratch, pipe->spare);
        quant_pipeline_keep_residual(pipe, segment, span, scratch->numbers, pipe->spare);
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
    return quant_pipeline_start_send(pipe, slot, bytes, pipe->round[place.round].send_peer);
}

/* A reduce-scatter: the sum of the slot's message and `x` is the result as it is. */
static void store_total(quant_pipeline_t *pipe, const quant_wire_segment_t *segment, slot_t *slot,
                        const quant_format_t *format, const quant_span_t *span, const void *x,
                        float error)
{
    void *into = quant_pipeline_into(pipe, pipe->operation.recv, span->begin - pipe->own);
    const float bound = pipe->numbers->add(segment, pipe->config.kernels, format, slot->message, x,
                                           error, &pipe->scratch, into);

    pipe->bound = bound > pipe->bound ? bound : pipe->bound;
    pipe->free_slot[pipe->free_slots++] = slot;
}

/*
 * A partial sum has arrived: add it.  What becomes a total, or can be sent at once, goes straight
 * into a message; other sums are kept.
 */
static ARC_MUST_CHECK arc_status_t add_partial(quant_pipeline_t *pipe, slot_t *slot, size_t bytes,
                                               const place_t *place, const quant_span_t *span)
{
    const quant_round_t *round = &pipe->round[place->round];
    const quant_wire_segment_t segment =
        quant_pipeline_segment(pipe, true, place, round->receive_shard, span);
    const quant_format_t *format = NULL;
    arc_status_t status = quant_wire_check(&segment, slot->message, bytes, &format);

    if (ARC_OK != status) {
        pipe->free_slot[pipe->free_slots++] = slot;
        return status;
    }
    cell_t *cell = quant_pipeline_cell(pipe, round->receive_shard, place->lane);
    float error = cell->error;
    const void *x = round->opens ? quant_pipeline_own_part(pipe, span, &error) : cell->sum;
    if (round->totals && QUANT_PART_REDUCE_SCATTER == pipe->operation.part) {
        store_total(pipe, &segment, slot, format, span, x, error);
        if (!round->opens) {
            pipe->free_sum[pipe->free_sums++] = cell->sum;
        }
        return ARC_OK;
    }
    if (round->totals || can_pass_sum(pipe, place)) {
        const place_t sent = quant_pipeline_place(pipe, pipe->send_next);
        quant_wire_segment_t next = quant_pipeline_segment(
            pipe, !round->totals, round->totals ? place : &sent, round->receive_shard, span);
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
    cell->error = pipe->numbers->add(&segment, pipe->config.kernels, format, slot->message, x,
                                     error, &pipe->scratch, cell->sum);
    pipe->free_slot[pipe->free_slots++] = slot;
    return ARC_OK;
}

/*
 * A half: has the own part of all that the next receive is to overwrite been sent?  In a whole
 * allreduce each half waits for the other; quant_pipeline.h, "Halves", has the cases.
 */
static bool is_in_step(const quant_pipeline_t *pipe, const quant_round_t *round)
{
    const uint64_t at = pipe->receive_next;
    const uint64_t group = at - at % ((uint64_t) pipe->rounds * pipe->window);
    const uint64_t own_end = group + pipe->window;

    switch (pipe->operation.part) {
    case QUANT_PART_REDUCE_SCATTER:
        if (round->totals && pipe->operation.send == pipe->operation.recv) {
            return pipe->send_next > at;
        }
        return !round->opens || round->totals || pipe->send_next >= group;
    case QUANT_PART_ALLGATHER:
        return 0 == round->forwards || pipe->send_next > at || pipe->send_next >= own_end;
    default:
        return true;
    }
}

/* Is there room for what the next receive makes? */
static bool can_act(const quant_pipeline_t *pipe)
{
    const quant_round_t *round = &pipe->round[quant_pipeline_place(pipe, pipe->receive_next).round];
    const bool keeps = 0 != round->forwards && QUANT_PART_REDUCE_SCATTER != pipe->operation.part;

    return (!round->opens || round->totals || 0 != pipe->free_sums) &&
           (!keeps || pipe->kept < pipe->plan.kept) && is_in_step(pipe, round);
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
    return quant_pipeline_is_reduce(pipe, place.round)
               ? add_partial(pipe, slot, bytes, &place, &span)
               : pass_total(pipe, slot, bytes, &place, &span);
}

/* ARC_OK: something was done; ARC_IN_PROGRESS: nothing can be done now. */
static ARC_MUST_CHECK arc_status_t act(quant_pipeline_t *pipe)
{
    arc_status_t status = quant_pipeline_reap_sends(pipe);
    if (ARC_OK == status) {
        status = start_receives(pipe);
    }
    if (ARC_OK == status) {
        status = quant_pipeline_send_next(pipe);
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
