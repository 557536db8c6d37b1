/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <string.h>

#include "exchange_pipeline.h"
#include "exchange_pipeline_pack.h"
#include "sizes.h"

/* The parts of the memory of a task, in their order. */
typedef enum part {
    PART_STATE,
    PART_ROUND,
    PART_PACK,
    PART_PACK_OF,
    PART_CELL,
    PART_SLOT,
    PART_SENDING,
    PART_RECEIVING_AT,
    PART_FREE_SLOT,
    PART_FREE_SUM,
    PART_SUMS,
    PART_SPARE,
    PART_BUFFERS,
    PARTS,
} part_t;

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

static size_t aligned(size_t bytes)
{
    return arc_round_up(bytes, EXCHANGE_ALIGN_BYTES);
}

/* Where each part begins, and behind the last one the end. */
static void lay_out(const plan_t *plan, const exchange_config_t *config, size_t begin[PARTS + 1])
{
    const size_t bytes[PARTS] = {
        [PART_STATE] = sizeof(exchange_pipeline_t),
        [PART_ROUND] = plan->rounds * sizeof(exchange_round_t),
        [PART_PACK] = (plan->rounds + 1) * sizeof(pack_t),
        [PART_PACK_OF] = plan->rounds * sizeof(int),
        [PART_CELL] = (size_t) plan->ranks * plan->window * sizeof(cell_t),
        [PART_SLOT] = plan->slots * sizeof(slot_t),
        [PART_SENDING] = plan->flight * sizeof(sending_t),
        [PART_RECEIVING_AT] = plan->flight * sizeof(slot_t *),
        [PART_FREE_SLOT] = plan->slots * sizeof(slot_t *),
        [PART_FREE_SUM] = plan->kept * sizeof(void *),
        [PART_SUMS] = plan->kept * aligned(config->sum_bytes),
        [PART_SPARE] = config->message_bytes,
        [PART_BUFFERS] = plan->slots * aligned(config->message_bytes),
    };

    arc_lay_out(bytes, PARTS, EXCHANGE_ALIGN_BYTES, begin);
}

size_t exchange_pipeline_memory_bytes(const exchange_config_t *config)
{
    const plan_t plan = plan_of(config);
    size_t begin[PARTS + 1];

    lay_out(&plan, config, begin);
    return begin[PARTS];
}

arc_task_t *exchange_pipeline_init(const exchange_config_t *config, unsigned rank,
                                   arc_stream_t *stream, exchange_coder_t *coder, void *memory)
{
    const plan_t plan = plan_of(config);
    exchange_pipeline_t *pipe = memory;
    uint8_t *base = memory;
    size_t begin[PARTS + 1];

    lay_out(&plan, config, begin);
    memset(memory, 0, begin[PART_SUMS]);
    pipe->task.ops = &exchange_pipeline_ops;
    pipe->stream = stream;
    pipe->coder = coder;
    pipe->sum_bytes = aligned(config->sum_bytes);
    pipe->message_bytes = config->message_bytes;
    pipe->plan = plan;
    pipe->peer = config->peer;
    pipe->round = (exchange_round_t *) (base + begin[PART_ROUND]);
    pipe->pack = (pack_t *) (base + begin[PART_PACK]);
    pipe->pack_of = (int *) (base + begin[PART_PACK_OF]);
    pipe->cell = (cell_t *) (base + begin[PART_CELL]);
    pipe->slot = (slot_t *) (base + begin[PART_SLOT]);
    pipe->sending = (sending_t *) (base + begin[PART_SENDING]);
    pipe->receiving_at = (slot_t **) (base + begin[PART_RECEIVING_AT]);
    pipe->free_slot = (slot_t **) (base + begin[PART_FREE_SLOT]);
    pipe->free_sum = (void **) (base + begin[PART_FREE_SUM]);
    pipe->sums = base + begin[PART_SUMS];
    pipe->spare = base + begin[PART_SPARE];
    for (unsigned i = 0; i < plan.slots; ++i) {
        pipe->slot[i].buffer = base + begin[PART_BUFFERS] + i * aligned(config->message_bytes);
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
