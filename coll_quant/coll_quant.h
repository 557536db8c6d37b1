/*
 * The Open MPI side of coll_quant.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_QUANT_H
#define COLL_QUANT_H

#include "mca_bridge.h"
#include "mca_component.h"
#include "mca_stream.h"
#include "quant_settings.h"
#include "wait.h"

typedef struct quant_component {
    arc_component_t base;
    quant_settings_t settings;
    quant_kernels_t kernels;
} quant_component_t;

typedef struct quant_module {
    arc_module_t base;
    arc_type_t uint16; /* what sums of MPI_UINT16_T are */
    bool active;       /* the user wants it on this communicator */
    int format;        /* index into quant_format_choices */
    const quant_algo_t *algo;
    quant_config_t config;
    mca_stream_t stream;
    arc_wait_t wait;
    void *memory;      /* for the algorithm; NULL before the set-up */
    arc_task_t *task;  /* in `memory` */
    uint32_t sequence; /* operations started */
} quant_module_t;
OBJ_CLASS_DECLARATION(quant_module_t);

extern quant_component_t mca_coll_quant_component;

int coll_quant_allreduce(const void *send, void *receive, int count, struct ompi_datatype_t *type,
                         struct ompi_op_t *op, struct ompi_communicator_t *comm,
                         mca_coll_base_module_t *base);

/* Give the module's memory back, if it has any. */
void coll_quant_teardown(quant_module_t *module);

#endif
