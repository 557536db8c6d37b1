/*
 * The levels of the node (lowlat_levels.h) of a communicator, as the parameter says or by where its
 * ranks sit.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_LOWLAT_LEVELS_H
#define COLL_LOWLAT_LEVELS_H

#include "coll_lowlat.h"

/* What is wrong with the parameter, or NULL. */
const char *coll_lowlat_levels_wrong(const lowlat_config_t *config);

/*
 * On one node, when its ranks are known: the pairs, and the levels if the parameter says them;
 * room in facts->seats for the seats if these are needed.  False: there is no memory.
 */
bool coll_lowlat_levels_begin(lowlat_module_t *module, mca_facts_t *facts) ARC_MUST_CHECK;

/* When the facts are known, and frees the seats.  All ranks together; may break the module. */
void coll_lowlat_levels_end(lowlat_module_t *module, mca_facts_t *facts);

/* "levels 8,4,2", the members of our groups, innermost first; "flat". */
void coll_lowlat_levels_describe(const lowlat_group_t *group, char *text, size_t text_bytes);

#endif
