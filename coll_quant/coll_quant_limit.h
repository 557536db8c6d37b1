/*
 * Limits of the error of elements, where there are any: coll_quant_target_abs,
 * coll_quant_target_rel.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_QUANT_LIMIT_H
#define COLL_QUANT_LIMIT_H

#include "coll_quant_call.h"

/*
 * The call could be served: is some format likely to keep the limits?  ARC_REASON_NONE, or
 * ARC_REASON_BOUND; the same on all ranks.
 */
arc_reason_t coll_quant_limit_reason(quant_module_t *module, exchange_collective_t collective);

/*
 * The call gets the limits, and may get its numbers from another place.  An MPI error code; *run:
 * whether it is to be run, or was made exactly.
 */
int coll_quant_limit_begin(quant_module_t *module, quant_call_t *call, bool *run);

/* After it was run: the result is exact if it could not be known to be within the limits. */
int coll_quant_limit_end(quant_module_t *module, quant_call_t *call);

/* Forget all calls. */
void coll_quant_limit_reset(quant_module_t *module);

#endif
