/*
 * The Open MPI side of coll_quant: the component, and what it knows of a communicator.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_QUANT_H
#define COLL_QUANT_H

#include "coll_quant_parts.h"
#include "mca_agreement.h"
#include "mca_break.h"
#include "mca_bridge.h"
#include "mca_log.h"
#include "mca_pass.h"
#include "mca_stream.h"
#include "quant_settings.h"
#include "select.h"
#include "topology.h"
#include "wait.h"

typedef struct quant_component {
    arc_component_t base;
    quant_settings_t settings;
    quant_kernels_t kernels;
    /* On all communicators; under base.lock. */
    quant_stats_t stats;
    quant_remembered_t remembered[QUANT_REMEMBERED];
    unsigned remembered_next; /* modulo QUANT_REMEMBERED */
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
    arc_topology_t topology; /* if the algorithm may depend on it; 0 nodes: not known */
    bool attainable;         /* the settings leave something to choose */
    quant_config_t config;
    size_t algo; /* its row in the list of algorithms */
    mca_stream_t stream;
    arc_wait_t wait;
    void *memory;     /* for the algorithm; NULL before the set-up */
    arc_task_t *task; /* in `memory` */
    quant_node_sums_t fold;

    /* What calls have left behind. */
    quant_gain_t gain[QUANT_TRIED]; /* what was learned so far */
    uint64_t gain_key;              /* for those that are remembered */
    arc_select_t *selectors;        /* [QUANT_TRIED][ARC_SELECT_CLASSES] for the rest; or NULL */
    uint32_t sequence;              /* operations that were quantized */
    uint32_t sums;                  /* that could be, by what they are; vectors are known by it */
    unsigned calls[EXCHANGE_COLLECTIVES]; /* of the program that were quantized */
    quant_limit_t limit;
    struct quant_residuals *residuals; /* with error feedback; NULL: none yet */
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
} quant_said_t;

extern quant_component_t mca_coll_quant_component;

/* The door: how the component serves calls (mca_module.h); coll_quant_door.c. */
extern const arc_entries_t coll_quant_entries;
int coll_quant_serve(arc_module_t *base, const arc_call_t *said);
void coll_quant_settled(arc_module_t *base);
arc_reason_t coll_quant_admit(arc_module_t *base, arc_call_t *said);
arc_reason_t coll_quant_prepare_init(arc_module_t *base, const arc_call_t *said);
void coll_quant_retag(arc_module_t *base);

#endif
