/*
 * How a call is cut: rows of a tile and elements of a message, for the length of its shards.
 * docs/algorithms_quant.md, "Minishards and microshards", has the picture, and why it is so.
 *
 *   m > 0   ceil(rows of the longest shard / m) rows a tile, made the next power of two from 8 to
 *           4096.  m = 0: that of the configuration
 *   u > 0   ceil(elements of the longest shard / u) a message, rounded up to whole tiles and
 *           down to what a message buffer holds.  u = 0: as many tiles as segment_bytes allows
 *
 * Source of it all are the configuration and the length, equal on all ranks: so is the cut.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_CUT_H
#define QUANT_CUT_H

#include "quant_algos.h"

typedef struct quant_cut {
    unsigned block_rows;  /* of a tile; at most those of the configuration */
    size_t segment_elems; /* of a full message, whole tiles; at most those of the configuration */
} quant_cut_t;

/*
 * segment_elems of a configuration that has the rest: as many whole tiles as a message has room for
 * by segment_bytes, in the wider format, but one at least.  With minishards, where calls have tiles
 * of their own, enough for any: the largest tile, and as many codes as there is room for.
 */
size_t quant_cut_most_elems(const quant_config_t *config);

/* For a call whose longest shard has `shard_elems` elements; the configuration is valid. */
quant_cut_t quant_cut(const quant_config_t *config, size_t shard_elems);

#endif
