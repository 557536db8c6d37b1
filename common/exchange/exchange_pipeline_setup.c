/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <string.h>

#include "exchange_pipeline.h"
#include "exchange_pipeline_pack.h"

static plan_t plan_of(const exchange_config_t *config)
{
    const exchange_shape_t *shape = &config->shape;
    const unsigned open = exchange_tree_open_max(config->tree, shape);
    const unsigned half = (config->depth - 1) / 2;
    const unsigned window = open < half && 0 != open ? half / open : 1;

    return (plan_t){
        .ranks = exchange_shape_ranks(shape),
        .rounds = exchange_schedule_rounds(shape),
        .window = window,
        .flight = config->depth / 2,
        .kept = window * open,
        .slots = window * open + config->depth / 2 + 1,
    };
}

/* Where each part begins; NULL: counted. */
static exchange_pipeline_t *lay_out(exchange_pipeline_t *pipe, size_t buffer_bytes,
                                    arc_room_t *room)
{
    const plan_t *plan = &pipe->plan;
    const size_t cells = (size_t) plan->ranks * plan->window;
    exchange_pipeline_t *own = arc_room_take(room, sizeof *own);

    pipe->round = arc_room_take(room, plan->rounds * sizeof *pipe->round);
    pipe->pack = arc_room_take(room, (plan->rounds + 1) * sizeof *pipe->pack);
    pipe->pack_of = arc_room_take(room, plan->rounds * sizeof *pipe->pack_of);
    pipe->cell = arc_room_take(room, cells * sizeof *pipe->cell);
    pipe->slot = arc_room_take(room, plan->slots * sizeof *pipe->slot);
    pipe->sending = arc_room_take(room, plan->flight * sizeof *pipe->sending);
    pipe->receiving_at = arc_room_take(room, plan->flight * sizeof *pipe->receiving_at);
    pipe->free_slot = arc_room_take(room, plan->slots * sizeof *pipe->free_slot);
    pipe->free_sum = arc_room_take(room, plan->kept * sizeof *pipe->free_sum);
    pipe->sums = arc_room_take(room, plan->kept * pipe->sum_bytes);
    /* And behind it the buffers of the slots. */
    pipe->spare = arc_room_take(room, (plan->slots + 1) * buffer_bytes);
    return own;
}

arc_task_t *exchange_pipeline_init(const exchange_config_t *config, unsigned rank,
                                   arc_stream_t *stream, exchange_coder_t *coder, arc_room_t *room)
{
    const size_t buffer_bytes = arc_round_up(config->message_bytes, ARC_ALIGN_BYTES);
    exchange_pipeline_t made = {
        .task.ops = &exchange_pipeline_ops,
        .plan = plan_of(config),
        .sum_bytes = arc_round_up(config->sum_bytes, ARC_ALIGN_BYTES),
        .message_bytes = config->message_bytes,
        .peer = config->peer,
        .stream = stream,
        .coder = coder,
    };
    exchange_pipeline_t *pipe = lay_out(&made, buffer_bytes, room);

    if (NULL == pipe) {
        return NULL;
    }
    *pipe = made;
    memset(pipe->round, 0, (size_t) (pipe->sums - (uint8_t *) pipe->round));
    for (unsigned i = 0; i < pipe->plan.slots; ++i) {
        pipe->slot[i].buffer = pipe->spare + (i + 1) * buffer_bytes;
    }
    exchange_schedule_make(config->tree, &config->shape, rank, pipe->round);
    return &pipe->task;
}

static void free_all(exchange_pipeline_t *pipe)
{
    pipe->receiving_head = 0;
    pipe->receiving = 0;
    pipe->sendings = 0;
    pipe->kept = 0;
    for (unsigned i = 0; i < pipe->plan.flight; ++i) {
        pipe->sending[i].slot = NULL;
    }
    pipe->free_slots = pipe->plan.slots;
    for (unsigned i = 0; i < pipe->plan.slots; ++i) {
        pipe->free_slot[i] = &pipe->slot[i];
    }
    pipe->free_sums = pipe->plan.kept;
    for (unsigned i = 0; i < pipe->plan.kept; ++i) {
        pipe->free_sum[i] = pipe->sums + i * pipe->sum_bytes;
    }
}

