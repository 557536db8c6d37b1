/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "exchange_schedule.h"
#include "quant_coder.h"
#include "quant_fold.h"
#include "sizes.h"

struct quant_fold {
    exchange_fold_t base; /* first: the node is handed this */
    quant_coder_t *coder;
    quant_operation_t operation;
    unsigned nodes;
    unsigned ranks; /* of all nodes */
};

/*
 * Shorter messages fill a link sooner, longer ones cost processors less: so many for each shard,
 * within bounds (docs/benchmarks_quant.md, "hierarchical").
 */
enum { MESSAGES = 8, MESSAGE_ELEMS_MIN = 1 << 14, MESSAGE_ELEMS_MAX = 1 << 15 };

bool quant_fold_takes(const quant_config_t *config, const quant_operation_t *operation)
{
    return config->algo->tree->levels && config->per_node > 1 && !config->bounded &&
           0 == config->minishards && 0 == config->microshards &&
           EXCHANGE_ALLREDUCE == operation->collective && NULL == operation->storage;
}

/* ---- memory ---- */

/* Among the ranks of one place, one on each node. */
static quant_config_t config_between(const quant_config_t *config)
{
    quant_config_t between = *config;

    between.per_node = 1;
    between.order = NULL;
    between.segment_elems =
        arc_min(config->segment_elems,
                arc_round_up(MESSAGE_ELEMS_MAX, quant_tile_elems(config->block_rows)));
    return between;
}

/* The parts of the memory, in their order. */
typedef enum part { PART_STATE, PART_PEERS, PART_CODER, PART_EXCHANGE, PARTS } part_t;

/* Where each part begins, and behind the last one the end. */
static void lay_out(const quant_config_t *config, unsigned nodes, size_t begin[PARTS + 1])
{
    const exchange_config_t exchange = quant_coder_exchange(config, nodes);
    const size_t bytes[PARTS] = {
        [PART_STATE] = sizeof(quant_fold_t),
        [PART_PEERS] = nodes * sizeof(unsigned),
        [PART_CODER] = quant_coder_memory_bytes(config),
        [PART_EXCHANGE] = exchange_pipeline_memory_bytes(&exchange),
    };

    arc_lay_out(bytes, PARTS, EXCHANGE_ALIGN_BYTES, begin);
}

size_t quant_fold_memory_bytes(const quant_config_t *config, unsigned ranks)
{
    const quant_config_t between = config_between(config);
    size_t begin[PARTS + 1];

    lay_out(&between, ranks / config->per_node, begin);
    return begin[PARTS];
}

/* ---- a call ---- */

static exchange_operation_t begin(exchange_fold_t *base, const exchange_parts_t *parts)
{
    quant_fold_t *fold = (quant_fold_t *) base;
    quant_operation_t operation = fold->operation;

    operation.send = NULL;
    operation.recv = NULL;
    operation.parts = parts;
    operation.count = parts->count;
    return quant_coder_start(fold->coder, &operation, fold->nodes);
}

quant_fold_t *quant_fold_init(const quant_config_t *config, arc_stream_t *stream, void *memory)
{
    const exchange_shape_t shape = quant_config_shape(config, stream->ranks);
    const exchange_pair_t own = exchange_schedule_place(&shape, stream->rank);
    const quant_config_t between = config_between(config);
    exchange_config_t exchange = quant_coder_exchange(&between, shape.nodes);
    quant_fold_t *fold = memory;
    uint8_t *base = memory;
    size_t at[PARTS + 1];

    lay_out(&between, shape.nodes, at);
    unsigned *peers = (unsigned *) (void *) (base + at[PART_PEERS]);
    for (unsigned node = 0; node < shape.nodes; ++node) {
        const unsigned index = node * shape.per_node + own.place;
        peers[node] = NULL == shape.order ? index : shape.order[index];
    }
    exchange.peer = peers;
    quant_coder_t *coder = quant_coder_init(&between, own.node, base + at[PART_CODER]);
    *fold = (quant_fold_t){
        .base =
            {
                .exchange = exchange_pipeline_init(&exchange, own.node, stream, &coder->base,
                                                   base + at[PART_EXCHANGE]),
                .row_elems = QUANT_LANES,
                .begin = begin,
            },
        .coder = coder,
        .nodes = shape.nodes,
        .ranks = stream->ranks,
    };
    return fold;
}

size_t quant_fold_message_elems(const quant_config_t *config, unsigned ranks, size_t count)
{
    const size_t share = arc_divide_up(count, (size_t) ranks * MESSAGES);
    const size_t elems =
        arc_min(share > MESSAGE_ELEMS_MIN ? share : MESSAGE_ELEMS_MIN, MESSAGE_ELEMS_MAX);

    return arc_min(arc_round_up(elems, quant_tile_elems(config->block_rows)),
                   config->segment_elems);
}

exchange_fold_t *quant_fold_prepare(quant_fold_t *fold, const quant_operation_t *operation)
{
    fold->operation = *operation;
    fold->base.message_elems =
        quant_fold_message_elems(&fold->coder->config, fold->ranks, operation->count);
    return &fold->base;
}

float quant_fold_bound(const quant_fold_t *fold)
{
    return fold->coder->bound;
}
