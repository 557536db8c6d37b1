/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>

#include "hash.h"
#include "quant_algos.h"
#include "sizes.h"

static const quant_algo_t algos[] = {
#define X(_name, _description) \
    {.name = #_name, .description = _description, .tree = &exchange_##_name},
    QUANT_ALGO_TABLE(X)
#undef X
};

const quant_algo_t *quant_algo_at(size_t index)
{
    return index < QUANT_ALGOS ? &algos[index] : NULL;
}

exchange_shape_t quant_config_shape(const quant_config_t *config, unsigned ranks)
{
    if (!config->algo->tree->levels || config->per_node < 2) {
        return exchange_shape_flat(ranks);
    }
    return (exchange_shape_t){
        .nodes = ranks / config->per_node,
        .per_node = config->per_node,
        .order = config->order,
    };
}

uint64_t quant_config_hash(const quant_config_t *config)
{
    const uint64_t values[] = {
        (uint64_t) (config->algo - algos),
        config->reduce_format->wire_id,
        config->gather_format->wire_id,
        config->block_rows,
        config->segment_elems,
        config->segment_bytes,
        config->minishards,
        config->microshards,
        config->doubling_bytes,
        config->depth,
        config->feedback,
        config->bounded,
        NULL == config->coarsest ? 0 : config->coarsest->wire_id,
        config->doubles,
        config->storage,
        config->per_node,
    };
    uint64_t hash = ARC_HASH_EMPTY;

    for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i) {
        hash = arc_hash_add(hash, values[i]);
    }
    return hash;
}

/* ---- the cut of a call ---- */

static unsigned rows_of_tile(const quant_config_t *config, size_t shard_elems)
{
    if (0 == config->minishards) {
        return config->block_rows;
    }
    const size_t rows = arc_divide_up(arc_divide_up(shard_elems, QUANT_LANES), config->minishards);
    return quant_block_of(rows < config->block_rows ? rows : config->block_rows);
}

static const quant_format_t *wider_format(const quant_config_t *config)
{
    return config->reduce_format->bits > config->gather_format->bits ? config->reduce_format
                                                                     : config->gather_format;
}

/* For the payload of a message, bytes. */
static size_t payload_room(const quant_config_t *config)
{
    return config->segment_bytes - sizeof(quant_wire_header_t);
}

static size_t tiles_in_segment(const quant_config_t *config, unsigned block_rows)
{
    return payload_room(config) /
           quant_payload_bytes(wider_format(config), quant_tile_elems(block_rows), block_rows);
}

size_t quant_cut_most_elems(const quant_config_t *config)
{
    const unsigned rows = config->block_rows;
    const size_t tiles =
        0 != config->minishards
            ? arc_divide_up(payload_room(config) / quant_row_bytes(wider_format(config)->bits),
                            rows)
            : tiles_in_segment(config, rows);

    return (tiles > 0 ? tiles : 1) * quant_tile_elems(rows);
}

quant_cut_t quant_cut(const quant_config_t *config, size_t shard_elems)
{
    const unsigned block_rows = rows_of_tile(config, shard_elems);
    const size_t tile_elems = quant_tile_elems(block_rows);
    const size_t most = config->segment_elems / tile_elems;
    size_t tiles = most;

    /* A message has at least one tile, and what was allocated for messages has room for it. */
    assert(most > 0);
    if (0 != config->microshards) {
        tiles = arc_divide_up(arc_divide_up(shard_elems, config->microshards), tile_elems);
    } else if (0 != config->minishards) {
        tiles = tiles_in_segment(config, block_rows);
    }
    return (quant_cut_t){
        .block_rows = block_rows,
        .segment_elems = arc_min(tiles > 0 ? tiles : 1, most) * tile_elems,
    };
}
