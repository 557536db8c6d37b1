/*
 * The Open MPI side of coll_quant: the component, and what it knows of a communicator.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_QUANT_H
#define COLL_QUANT_H

#include "exchange_layout.h"
#include "mca_agreement.h"
#include "mca_bridge.h"
#include "mca_module.h"
#include "mca_below.h"
#include "mca_share.h"
#include "mca_stream.h"
#include "quant_element.h"
#include "quant_fold.h"
#include "quant_measure.h"
#include "quant_pipeline.h"
#include "quant_settings.h"
#include "select.h"

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

/* What was decided of each class of lengths (select.h); bit k is about class k. */
typedef struct quant_gain {
    uint32_t decided;
    uint32_t gains; /* a part of `decided` */
} quant_gain_t;
static_assert(ARC_SELECT_CLASSES <= 32, "a bit for each class");

/* ---- limits of the error of elements; coll_quant_limit.c ---- */

enum { QUANT_SIZES = 509 }; /* a prime: few lengths of a program share a place */

typedef struct quant_limit {
    unsigned pause;   /* calls to pass down after the last one that was of no use; 0: it was */
    unsigned waiting; /* of them are left */
    /*
     * [QUANT_SIZES] from the set-up on: magnitudes to reckon with, by length and type; DBL_MIN: all
     * were zeros; 0: of no call yet.
     */
    double *sizes;
    void *kept; /* what is sent, where the result takes its place; NULL: no room yet */
    size_t kept_bytes;
} quant_limit_t;

/* ---- error feedback; coll_quant_residual.c ---- */

typedef struct quant_residual quant_residual_t;

/* What calls of each vector left behind. */
typedef struct quant_residuals {
    quant_residual_t *latest; /* a list, by when they were used */
    unsigned count;
    size_t bytes; /* of all that is kept */
} quant_residuals_t;

/* ---- sums in shared memory of the nodes; coll_quant_fold.c ---- */

typedef struct quant_node_sums {
    bool looked;        /* whether memory can be shared on the nodes */
    mca_share_t share;  /* none: it cannot */
    size_t asked_bytes; /* for its arenas */
    lowlat_group_t group;
    void *memory;
    quant_fold_t *exchange; /* in `memory` */
} quant_node_sums_t;
/* ---- the component, and a communicator ---- */

typedef struct quant_component {
    arc_component_t base;
    quant_settings_t settings;
    quant_kernels_t kernels;
    /* On all communicators; under base.lock. */
    quant_stats_t stats;
} quant_component_t;

enum { QUANT_KEY_TEXT_BYTES = 16 }; /* an error as "%g" prints it */

typedef struct quant_module {
    arc_module_t base;

    /* What the user wants; coll_quant_keys.c. */
    quant_settings_t settings; /* the component's, but for what the info key says */
    quant_wish_t wish;         /* of the info key */
    bool active;               /* the user wants it on this communicator */
    arc_type_t uint16;         /* what sums of MPI_UINT16_T are */
    quant_storage_t storage;   /* if these are floats */
    char key_text[QUANT_KEY_TEXT_BYTES];

    /* As at the end of the last blocking call: what decides over nonblocking ones. */
    struct {
        bool same; /* settings, on all ranks */
        arc_type_t uint16;
        quant_gain_t gain[QUANT_TRIED];
    } settled;

    /* From the set-up on; coll_quant_setup.c. */
    uint64_t agreed;         /* hash of the settings that the ranks agreed on; 0: none */
    arc_topology_t topology; /* if the algorithm may depend on it; 0 nodes: not known */
    bool attainable;         /* the settings leave something to choose */
    quant_config_t config;
    mca_stream_t stream;
    void *memory;               /* for the algorithm; NULL before the set-up */
    quant_pipeline_t *pipeline; /* in `memory` */
    quant_node_sums_t fold;

    /* What calls have left behind. */
    quant_gain_t gain[QUANT_TRIED]; /* what was learned so far */
    arc_select_t *selectors;        /* [QUANT_TRIED][ARC_SELECT_CLASSES] for the rest; or NULL */
    uint32_t sequence;              /* operations that were quantized */
    uint64_t sums;                  /* that could be, by what they are; vectors are known by it */
    unsigned calls[EXCHANGE_COLLECTIVES]; /* of the program that were quantized */
    quant_limit_t limit;
    quant_residuals_t residuals; /* with error feedback */
    quant_stats_t stats;
} quant_module_t;
OBJ_CLASS_DECLARATION(quant_module_t);

/* What is said once of a communicator (arc_module_first()): */
typedef enum quant_said {
    QUANT_SAID_LEVELS,    /* there are none for the algorithm that is set */
    QUANT_SAID_NO_MEMORY, /* for error feedback, */
    QUANT_SAID_NO_ROOM,   /* by which one vector was forgotten, */
    QUANT_SAID_LENGTH,    /* which is too long, */
    QUANT_SAID_SEQUENCE,  /* which does not repeat, */
    QUANT_SAID_STAGE,     /* which has none */
    QUANT_SAID_SKIPPED,   /* a call could not be verified */
    QUANT_SAID_UNKEPT,    /* what is sent could not be kept for target_rel */
} quant_said_t;

extern quant_component_t mca_coll_quant_component;

/* The door: how the component serves calls (mca_module.h); coll_quant_door.c. */
extern const arc_entries_t coll_quant_entries;
int coll_quant_serve(arc_module_t *base, const arc_call_t *said);
void coll_quant_settled(arc_module_t *base);
arc_reason_t coll_quant_decide(arc_module_t *base, arc_call_t *said, arc_moment_t moment);

#endif
