/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "exchange_pipeline_state.h"

place_t exchange_pipeline_place(const exchange_pipeline_t *pipe, uint64_t index)
{
    const uint64_t row = index / pipe->window;
    const unsigned lane = (unsigned) (index % pipe->window);

    return (place_t){
        .round = pipe->first + (unsigned) (row % pipe->rounds),
        .lane = lane,
        .segment = (size_t) (row / pipe->rounds * pipe->window + lane),
    };
}

exchange_span_t exchange_pipeline_sent(const exchange_pipeline_t *pipe, const place_t *place)
{
    return exchange_layout_segment(&pipe->layout, pipe->round[place->round].send_shard,
                                   place->segment);
}

exchange_span_t exchange_pipeline_received(const exchange_pipeline_t *pipe, const place_t *place)
{
    return exchange_layout_segment(&pipe->layout, pipe->round[place->round].receive_shard,
                                   place->segment);
}

uint64_t exchange_pipeline_skip(const exchange_pipeline_t *pipe, uint64_t index,
                                exchange_span_t (*span_at)(const exchange_pipeline_t *,
                                                           const place_t *))
{
    for (; index < pipe->end; ++index) {
        place_t place = exchange_pipeline_place(pipe, index);
        if (0 != span_at(pipe, &place).elems) {
            break;
        }
    }
    return index;
}

exchange_message_t exchange_pipeline_partial(const exchange_pipeline_t *pipe, const place_t *place,
                                             unsigned shard, const exchange_span_t *span)
{
    return (exchange_message_t){
        .partial = true,
        .inside = pipe->round[place->round].inside,
        .round = place->round,
        .shard = shard,
        .segment = place->segment,
        .span = *span,
    };
}

exchange_message_t exchange_pipeline_total(const exchange_pipeline_t *pipe, const place_t *place,
                                           unsigned shard, const exchange_span_t *span)
{
    return (exchange_message_t){
        .round = pipe->plan.rounds,
        .shard = shard,
        .segment = place->segment,
        .span = *span,
    };
}

void exchange_pipeline_release(exchange_pipeline_t *pipe, slot_t *slot)
{
    assert(slot->users > 0);
    if (0 == --slot->users) {
        *(slot->kept ? &pipe->kept : &pipe->coded) -= 1;
        exchange_pipeline_free_slot(pipe, slot);
    }
}

void exchange_pipeline_keep(exchange_pipeline_t *pipe, slot_t *slot, size_t bytes,
                            unsigned forwards, cell_t *cell)
{
    slot->kept = true;
    slot->bytes = bytes;
    slot->users = forwards + 1;
    ++pipe->kept;
    cell->kept = slot;
}

void exchange_pipeline_code(exchange_pipeline_t *pipe, slot_t *slot)
{
    assert(pipe->coded < pipe->plan.flight);
    slot->kept = false;
    slot->users = 1;
    ++pipe->coded;
}

arc_status_t exchange_pipeline_reap_sends(exchange_pipeline_t *pipe)
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
        exchange_pipeline_release(pipe, sending->slot);
        pipe->sending_at[i] = pipe->sending_at[--pipe->sendings];
        pipe->sending_at[pipe->sendings] = sending;
    }
    return ARC_OK;
}

arc_status_t exchange_pipeline_start_send(exchange_pipeline_t *pipe, slot_t *slot, size_t bytes,
                                          unsigned peer)
{
    assert(pipe->sendings < pipe->plan.slots);
    sending_t *sending = pipe->sending_at[pipe->sendings];
    arc_status_t status =
        pipe->stream->ops->send(pipe->stream, NULL == pipe->peer ? peer : pipe->peer[peer],
                                slot->message, bytes, &sending->request);

    if (ARC_OK == status) {
        sending->peer = peer;
        sending->slot = slot;
        ++pipe->sendings;
        pipe->send_next = exchange_pipeline_skip(pipe, pipe->send_next + 1, exchange_pipeline_sent);
    }
    return status;
}

/* The slot gets the message of `x`, or of the own part; its bytes. */
static size_t make_partial(exchange_pipeline_t *pipe, const exchange_message_t *message,
                           const exchange_sum_t *x, slot_t *slot)
{
    const exchange_coder_ops_t *ops = pipe->coder->ops;
    const void *part =
        NULL == x && NULL != ops->part_at ? ops->part_at(pipe->coder, message) : NULL;

    if (NULL != part) {
        slot->message = part;
        return ops->capacity(pipe->coder, message);
    }
    return ops->encode(pipe->coder, message, x, slot->buffer);
}

