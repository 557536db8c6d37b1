/*
 * What a module of coll_quant is made of: structs, each of which one file acts on.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_QUANT_PARTS_H
#define COLL_QUANT_PARTS_H

#include "exchange_layout.h"
#include "mca_module.h"
#include "mca_share.h"
#include "quant_element.h"
#include "quant_fold.h"
#include "quant_gain.h"
#include "quant_measure.h"
#include "wait.h"

/* ---- errors of calls; coll_quant_stats.c ---- */

/* What became of a call: quantized, or exact for a reason. */
enum { QUANT_LAST_NONE, QUANT_LAST_QUANTIZED, QUANT_LAST_EXACT /* + arc_reason_t */ };

/*
 * The same on all ranks of a communicator, but for bounds of MPI_Reduce_scatter_block: those are of
 * the own block.
 */
typedef struct quant_stats {
    unsigned long long verified; /* calls that were measured */
    quant_measure_t last;
    quant_measure_t worst; /* each number by itself */
    double last_bound;     /* of any call: no element is farther off; 0: it was exact */
    double worst_bound;
    int last_call; /* QUANT_LAST_... */
} quant_stats_t;

/* ---- does quantizing pay?  coll_quant_learn.c ---- */

enum {
    QUANT_ELEMENT_TYPES = 2,
    QUANT_TRIED = EXCHANGE_COLLECTIVES * QUANT_ELEMENT_TYPES,
};

/* The place of what is learned of calls, from 0 to QUANT_TRIED - 1. */
static inline unsigned coll_quant_tried(exchange_collective_t collective,
                                        const quant_element_t *element)
{
    return (unsigned) collective * QUANT_ELEMENT_TYPES + (&quant_doubles == element);
}

/* What was learned on a communicator. */
typedef struct quant_remembered {
    uint64_t key; /* of its processes and settings; 0: none */
    quant_gain_t gain[QUANT_TRIED];
} quant_remembered_t;

enum { QUANT_REMEMBERED = 16 }; /* communicators, the latest ones */

/* ---- limits of the error of elements; coll_quant_limit.c ---- */

enum { QUANT_SIZES = 16 }; /* lengths of vectors of which a communicator knows the size */

/* How large the results of calls of one length were. */
typedef struct quant_size {
    const quant_element_t *element; /* NULL: of no call yet */
    size_t count;
    double largest; /* magnitude to reckon with; 0: all were zeros */
    uint64_t used;  /* when, by the number of the call */
} quant_size_t;

typedef struct quant_limit {
    unsigned pause;   /* calls to pass down after the last one that was of no use; 0: it was */
    unsigned waiting; /* of them are left */
    quant_size_t sizes[QUANT_SIZES];
    uint64_t calls;
    void *kept; /* what is sent, where the result takes its place; NULL: no room yet */
    size_t kept_bytes;
} quant_limit_t;

/* ---- sums in shared memory of the nodes; coll_quant_fold.c ---- */

typedef struct quant_node_sums {
    bool looked;        /* whether memory can be shared on the nodes */
    mca_share_t share;  /* none: it cannot */
    size_t asked_bytes; /* for its arenas */
    lowlat_group_t group;
    arc_wait_t wait;
    void *memory;
    quant_fold_t *exchange; /* in `memory` */
} quant_node_sums_t;

#endif
