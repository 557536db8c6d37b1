/*
 * Error feedback: what calls left behind, of each vector.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_QUANT_RESIDUAL_H
#define COLL_QUANT_RESIDUAL_H

#include "coll_quant_call.h"

/*
 * With error feedback what the last call of the same vector left, zeros if there was none; NULL:
 * there is no feedback, or no memory, which is said.  Only this rank's error depends on it.  The
 * operation has the program's buffers.
 */
float *coll_quant_residual(quant_module_t *module, const quant_call_t *call);

void coll_quant_residuals_free(quant_module_t *module);

/* Say once that error feedback, which is set, does nothing for an allgather. */
void coll_quant_residual_warn_of_stage(quant_module_t *module);

#endif
