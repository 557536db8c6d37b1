/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "exchange_schedule.h"
#include "lowlat_cut.h"
#include "lowlat_piped.h"
#include "quant_bound.h"
#include "quant_coder.h"
#include "quant_fold.h"
#include "reduce.h"

struct quant_fold {
    lowlat_task_t task; /* first: who has it has the fold */
    lowlat_group_t *group;
    const arc_reduce_table_t *kernels;
    const quant_element_t *element; /* of the call */
    arc_reducer_t reducer;          /* ... and what is added on the node */
    lowlat_piped_t piped;
    quant_coder_t *coder;
    size_t most_arena_bytes;
    bool owns; /* a part of the call */
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

/* Sums of the node, made one part after the other. */
static float sum_error(const lowlat_task_t *task, const void *const *parts, unsigned count,
                       size_t elems, double error)
{
    const quant_fold_t *fold = (const quant_fold_t *) task;
    double most = 0;

    for (unsigned i = 0; i < count; ++i) {
        most += fold->element->most(fold->coder->config.kernels, parts[i], elems);
    }
    return quant_bound_summed(error, count - 1, most, fold->element->unit);
}

/* [nodes] the ranks of the own place. */
static unsigned *make_peers(const exchange_shape_t *shape, unsigned place, arc_room_t *room)
{
    unsigned *peers = arc_room_take(room, shape->nodes * sizeof *peers);

    for (unsigned node = 0; NULL != peers && node < shape->nodes; ++node) {
        const unsigned index = node * shape->per_node + place;
        peers[node] = NULL == shape->order ? index : shape->order[index];
    }
    return peers;
}

quant_fold_t *quant_fold_init(const quant_config_t *config, lowlat_group_t *group,
                              const arc_reduce_table_t *kernels, arc_stream_t *stream,
                              size_t most_arena_bytes, arc_room_t *room)
{
    const exchange_shape_t shape = quant_config_shape(config, stream->ranks);
    const exchange_pair_t own = exchange_schedule_place(&shape, stream->rank);
    const quant_config_t between = config_between(config);
    quant_fold_t *fold = arc_room_take(room, sizeof *fold);
    const unsigned *peers = make_peers(&shape, own.place, room);
    quant_coder_t *coder = quant_coder_init(&between, shape.nodes, own.node, peers, stream, room);

    if (NULL != fold) {
        group->sum_error = sum_error;
        *fold = (quant_fold_t){
            .group = group,
            .kernels = kernels,
            .piped.exchange = coder->exchange,
            .coder = coder,
            .most_arena_bytes = most_arena_bytes,
        };
    }
    return fold;
}

/* ---- a call ---- */

/* Several shards in a message may be short ones, whose scales are a bit of each number. */
enum { PACKED_ROWS_MIN = 16 };

/* Arenas have at least so much for an owner on each node: three messages, of a tile or less. */
static size_t owner_bytes(const quant_config_t *config, unsigned nodes,
                          const quant_element_t *element)
{
    const size_t tile = quant_tile_elems(config->block_rows);
    const size_t least =
        exchange_packs_pay(nodes) ? arc_min(tile, PACKED_ROWS_MIN * QUANT_LANES) : tile;

    return LOWLAT_MIN_SLOTS * least * element->bytes * nodes;
}

/* As many owners on each node as arenas have room for: all ranks, unless they are many. */
static unsigned owners_of(const quant_config_t *config, unsigned nodes, unsigned per_node,
                          const quant_element_t *element, size_t most_arena_bytes)
{
    const size_t owners = most_arena_bytes / owner_bytes(config, nodes, element);

    return (unsigned) arc_min(owners < 1 ? 1 : owners, per_node);
}

/* Numbers of a message, as it is best, of a vector of `count` elements with so many shards. */
static size_t message_elems(const quant_config_t *config, size_t shards, size_t count)
{
    const size_t share = arc_divide_up(count, shards * MESSAGES);
    const size_t elems =
        arc_min(share > MESSAGE_ELEMS_MIN ? share : MESSAGE_ELEMS_MIN, MESSAGE_ELEMS_MAX);

    return arc_min(arc_round_up(elems, quant_tile_elems(config->block_rows)),
                   config->segment_elems);
}

size_t quant_fold_arena_bytes(const quant_config_t *config, unsigned ranks,
                              const quant_operation_t *operation, size_t most_arena_bytes,
                              size_t *best)
{
    enum { SLOTS = LOWLAT_MIN_SLOTS + 1 }; /* one for late ranks */
    const quant_element_t *element = operation->element;
    const unsigned nodes = ranks / config->per_node;
    const size_t owners = owners_of(config, nodes, config->per_node, element, most_arena_bytes);
    const size_t chunk_elems =
        message_elems(config, owners * nodes, operation->count) * owners * nodes;

    *best = SLOTS * arc_min(operation->count, chunk_elems) * element->bytes;
    return owners * owner_bytes(config, nodes, element);
}

/* What is added on the node. */
static lowlat_task_t *set_task(quant_fold_t *fold, arc_op_t op, arc_type_t type, const void *in,
                               void *out, size_t count)
{
    (void) arc_reduce_make(fold->kernels, op, type, &fold->reducer);
    fold->task = (lowlat_task_t){
        .group = fold->group,
        .reducer = &fold->reducer,
        .in = in,
        .out = out,
        .count = count,
        .span_bytes = arc_reducer_span_bytes(&fold->reducer, count),
    };
    return &fold->task;
}

lowlat_task_t *quant_fold_start(quant_fold_t *fold, const quant_operation_t *operation)
{
    const quant_config_t *config = &fold->coder->config;
    const unsigned nodes = fold->coder->ranks;
    const arc_type_t type = &quant_doubles == operation->element ? ARC_TYPE_DOUBLE : ARC_TYPE_FLOAT;
    lowlat_task_t *task =
        set_task(fold, ARC_OP_SUM, type, operation->send, operation->recv, operation->count);
    const unsigned owners =
        lowlat_cut_owners(task, owners_of(config, nodes, fold->group->ranks, operation->element,
                                          fold->most_arena_bytes));
    const size_t shards = (size_t) owners * nodes;
    quant_operation_t own = *operation;
    /* Packs of a step that are equally long reach all ranks at the same time. */
    const size_t row_elems = QUANT_LANES * (exchange_packs_pay(nodes) ? nodes : 1);

    fold->element = operation->element;
    lowlat_piped_begin(task, &fold->piped,
                       message_elems(config, shards, operation->count) * shards *
                           fold->reducer.stride_bytes,
                       owners, row_elems);
    fold->owns = NULL != task->piped;
    if (fold->owns) {
        own.send = NULL;
        own.recv = NULL;
        own.parts = task;
        own.count = lowlat_own_elems(task);
        lowlat_piped_start(task, quant_coder_start(fold->coder, &own));
    }
    return task;
}

lowlat_task_t *quant_fold_start_bound(quant_fold_t *fold, float *bound)
{
    lowlat_task_t *task = set_task(fold, ARC_OP_MAX, ARC_TYPE_FLOAT, bound, bound, 1);

    *bound = fold->owns ? fold->coder->bound : 0;
    lowlat_oneshot_start(task);
    return task;
}
