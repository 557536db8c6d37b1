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

uint64_t exchange_pipeline_skip(const exchange_pipeline_t *pipe, uint64_t index, bool sent)
{
    for (; index < pipe->end; ++index) {
        const place_t place = exchange_pipeline_place(pipe, index);
        const exchange_round_t *round = &pipe->round[place.round];
        const unsigned shard = sent ? round->send_shard : round->receive_shard;
        if (0 != exchange_layout_segment(&pipe->layout, shard, place.segment).elems) {
            break;
        }
    }
    return index;
}

exchange_message_t exchange_pipeline_message(const exchange_pipeline_t *pipe, const place_t *place,
                                             unsigned shard, bool partial)
{
    return (exchange_message_t){
        .partial = partial,
        .inside = partial && pipe->round[place->round].inside,
        .round = partial ? place->round : pipe->plan.rounds,
        .shard = shard,
        .segment = place->segment,
        .span = exchange_layout_segment(&pipe->layout, shard, place->segment),
    };
}

void exchange_pipeline_release(exchange_pipeline_t *pipe, slot_t *slot)
{
    assert(slot->users > 0);
    if (0 == --slot->users) {
        exchange_pipeline_free_slot(pipe, slot);
    }
}

void exchange_pipeline_keep(exchange_pipeline_t *pipe, slot_t *slot, size_t bytes,
                            unsigned forwards, cell_t *cell)
{
    slot->bytes = bytes;
    slot->users = forwards + 1;
    slot->forwards = forwards;
    pipe->kept += 0 != forwards;
    assert(pipe->kept <= pipe->plan.kept);
    cell->kept = slot;
}

arc_status_t exchange_pipeline_reap_sends(exchange_pipeline_t *pipe)
{
    for (unsigned i = 0; i < pipe->plan.flight; ++i) {
        sending_t *sending = &pipe->sending[i];
        if (NULL == sending->slot) {
            continue;
        }
        arc_status_t status = pipe->stream->ops->test(pipe->stream, &sending->request);
        if (ARC_IN_PROGRESS == status) {
            continue;
        }
        if (ARC_OK != status) {
            return status;
        }
        exchange_pipeline_release(pipe, sending->slot);
        sending->slot = NULL;
        --pipe->sendings;
    }
    return ARC_OK;
}

arc_status_t exchange_pipeline_start_send(exchange_pipeline_t *pipe, slot_t *slot, size_t bytes)
{
    const place_t place = exchange_pipeline_place(pipe, pipe->send_next);
    const unsigned peer = pipe->round[place.round].send_peer;
    sending_t *sending = pipe->sending;

    assert(pipe->sendings < pipe->plan.flight);
    while (NULL != sending->slot) {
        ++sending;
    }
    arc_status_t status =
        pipe->stream->ops->send(pipe->stream, NULL == pipe->peer ? peer : pipe->peer[peer],
                                slot->message, bytes, &sending->request);
    if (ARC_OK == status) {
        sending->peer = peer;
        sending->slot = slot;
        ++pipe->sendings;
        if (0 != slot->forwards) {
            pipe->kept -= 0 == --slot->forwards;
        }
        pipe->send_next = exchange_pipeline_skip(pipe, pipe->send_next + 1, true);
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
    const exchange_message_t message =
        exchange_pipeline_message(pipe, place, round->send_shard, true);
    const exchange_sum_t *x = NULL;

    if (0 == pipe->free_slots) {
        return ARC_IN_PROGRESS;
    }
    slot_t *slot = exchange_pipeline_take_slot(pipe);
    if (EXCHANGE_AFTER_NOTHING != round->send_after) {
        x = &exchange_pipeline_cell(pipe, round->send_shard, place->lane)->sum;
        /* Free for the next one already: it is read before anything else happens. */
        exchange_pipeline_free_sum(pipe, x->numbers);
    }
    const size_t bytes = make_partial(pipe, &message, x, slot);
    return exchange_pipeline_start_send(pipe, slot, bytes);
}

/* An allgather: the own block is the total.  Encode it, send it for the first time, store it. */
static ARC_MUST_CHECK arc_status_t send_own(exchange_pipeline_t *pipe, const place_t *place)
{
    const exchange_message_t message =
        exchange_pipeline_message(pipe, place, pipe->round[place->round].send_shard, false);
    /* The round of an allreduce in which the total of the own shard is complete. */
    const exchange_round_t *totals = &pipe->round[place->round - 1];

    if (0 == pipe->free_slots) {
        return ARC_IN_PROGRESS;
    }
    slot_t *slot = exchange_pipeline_take_slot(pipe);
    const size_t bytes = pipe->coder->ops->encode(pipe->coder, &message, NULL, slot->buffer);
    exchange_pipeline_keep(pipe, slot, bytes, totals->forwards,
                           exchange_pipeline_cell(pipe, totals->receive_shard, place->lane));
    arc_status_t status = exchange_pipeline_start_send(pipe, slot, bytes);
    if (ARC_OK == status) {
        pipe->coder->ops->store_total(pipe->coder, &message, slot->buffer);
    }
    exchange_pipeline_release(pipe, slot);
    return status;
}

arc_status_t exchange_pipeline_send_next(exchange_pipeline_t *pipe)
{
    if (pipe->send_next == pipe->end || pipe->sendings == pipe->plan.flight) {
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
    return exchange_pipeline_start_send(pipe, slot, slot->bytes);
}

arc_status_t exchange_pipeline_send_ready(exchange_pipeline_t *pipe)
{
    arc_status_t status = ARC_OK;

    while (ARC_OK == status) {
        status = exchange_pipeline_send_next(pipe);
    }
    return ARC_IN_PROGRESS == status ? ARC_OK : status;
}
