/*
 * Tries the algorithms between nodes, and the component below, on a new communicator.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_LOWLAT_TRIAL_H
#define COLL_LOWLAT_TRIAL_H

#include "coll_lowlat.h"

/* Are there several nodes, and do the parameters leave something to try? */
bool coll_lowlat_wants_trials(const lowlat_module_t *module);

/*
 * What all ranks remember of a communicator of the same shape: *trials, of no lengths if they
 * don't.  All ranks take part, with the same result.
 */
arc_status_t coll_lowlat_recall_trials(lowlat_module_t *module,
                                       lowlat_trials_t *trials) ARC_MUST_CHECK;

/*
 * Make module->plan from *trials, and have module->net use it; make the trials first, if there
 * are none.  The module is otherwise ready.  All ranks take part; the plan is the same on all of
 * them.  After an error the communicator cannot be used.
 */
arc_status_t coll_lowlat_plan(lowlat_module_t *module, lowlat_trials_t *trials) ARC_MUST_CHECK;

#endif
