/*
 * What an algorithm is: one row of a table, and a tree (exchange_tree.h), which the
 * exchange (exchange_pipeline.h) runs.
 *
 * To add one: docs/architecture.md, "To add".
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_ALGOS_H
#define QUANT_ALGOS_H

#include "exchange_pipeline.h"
#include "quant_element.h"
#include "quant_storage.h"

enum {
    /*
     * A tile of 8 rows already pays 10 bits per element.  One of 4096 rows, 1 MiB of floats, is
     * beyond most second-level caches, and its scales cost 2^-8 bit per element: nothing is left to
     * gain.  Powers of two, so that blocks fill rows and rows fill blocks.
     */
    QUANT_BLOCK_ROWS_MIN = 8,
    QUANT_BLOCK_ROWS_MAX = 4096,

    /* 64 MiB of floats per message: far above what any network needs to be busy. */
    QUANT_SEGMENT_ELEMS_MAX = 1 << 24,
};

/* clang-format off */
/* X(name, description): the only list of algorithms; quant_choose.h has which one auto takes. */
#define QUANT_ALGO_TABLE(X) \
    X(full_loop, "one ring, partial sums quantized again at every rank") \
    X(semi_loop, "partial sums travel half a ring from both sides, totals back") \
    X(direct, "every part is sent straight to the rank that adds it, totals straight back") \
    X(recursive_halving, "distances of powers of two, partial sums along binomial trees") \
    X(hierarchical, "exact sums on each node, one tree between nodes for each rank of a node")
/* clang-format on */

/* QUANT_ALGO_full_loop, ...: the row of an algorithm. */
enum {
#define X(_name, ...) QUANT_ALGO_##_name,
    QUANT_ALGO_TABLE(X)
#undef X
        QUANT_ALGOS
};

/* The least power of two that is a block and not less than `numbers`, or the largest block. */
static inline unsigned quant_block_of(size_t numbers)
{
    unsigned block = QUANT_BLOCK_ROWS_MIN;

    while (block < numbers && block < QUANT_BLOCK_ROWS_MAX) {
        block *= 2;
    }
    return block;
}

typedef struct quant_algo {
    const char *name;
    const char *description;
    const exchange_tree_t *tree;
} quant_algo_t;

/*
 * Constant for the life of a communicator, equal on all its ranks; only the
 * kernels may differ, since all kernels give the same bits.
 *
 * The two formats make the four variants: int8 and int8 quantizes both stages,
 * int8 and fp32 only the reduce-scatter, fp32 and int8 only the allgather, fp32
 * and fp32 none.
 */
typedef struct quant_config {
    const quant_kernels_t *kernels;
    const quant_algo_t *algo;
    const quant_format_t *reduce_format; /* partial sums */
    const quant_format_t *gather_format; /* results */

    /*
     * With minishards or microshards each call has its own cut (quant_cut()), and the first two are
     * the most that any has.
     */
    unsigned block_rows;  /* rows of a tile, and numbers of a block: a power of two */
    size_t segment_elems; /* of a full message; a multiple of 64 * block_rows */
    size_t segment_bytes; /* with minishards alone: of a full message, unless one tile has more */
    unsigned minishards;  /* tiles of the longest shard; 0: block_rows decides */
    unsigned microshards; /* messages of the longest shard; 0: segment_elems or _bytes decides */

    /* The longest vector that goes by doubling (quant_doubling.h), if any does; 0: none. */
    size_t doubling_bytes;

    unsigned depth; /* how many segments are under way, and so the message buffers */
    bool feedback;  /* operations may have a residual */
    bool bounded;   /* operations may have a bound_max */
    /* Of those: messages in any format with at least the bits of this one; NULL: in theirs. */
    const quant_format_t *coarsest;
    bool doubles; /* operations may be of doubles */
    bool storage; /* operations may have a quant_storage_t */

    /* For algorithms with levels (exchange_tree.h): each node's ranks, and where they are. */
    unsigned per_node;     /* a divisor of the ranks; 0 or 1: there are no levels */
    const unsigned *order; /* outlives the configuration */
    bool alone;            /* each rank has a node for itself */
} quant_config_t;

/*
 * A number that is the same where all is the same that must be, for the ranks to compare; others
 * that give it are unlikely.  Of per_node, but not of the order, which the ranks find together.
 */
uint64_t quant_config_hash(const quant_config_t *config);

/* The format of what is quantized; an exact one: nothing is. */
static inline const quant_format_t *quant_config_format(const quant_config_t *config)
{
    return config->reduce_format->exact ? config->gather_format : config->reduce_format;
}

/* The shape that the algorithm has among `ranks`. */
exchange_shape_t quant_config_shape(const quant_config_t *config, unsigned ranks);

/*
 * How a call is cut: rows of a tile and elements of a message, for the length of its shards;
 * docs/algorithms_quant.md, "Minishards and microshards", has the rules and their reasons.  They
 * follow from the configuration and the length, equal on all ranks: so is the cut.
 */
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

/*
 * One call.  In place `send` is `recv`, in an allgather the own block in it; otherwise they do not
 * overlap.
 */
typedef struct quant_operation {
    const void *send;
    void *recv;
    /* Our parts of a sum of the node are added, and the result is there; NULL: as above. */
    const struct lowlat_task *parts;
    const quant_element_t *element;
    const quant_storage_t *storage;   /* of floats: what the program has; NULL: floats */
    size_t count;                     /* elements of the vector, or of a block */
    exchange_collective_t collective; /* the same on all ranks */
    uint32_t sequence; /* the same on all ranks, another one than that of the call before */
    float *residual;   /* [count], what the call before left (quant_element.h); NULL: none */
    double bound_max;  /* no element is to be farther off (quant_fit.h); 0: there is no limit */
} quant_operation_t;

/* The i-th algorithm, NULL after the last. */
const quant_algo_t *quant_algo_at(size_t index);

#endif