/* Send the sum of the subtree, or the own part of a leaf. */
static ARC_MUST_CHECK arc_status_t send_sum(exchange_pipeline_t *pipe, const place_t *place)
{
    const exchange_round_t *round = &pipe->round[place->round];
    const exchange_span_t span = exchange_pipeline_sent(pipe, place);
    const exchange_message_t message =
        exchange_pipeline_partial(pipe, place, round->send_shard, &span);
    const exchange_sum_t *x = NULL;

    if (pipe->coded == pipe->plan.flight || 0 == pipe->free_slots) {
        return ARC_IN_PROGRESS;
    }
    slot_t *slot = exchange_pipeline_take_slot(pipe);
    exchange_pipeline_code(pipe, slot);
    if (EXCHANGE_AFTER_NOTHING != round->send_after) {
        x = &exchange_pipeline_cell(pipe, round->send_shard, place->lane)->sum;
        /* Free for the next one already: it is read before anything else happens. */
        exchange_pipeline_free_sum(pipe, x->numbers);
    }
    const size_t bytes = make_partial(pipe, &message, x, slot);
    return exchange_pipeline_start_send(pipe, slot, bytes, round->send_peer);
}

/* An allgather: the own block is the total.  Encode it, send it for the first time, store it. */
static ARC_MUST_CHECK arc_status_t send_own(exchange_pipeline_t *pipe, const place_t *place)
{
    const exchange_span_t span = exchange_pipeline_sent(pipe, place);
    const exchange_message_t message =
        exchange_pipeline_total(pipe, place, pipe->round[place->round].send_shard, &span);
    /* The round of an allreduce in which the total of the own shard is complete. */
    const exchange_round_t *totals = &pipe->round[place->round - 1];

    if (pipe->kept >= pipe->plan.kept || 0 == pipe->free_slots) {
        return ARC_IN_PROGRESS;
    }
    slot_t *slot = exchange_pipeline_take_slot(pipe);
    const size_t bytes = pipe->coder->ops->encode(pipe->coder, &message, NULL, slot->buffer);
    exchange_pipeline_keep(pipe, slot, bytes, totals->forwards,
                           exchange_pipeline_cell(pipe, totals->receive_shard, place->lane));
    arc_status_t status =
        exchange_pipeline_start_send(pipe, slot, bytes, pipe->round[place->round].send_peer);
    if (ARC_OK == status) {
        pipe->coder->ops->store_total(pipe->coder, &message, slot->buffer);
    }
    exchange_pipeline_release(pipe, slot);
    return status;
}

arc_status_t exchange_pipeline_send_next(exchange_pipeline_t *pipe)
{
    if (pipe->send_next == pipe->end || pipe->sendings == pipe->plan.slots) {
        return ARC_IN_PROGRESS;
    }
    const place_t place = exchange_pipeline_place(pipe, pipe->send_next);
    const exchange_round_t *round = &pipe->round[place.round];
    if (place.segment >= pipe->available) {
        return ARC_IN_PROGRESS;
    }
    if (round->send_after >= (int) pipe->first) {
        uint64_t rounds_since = place.round - (unsigned) round->send_after;
        if (pipe->send_next - rounds_since * pipe->window >= pipe->receive_next) {
            return ARC_IN_PROGRESS;
        }
    }
    if (exchange_pipeline_is_reduce(pipe, place.round)) {
        return send_sum(pipe, &place);
    }
    if (place.round == pipe->first) {
        return send_own(pipe, &place);
    }
    slot_t *slot = exchange_pipeline_cell(pipe, round->send_shard, place.lane)->kept;
    return exchange_pipeline_start_send(pipe, slot, slot->bytes, round->send_peer);
}

arc_status_t exchange_pipeline_send_ready(exchange_pipeline_t *pipe)
{
    arc_status_t status = ARC_OK;

    while (ARC_OK == status) {
        status = exchange_pipeline_send_next(pipe);
    }
    return ARC_IN_PROGRESS == status ? ARC_OK : status;
}
