/*
 * How the ranks of a communicator stage (lowlat_staging.h): tried once for each group of
 * processes on a node, remembered for later communicators of the same group, tried again where
 * cores have moved.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_LOWLAT_STAGING_H
#define COLL_LOWLAT_STAGING_H

#include "coll_lowlat.h"

/* Does this rank remember how its group on the node stages?  Sets it then. */
bool coll_lowlat_staging_recall(lowlat_module_t *module);

/* Of no group any more. */
void coll_lowlat_staging_forget(void);

/*
 * As the user says, else as all ranks remember it, if all do, else as a trial tells; on several
 * nodes and on shared cores by ordinary stores.  All ranks together, between two operations, after
 * the recall.  May break the module.
 */
void coll_lowlat_staging_choose(lowlat_module_t *module, bool all_remember);

/* Find out what is fastest here, now.  All ranks together, between two operations.  May break the
 * module. */
void coll_lowlat_staging_try(lowlat_module_t *module);

#endif
