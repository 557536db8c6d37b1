/*
 * What is learned by itself: does quantizing pay, for each type of element of each collective?
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_QUANT_LEARN_H
#define COLL_QUANT_LEARN_H

#include "coll_quant_call.h"

/*
 * What was decided of calls like this one: ARC_REASON_NONE, it pays to quantize them,
 * ARC_REASON_SLOWER, or ARC_REASON_LEARNING, nothing yet.
 */
arc_reason_t coll_quant_gain_reason(const quant_module_t *module,
                                    const quant_gain_t gain[QUANT_TRIED], const quant_call_t *call);

/*
 * The call could be served: does it pay to quantize it?  ARC_REASON_NONE, or why not; the same on
 * all ranks.  coll_quant_learn() is to follow the call.
 */
arc_reason_t coll_quant_learned(quant_module_t *module, quant_call_t *call);

/*
 * The end of every call, which came to `status`, an MPI error code: learn from the time that it
 * took, if it is timed.  What the call is to return.
 */
int coll_quant_learn(quant_module_t *module, quant_call_t *call, int status);

#endif