/* All rounds on a vector, or half of them on blocks. */
static void choose_rounds(exchange_pipeline_t *pipe)
{
    const bool is_stage = EXCHANGE_ALLREDUCE != pipe->operation.collective;
    const unsigned half = pipe->plan.rounds / 2;

    pipe->first = EXCHANGE_ALLGATHER == pipe->operation.collective ? half : 0;
    pipe->rounds = is_stage ? half : pipe->plan.rounds;
}

/* What the part of a round has at most in a pack: that of the longest shard and segment. */
static size_t part_bytes(const exchange_pipeline_t *pipe, unsigned round)
{
    const exchange_layout_t *layout = &pipe->operation.layout;
    const size_t last = exchange_layout_segments(layout) - 1; /* of chunks it may be the longest */
    const exchange_span_t spans[] = {exchange_layout_segment(layout, 0, 0),
                                     exchange_layout_segment(layout, 0, last)};
    const bool partial = round < pipe->plan.rounds / 2;
    const exchange_message_t message = {
        .partial = partial,
        .inside = partial && pipe->round[round].inside,
        .span = spans[spans[1].elems > spans[0].elems],
    };

    return pipe->coder->ops->capacity(pipe->coder, &message);
}

/*
 * May `round` be in one message with those from `begin` on?  The same on all ranks.  A round that
 * makes totals goes alone, and the first one of an allgather, which makes those of its own blocks.
 */
static bool can_join(const exchange_pipeline_t *pipe, unsigned begin, unsigned round, size_t bytes)
{
    const exchange_round_t *head = &pipe->round[begin];
    const exchange_round_t *next = &pipe->round[round];

    return next->send_peer == head->send_peer && next->receive_peer == head->receive_peer &&
           next->inside == head->inside && next->send_after < (int) begin && !head->totals &&
           !next->totals && (0 == begin || begin != pipe->first) &&
           exchange_pack_bytes(round + 1 - begin, bytes) <= pipe->message_bytes;
}

/*
 * Which rounds share messages: consecutive ones of one stage with the same peers, none of which
 * sends what another one receives, as many as there is room for.
 */
static void make_packs(exchange_pipeline_t *pipe)
{
    const unsigned end = pipe->first + pipe->rounds;
    pack_t *pack = pipe->pack;
    size_t bytes = 0;

    pipe->packs = 0;
    for (unsigned round = pipe->first; round < end; ++round) {
        const int after = pipe->round[round].send_after;
        const bool begins = pipe->first == round || pipe->plan.rounds / 2 == round;
        if (begins || pipe->round[round].inside != pipe->round[round - 1].inside) {
            bytes = part_bytes(pipe, round);
        }
        if (begins || !can_join(pipe, pack->round, round, bytes)) {
            pack = &pipe->pack[pipe->packs++];
            *pack = (pack_t){.round = round, .after = EXCHANGE_AFTER_NOTHING};
        }
        pipe->pack_of[round] = (int) pipe->packs - 1;
        if (after >= (int) pipe->first && pipe->pack_of[after] > pack->after) {
            pack->after = pipe->pack_of[after];
        }
    }
    pipe->pack[pipe->packs].round = end;
}

/*
 * The segments that travel together: not more than there are, for lanes that no shard has segments
 * for would only have to be skipped, nor than may be available at a time.
 */
static unsigned window_of(const exchange_pipeline_t *pipe, size_t segments)
{
    const size_t at_once = pipe->operation.at_once;
    size_t window = pipe->plan.window;

    window = segments < window ? segments : window;
    window = 0 != at_once && at_once < window ? at_once : window;
    return 0 == window ? 1 : (unsigned) window;
}

void exchange_pipeline_start(arc_task_t *task, const exchange_operation_t *operation)
{
    exchange_pipeline_t *pipe = (exchange_pipeline_t *) task;
    const size_t segments = exchange_layout_segments(&operation->layout);

    assert(operation->layout.shards == pipe->plan.ranks);
    pipe->operation = *operation;
    choose_rounds(pipe);
    if (0 != segments) {
        make_packs(pipe);
    }
    pipe->status = ARC_OK;
    free_all(pipe);
    pipe->available = 0 == operation->at_once ? SIZE_MAX : 0;
    pipe->window = window_of(pipe, segments);
    pipe->end = (uint64_t) (arc_divide_up(segments, pipe->window)) * pipe->packs * pipe->window;
    pipe->send_next = exchange_pipeline_skip(pipe, 0, true);
    pipe->receive_next = exchange_pipeline_skip(pipe, 0, false);
    pipe->start_next = pipe->receive_next;
}
