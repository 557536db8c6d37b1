/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <string.h>

#include "quant_pipeline_state.h"
#include "quant_wire.h"

/* The parts of the memory of a task, in their order. */
typedef enum part {
    PART_STATE,
    PART_ROUND,
    PART_CELL,
    PART_SLOT,
    PART_SENDING,
    PART_SENDING_AT,
    PART_RECEIVING_AT,
    PART_FREE_SLOT,
    PART_FREE_SUM,
    PART_SUMS,
    PART_NUMBERS,
    PART_FLOATS,
    PART_TILE,
    PART_SPARE,
    PART_MESSAGES,
    PARTS,
} part_t;

place_t quant_pipeline_place(const quant_pipeline_t *pipe, uint64_t index)
{
    const uint64_t row = index / pipe->window;
    const unsigned lane = (unsigned) (index % pipe->window);

    return (place_t){
        .round = pipe->first + (unsigned) (row % pipe->rounds),
        .lane = lane,
        .segment = (size_t) (row / pipe->rounds * pipe->window + lane),
    };
}

quant_span_t quant_pipeline_sent(const quant_pipeline_t *pipe, const place_t *place)
{
    return quant_layout_segment(&pipe->layout, pipe->round[place->round].send_shard,
                                place->segment);
}

quant_span_t quant_pipeline_received(const quant_pipeline_t *pipe, const place_t *place)
{
    return quant_layout_segment(&pipe->layout, pipe->round[place->round].receive_shard,
                                place->segment);
}

uint64_t quant_pipeline_skip(const quant_pipeline_t *pipe, uint64_t index,
                             quant_span_t (*span_at)(const quant_pipeline_t *, const place_t *))
{
    for (; index < pipe->end; ++index) {
        place_t place = quant_pipeline_place(pipe, index);
        if (0 != span_at(pipe, &place).elems) {
            break;
        }
    }
    return index;
}

static plan_t plan_of(const quant_algo_t *algo, const quant_config_t *config, unsigned ranks)
{
    const quant_shape_t shape = quant_algo_shape(algo, config, ranks);
    const unsigned open = quant_tree_open_max(algo->tree, &shape);
    /* With levels half of what is open only collects on its machine. */
    const unsigned half = (config->depth - 1) / 2 * (shape.per_machine > 1 ? 2 : 1);
    const unsigned window = open < half && 0 != open ? half / open : 1;
    const unsigned kept = window * open;

    return (plan_t){
        .rounds = quant_schedule_rounds(&shape),
        .shards = ranks,
        .window = window,
        .flight = config->depth / 2,
        .kept = kept,
        .slots = kept + config->depth / 2 + 1,
        .sums = kept,
    };
}

static size_t aligned(size_t bytes)
{
    return quant_divide_up(bytes, QUANT_MEMORY_ALIGN_BYTES) * QUANT_MEMORY_ALIGN_BYTES;
}

/* The largest numbers that operations may have. */
static const quant_numbers_t *largest_numbers(const quant_config_t *config)
{
    return config->doubles ? &quant_doubles : &quant_floats;
}

/* Of any call: whatever the rows of its tiles, a message that is exact is longer than coded. */
static size_t message_bytes(const quant_config_t *config)
{
    const quant_numbers_t *numbers = largest_numbers(config);
    size_t reduce =
        numbers->bytes_max(config->reduce_format, config->segment_elems, config->block_rows);
    size_t gather =
        numbers->bytes_max(config->gather_format, config->segment_elems, config->block_rows);
    return aligned(reduce > gather ? reduce : gather);
}

/* Where each part begins, and behind the last one the end. */
static void lay_out(const plan_t *plan, const quant_config_t *config, size_t begin[PARTS + 1])
{
    const size_t segment_bytes = config->segment_elems * largest_numbers(config)->bytes;
    const size_t bytes[PARTS] = {
        [PART_STATE] = sizeof(quant_pipeline_t),
        [PART_ROUND] = plan->rounds * sizeof(quant_round_t),
        [PART_CELL] = (size_t) plan->shards * plan->window * sizeof(cell_t),
        [PART_SLOT] = plan->slots * sizeof(slot_t),
        [PART_SENDING] = plan->slots * sizeof(sending_t),
        [PART_SENDING_AT] = plan->slots * sizeof(sending_t *),
        [PART_RECEIVING_AT] = plan->flight * sizeof(slot_t *),
        [PART_FREE_SLOT] = plan->slots * sizeof(slot_t *),
        [PART_FREE_SUM] = plan->sums * sizeof(void *),
        [PART_SUMS] = plan->sums * segment_bytes,
        [PART_NUMBERS] = config->feedback || config->doubles ? segment_bytes : 0,
        [PART_FLOATS] =
            config->doubles || config->outer ? config->segment_elems * sizeof(float) : 0,
        [PART_TILE] = quant_tile_elems(config->block_rows) * sizeof(float),
        [PART_SPARE] = message_bytes(config),
        [PART_MESSAGES] = plan->slots * message_bytes(config),
    };

    begin[0] = 0;
    for (unsigned part = 0; part < PARTS; ++part) {
        begin[part + 1] = begin[part] + aligned(bytes[part]);
    }
}

