/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "exchange_pipeline.h"
#include "exchange_pipeline_pack.h"

/* Where the message's total is wanted; NULL: in a buffer first. */
static void *total_at(const exchange_pipeline_t *pipe, const exchange_message_t *message)
{
    const exchange_coder_ops_t *ops = pipe->coder->ops;

    return message->partial || NULL == ops->total_at ? NULL : ops->total_at(pipe->coder, message);
}

static slot_t *take_slot(exchange_pipeline_t *pipe)
{
    assert(pipe->free_slots > 0);
    slot_t *slot = pipe->free_slot[--pipe->free_slots];
    slot->message = slot->buffer;
    slot->users = 1;
    slot->forwards = 0;
    return slot;
}

/* Free the slots of sends that are over. */
static ARC_MUST_CHECK arc_status_t reap_sends(exchange_pipeline_t *pipe)
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
        exchange_keep_release(pipe, sending->slot);
        sending->slot = NULL;
        --pipe->sendings;
        ++pipe->task.steps; /* long ones may end when nothing else is left to do */
    }
    return ARC_OK;
}

/* Send what the slot has, from `message` on: the next message. */
static ARC_MUST_CHECK arc_status_t start_send(exchange_pipeline_t *pipe, slot_t *slot,
                                              const void *message, size_t bytes)
{
    const place_t place = exchange_pipeline_place(pipe, pipe->send_next);
    const unsigned peer = pipe->round[place.round].send_peer;
    sending_t *sending = pipe->sending;

    assert(pipe->sendings < pipe->plan.flight);
    while (NULL != sending->slot) {
        ++sending;
    }
    arc_status_t status =
        pipe->stream->ops->send(pipe->stream, NULL == pipe->peer ? peer : pipe->peer[peer], message,
                                bytes, &sending->request);
    if (ARC_OK == status) {
        sending->peer = peer;
        sending->slot = slot;
        ++pipe->sendings;
        if (0 != slot->forwards) {
            exchange_keep_forwarded(pipe, slot);
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
static ARC_MUST_CHECK arc_status_t send_sum(exchange_pipeline_t *pipe, const place_t *place,
                                            slot_t *slot)
{
    const exchange_message_t message =
        exchange_keep_message(pipe, place, pipe->round[place->round].send_shard, true);
    const size_t bytes = make_partial(pipe, &message, exchange_keep_sent(pipe, place), slot);

    return start_send(pipe, slot, slot->message, bytes);
}

/* An allgather: the own block is the total.  Encode it, send it for the first time, store it. */
static ARC_MUST_CHECK arc_status_t send_own(exchange_pipeline_t *pipe, const place_t *place,
                                            slot_t *slot)
{
    const exchange_message_t message =
        exchange_keep_message(pipe, place, pipe->round[place->round].send_shard, false);
    /* Where in an allreduce the total of the own shard is complete. */
    const place_t totals = {.round = place->round - 1, .lane = place->lane};
    const size_t bytes = pipe->coder->ops->encode(pipe->coder, &message, NULL, slot->buffer);

    exchange_keep_total(pipe, slot, slot->buffer, bytes, &totals, message.shard);
    arc_status_t status = start_send(pipe, slot, slot->buffer, bytes);
    if (ARC_OK == status) {
        pipe->coder->ops->store_total(pipe->coder, &message, slot->buffer);
    }
    exchange_keep_release(pipe, slot);
    return status;
}

/* ARC_IN_PROGRESS: the next message is not there yet, or has no room. */
static ARC_MUST_CHECK arc_status_t send_next(exchange_pipeline_t *pipe)
{
    if (pipe->send_next == pipe->end || pipe->sendings == pipe->plan.flight) {
        return ARC_IN_PROGRESS;
    }
    const place_t place = exchange_pipeline_place(pipe, pipe->send_next);
    if (place.segment >= pipe->available) {
        return ARC_IN_PROGRESS;
    }
    if (EXCHANGE_AFTER_NOTHING != place.after) {
        uint64_t packs_since = place.pack - (unsigned) place.after;
        if (pipe->send_next - packs_since * pipe->window >= pipe->receive_next) {
            return ARC_IN_PROGRESS;
        }
    }
    const bool is_pack = exchange_pipeline_is_pack(&place);
    const bool is_sum = exchange_keep_is_reduce(pipe, place.round);
    if (!is_pack && !is_sum && place.round != pipe->first) {
        const cell_t *cell =
            exchange_keep_cell(pipe, pipe->round[place.round].send_shard, place.lane);
        return start_send(pipe, cell->kept, cell->total, cell->total_bytes);
    }
    if (0 == pipe->free_slots) {
        return ARC_IN_PROGRESS;
    }
    slot_t *slot = take_slot(pipe);
    return is_pack  ? start_send(pipe, slot, slot->buffer, exchange_pack_make(pipe, &place, slot))
           : is_sum ? send_sum(pipe, &place, slot)
                    : send_own(pipe, &place, slot);
}

/* All that can be sent now. */
static ARC_MUST_CHECK arc_status_t send_ready(exchange_pipeline_t *pipe)
{
    arc_status_t status = ARC_OK;

    while (ARC_OK == status) {
        status = send_next(pipe);
    }
    return ARC_IN_PROGRESS == status ? ARC_OK : status;
}

/* ---- what comes ---- */

static ARC_MUST_CHECK arc_status_t start_receives(exchange_pipeline_t *pipe)
{
    while (pipe->receiving < pipe->plan.flight && pipe->start_next < pipe->end &&
           0 != pipe->free_slots) {
        const place_t place = exchange_pipeline_place(pipe, pipe->start_next);
        const exchange_message_t message = exchange_keep_received(pipe, &place);
        const unsigned peer = pipe->round[place.round].receive_peer;
        const bool is_pack = exchange_pipeline_is_pack(&place);
        void *result = is_pack ? NULL : total_at(pipe, &message);
        slot_t *slot = pipe->free_slot[pipe->free_slots - 1];
        void *into = NULL == result ? slot->buffer : result;
        arc_status_t status = pipe->stream->ops->receive(
            pipe->stream, NULL == pipe->peer ? peer : pipe->peer[peer], into,
            is_pack ? pipe->message_bytes : pipe->coder->ops->capacity(pipe->coder, &message),
            &slot->receive);
        if (ARC_OK != status) {
            return status;
        }
        (void) take_slot(pipe);
        slot->message = into;
        pipe->receiving_at[(pipe->receiving_head + pipe->receiving) % pipe->plan.flight] = slot;
        ++pipe->receiving;
        pipe->start_next = exchange_pipeline_skip(pipe, pipe->start_next + 1, false);
    }
    return ARC_OK;
}

/* The slot has a total: first send it to whom it has to go, then store it. */
static ARC_MUST_CHECK arc_status_t pass_total(exchange_pipeline_t *pipe, slot_t *slot, size_t bytes,
                                              const place_t *place,
                                              const exchange_message_t *message)
{
    exchange_keep_total(pipe, slot, slot->message, bytes, place, message->shard);
    arc_status_t status = send_ready(pipe);
    if (ARC_OK == status && slot->message == slot->buffer) {
        pipe->coder->ops->store_total(pipe->coder, message, slot->buffer);
    }
    exchange_keep_release(pipe, slot);
    return status;
}

/* Act on a message of several rounds. */
static ARC_MUST_CHECK arc_status_t take_pack(exchange_pipeline_t *pipe, slot_t *slot,
                                             const place_t *place)
{
    arc_status_t status = ARC_OK;

    if (exchange_keep_is_reduce(pipe, place->round)) {
        exchange_pack_add(pipe, place, slot);
    } else {
        exchange_pack_keep(pipe, place, slot);
        status = send_ready(pipe);
        if (ARC_OK == status) {
            exchange_pack_store(pipe, place, slot);
        }
    }
    exchange_keep_release(pipe, slot);
    return status;
}

/* Is the sum that this receive completes the next message, and can it be sent now? */
static bool can_pass_sum(const exchange_pipeline_t *pipe, const place_t *place)
{
    if (pipe->send_next == pipe->end || pipe->sendings == pipe->plan.flight) {
        return false;
    }
    const place_t next = exchange_pipeline_place(pipe, pipe->send_next);
    return exchange_keep_is_reduce(pipe, next.round) && !exchange_pipeline_is_pack(&next) &&
           next.segment == place->segment &&
           pipe->round[next.round].send_after == (int) place->round;
}

/* Replace the received message of the slot by `sent`, with the sum of it and `x`; its bytes. */
static size_t hop_in_slot(exchange_pipeline_t *pipe, slot_t *slot,
                          const exchange_message_t *received, const exchange_sum_t *x,
                          const exchange_message_t *sent)
{
    uint8_t *buffer = slot->buffer;
    void *result = total_at(pipe, sent);

    if (NULL == result) {
        result = pipe->spare;
        slot->buffer = pipe->spare;
        pipe->spare = buffer;
    }
    slot->message = result;
    return pipe->coder->ops->hop(pipe->coder, received, buffer, x, sent, result);
}

/*
 * A partial sum has arrived: add it.  What becomes a total, or can be sent at once, goes straight
 * into a message; other sums are kept.
 */
static ARC_MUST_CHECK arc_status_t add_partial(exchange_pipeline_t *pipe, slot_t *slot,
                                               const place_t *place,
                                               const exchange_message_t *message)
{
    const exchange_round_t *round = &pipe->round[place->round];
    const cell_t *cell = exchange_keep_cell(pipe, message->shard, place->lane);
    const exchange_sum_t *x = round->opens ? NULL : &cell->sum;
    const bool is_stored = round->totals && EXCHANGE_REDUCE_SCATTER == pipe->operation.collective;
    const bool is_passed = round->totals || can_pass_sum(pipe, place);

    if (!is_passed) {
        exchange_keep_add(pipe, place, message, slot->buffer);
        exchange_keep_free_slot(pipe, slot);
        return ARC_OK;
    }
    if (!round->opens) {
        /* Free for the next one already: it is read before anything else happens. */
        exchange_keep_free_sum(pipe, x->numbers);
    }
    if (is_stored) {
        pipe->coder->ops->store_sum(pipe->coder, message, slot->buffer, x);
        exchange_keep_free_slot(pipe, slot);
        return ARC_OK;
    }
    const place_t at = round->totals ? *place : exchange_pipeline_place(pipe, pipe->send_next);
    const exchange_message_t sent =
        exchange_keep_message(pipe, &at, message->shard, !round->totals);
    const size_t bytes = hop_in_slot(pipe, slot, message, x, &sent);
    return round->totals ? pass_total(pipe, slot, bytes, place, &sent)
                         : start_send(pipe, slot, slot->message, bytes);
}

/*
 * The invariant (exchange_pipeline.h): a message is acted on only when the own messages up to its
 * place are sent.
 */
static bool can_act(const exchange_pipeline_t *pipe)
{
    return pipe->send_next > pipe->receive_next &&
           exchange_pipeline_place(pipe, pipe->receive_next).segment < pipe->available;
}

/* ARC_IN_PROGRESS: nothing has arrived, or it is not yet its turn. */
static ARC_MUST_CHECK arc_status_t take_message(exchange_pipeline_t *pipe)
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
    const place_t place = exchange_pipeline_place(pipe, pipe->receive_next);
    const exchange_message_t message = exchange_keep_received(pipe, &place);
    const bool is_pack = exchange_pipeline_is_pack(&place);
    status = is_pack ? exchange_pack_check(pipe, &place, slot, bytes)
                     : pipe->coder->ops->check(pipe->coder, &message, slot->message, bytes);
    if (ARC_OK != status) {
        exchange_keep_free_slot(pipe, slot);
        return status;
    }
    pipe->receive_next = exchange_pipeline_skip(pipe, pipe->receive_next + 1, false);
    if (is_pack) {
        return take_pack(pipe, slot, &place);
    }
    return message.partial ? add_partial(pipe, slot, &place, &message)
                           : pass_total(pipe, slot, bytes, &place, &message);
}

/* ARC_OK: something was done; ARC_IN_PROGRESS: nothing can be done now. */
static ARC_MUST_CHECK arc_status_t do_next(exchange_pipeline_t *pipe)
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

static bool is_complete(const exchange_pipeline_t *pipe)
{
    return pipe->receive_next == pipe->end && pipe->send_next == pipe->end && 0 == pipe->sendings;
}

static void give_up(arc_task_t *task)
{
    exchange_pipeline_t *pipe = (exchange_pipeline_t *) task;

    for (unsigned i = 0; i < pipe->plan.flight; ++i) {
        arc_stream_abort(pipe->stream, &pipe->sending[i].request);
    }
    pipe->sendings = 0;
    for (; 0 != pipe->receiving; --pipe->receiving) {
        slot_t *slot = pipe->receiving_at[pipe->receiving_head];
        pipe->stream->ops->abort(pipe->stream, &slot->receive);
        pipe->receiving_head = (pipe->receiving_head + 1) % pipe->plan.flight;
    }
    pipe->status = ARC_ERR_TRANSPORT;
}

static arc_status_t progress(arc_task_t *task)
{
    exchange_pipeline_t *pipe = (exchange_pipeline_t *) task;
    arc_status_t status = pipe->status;

    while (ARC_OK == status && !is_complete(pipe)) {
        status = do_next(pipe);
        task->steps += ARC_OK == status;
    }
    if (ARC_OK != status && ARC_IN_PROGRESS != status) {
        give_up(task);
        pipe->status = status;
    }
    return status;
}

static bool waits_for(const arc_task_t *task, unsigned rank)
{
    const exchange_pipeline_t *pipe = (const exchange_pipeline_t *) task;

    if (is_complete(pipe)) {
        return false;
    }
    if (0 != pipe->receiving && can_act(pipe)) {
        return rank ==
               pipe->round[exchange_pipeline_place(pipe, pipe->receive_next).round].receive_peer;
    }
    for (unsigned i = 0; i < pipe->plan.flight; ++i) {
        if (NULL != pipe->sending[i].slot && rank == pipe->sending[i].peer) {
            return true;
        }
    }
    return false;
}

const arc_task_ops_t exchange_pipeline_ops = {
    .progress = progress, .waits_for = waits_for, .abort = give_up};

unsigned exchange_pipeline_ranks(const arc_task_t *task)
{
    return ((const exchange_pipeline_t *) task)->plan.ranks;
}

void exchange_pipeline_allow(arc_task_t *task, size_t segments)
{
    ((exchange_pipeline_t *) task)->available = segments;
}

size_t exchange_pipeline_completed(const arc_task_t *task)
{
    const exchange_pipeline_t *pipe = (const exchange_pipeline_t *) task;

    if (pipe->receive_next == pipe->end) {
        return exchange_layout_segments(&pipe->operation.layout);
    }
    /* The last round stores the segments of a window one by one; until then none of it is. */
    const place_t place = exchange_pipeline_place(pipe, pipe->receive_next);
    const bool is_last = place.end == pipe->first + pipe->rounds;
    return is_last ? place.segment : place.segment - place.lane;
}
