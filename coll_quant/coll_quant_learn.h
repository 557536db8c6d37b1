/*
 * What is learned by itself: does quantizing pay, for each type of element of each collective?
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_QUANT_LEARN_H
#define COLL_QUANT_LEARN_H

#include "coll_quant_call.h"

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

/*
 * What is remembered of a communicator of the same processes, in the same order, with the same
 * settings; of this process, others may remember something else.  A number that is the same where
 * that is, for the ranks to compare.
 */
uint64_t coll_quant_recall(quant_module_t *module);

#endif