size_t quant_pipeline_memory_bytes(const quant_algo_t *algo, const quant_config_t *config,
                                   unsigned ranks)
{
    const plan_t plan = plan_of(algo, config, ranks);
    size_t begin[PARTS + 1];

    lay_out(&plan, config, begin);
    return begin[PARTS];
}

arc_task_t *quant_pipeline_init(const quant_algo_t *algo, const quant_config_t *config,
                                arc_stream_t *stream, void *memory)
{
    const plan_t plan = plan_of(algo, config, stream->ranks);
    const quant_shape_t shape = quant_algo_shape(algo, config, stream->ranks);
    quant_pipeline_t *pipe = memory;
    uint8_t *base = memory;
    size_t begin[PARTS + 1];

    lay_out(&plan, config, begin);
    memset(memory, 0, begin[PART_SUMS]);
    pipe->task.ops = &quant_pipeline_ops;
    pipe->config = *config;
    pipe->stream = stream;
    pipe->plan = plan;
    pipe->round = (quant_round_t *) (base + begin[PART_ROUND]);
    pipe->cell = (cell_t *) (base + begin[PART_CELL]);
    pipe->slot = (slot_t *) (base + begin[PART_SLOT]);
    pipe->sending = (sending_t *) (base + begin[PART_SENDING]);
    pipe->sending_at = (sending_t **) (base + begin[PART_SENDING_AT]);
    pipe->receiving_at = (slot_t **) (base + begin[PART_RECEIVING_AT]);
    pipe->free_slot = (slot_t **) (base + begin[PART_FREE_SLOT]);
    pipe->free_sum = (void **) (base + begin[PART_FREE_SUM]);
    pipe->sums = base + begin[PART_SUMS];
    pipe->scratch = (quant_scratch_t){
        .tile = (float *) (base + begin[PART_TILE]),
        .floats = (float *) (base + begin[PART_FLOATS]),
        .numbers = base + begin[PART_NUMBERS],
    };
    pipe->spare = base + begin[PART_SPARE];
    for (unsigned i = 0; i < plan.slots; ++i) {
        pipe->slot[i].message = base + begin[PART_MESSAGES] + i * message_bytes(config);
    }
    for (unsigned i = 0; i < plan.rounds; ++i) {
        pipe->round[i] = quant_schedule_round(algo->tree, &shape, stream->rank, i);
    }
    return &pipe->task;
}

static void free_all(quant_pipeline_t *pipe)
{
    pipe->receiving_head = 0;
    pipe->receiving = 0;
    pipe->coded = 0;
    pipe->kept = 0;
    pipe->sendings = 0;
    pipe->free_slots = pipe->plan.slots;
    for (unsigned i = 0; i < pipe->plan.slots; ++i) {
        pipe->free_slot[i] = &pipe->slot[i];
        pipe->sending_at[i] = &pipe->sending[i];
    }
    pipe->free_sums = pipe->plan.sums;
    for (unsigned i = 0; i < pipe->plan.sums; ++i) {
        pipe->free_sum[i] = pipe->sums + i * pipe->config.segment_elems * pipe->numbers->bytes;
    }
}

/* The rounds and the layout of the call: all rounds on a vector, or half of them on blocks. */
static void choose_rounds(quant_pipeline_t *pipe)
{
    const bool is_half = QUANT_PART_ALLREDUCE != pipe->operation.part;
    const unsigned half = pipe->plan.rounds / 2;

    pipe->first = QUANT_PART_ALLGATHER == pipe->operation.part ? half : 0;
    pipe->rounds = is_half ? half : pipe->plan.rounds;
    pipe->own = is_half ? pipe->stream->rank * pipe->operation.count : 0;
    pipe->layout = (quant_layout_t){
        .count = pipe->operation.count,
        .shards = pipe->plan.shards,
        .blocks = is_half,
    };
    const quant_cut_t cut = quant_cut(&pipe->config, quant_layout_shard(&pipe->layout, 0).elems);
    pipe->layout.segment_elems = cut.segment_elems;
    pipe->block_rows = cut.block_rows;
}

void quant_pipeline_start(arc_task_t *task, const quant_operation_t *operation)
{
    quant_pipeline_t *pipe = (quant_pipeline_t *) task;

    pipe->operation = *operation;
    pipe->numbers = NULL == operation->numbers ? &quant_floats : operation->numbers;
    choose_rounds(pipe);
    pipe->status = ARC_OK;
    pipe->bound = 0;
    free_all(pipe);
    if (1 == pipe->stream->ranks && operation->send != operation->recv) {
        memcpy(operation->recv, operation->send, operation->count * quant_pipeline_bytes(pipe));
    }

    /* Lanes that no shard has segments for would only have to be skipped. */
    const size_t longest = quant_layout_segments(&pipe->layout);
    pipe->window = longest < pipe->plan.window ? (unsigned) longest : pipe->plan.window;
    pipe->window = 0 == pipe->window ? 1 : pipe->window;
    pipe->end = (uint64_t) quant_divide_up(longest, pipe->window) * pipe->rounds * pipe->window;
    pipe->send_next = quant_pipeline_skip(pipe, 0, quant_pipeline_sent);
    pipe->receive_next = quant_pipeline_skip(pipe, 0, quant_pipeline_received);
    pipe->start_next = pipe->receive_next;
}
