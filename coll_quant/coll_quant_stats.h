/*
 * What is known about the errors of calls: bounds, which every call tells, and measured errors,
 * which verified calls tell.  Of each communicator, for MPI_T (coll_quant_pvars.c), and of the
 * process, for the report.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_QUANT_STATS_H
#define COLL_QUANT_STATS_H

#include <stdio.h>
#include "coll_quant.h"

/* What has become known with a call, of its communicator. */
void coll_quant_stats_note_bound(quant_module_t *module, float bound);
void coll_quant_stats_note_exact(quant_module_t *module, arc_reason_t reason);
void coll_quant_stats_note_measure(quant_module_t *module, const quant_measure_t *measure);

/* Lines about it for the report. */
void coll_quant_stats_print(FILE *stream, const quant_component_t *component);

/* Make it readable through MPI_T; coll_quant_pvars.c. */
void coll_quant_pvars_register(const quant_component_t *component);

#endif
