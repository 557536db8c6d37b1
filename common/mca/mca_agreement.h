/*
 * MIN over all ranks, for set-ups and checks, with the time limit of calls.
 *
 * The messages have a tag that nothing else uses, one for each component.  What a rank that does
 * not come leaves behind may be read or written until the end of the process; so a module that
 * breaks here never frees the memory of its agreements.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_AGREEMENT_H
#define MCA_AGREEMENT_H

#include "agreement.h"
#include "mca_module.h"

/*
 * MIN over all ranks of the communicator of each of `count` values, up to ARC_AGREEMENT_VALUES.
 * For set-up and checks, not for every call.  If the component's time limit ends it, or anything
 * goes wrong, the module is broken, and it has been said who is missing.
 */
arc_status_t arc_module_min(arc_module_t *module, uint64_t *values, int count) ARC_MUST_CHECK;

/* The same for a roll call (agreement.h), where some ranks may not take part. */
arc_status_t arc_module_call_roll(arc_module_t *module, uint64_t *values, arc_roll_fn_t ask,
                                  void *context) ARC_MUST_CHECK;

/* Memory on all ranks or, NULL, on none.  Errors are those of arc_module_min(). */
arc_status_t arc_module_malloc(arc_module_t *module, size_t bytes, void **memory) ARC_MUST_CHECK;

/*
 * The first step of every module: is `hash`, of the configuration, the same on
 * all ranks?  Moves the module to ARC_PHASE_AGREED or ARC_PHASE_DECLINED; ARC_PHASE_BROKEN: a rank
 * did not come.
 */
void arc_module_agree(arc_module_t *module, uint64_t hash);

#endif
