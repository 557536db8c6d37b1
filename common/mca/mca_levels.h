/*
 * The levels of a node (lowlat_levels.h), as a parameter says or by where ranks sit.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_LEVELS_H
#define MCA_LEVELS_H

#include "mca_share.h"
#include "settled.h"

/* Are ranks with these facts crowded?  Tests have no cores to spare. */
#define MCA_LEVELS_CROWDED(_facts) ARC_SETTLED((_facts)->cores_few, false)

/* Says so if the parameter's text is wrong. */
void mca_levels_warn(const char *component, const char *text);

/*
 * When the ranks of the node are known: the levels if the parameter says them; room in facts->seats
 * for the seats if these are needed.  False: there is no memory.
 */
bool mca_levels_begin(const char *text, lowlat_group_t *group, mca_facts_t *facts);

/*
 * When the facts are known, and frees the seats.  Owner i of a node exchanges with owner i of the
 * others, so the nodes are flat if their groups differ, too; and if ranks are `crowded`, unless the
 * parameter says groups.  The bits of sums depend on the groups, so that is to be what is the same
 * in every run.  All ranks together; may break the module.
 */
void mca_levels_end(arc_module_t *module, const arc_topology_t *topology, const char *text,
                    bool crowded, mca_facts_t *facts, lowlat_group_t *group);

/* "levels 8,4,2", the members of our groups, innermost first; "flat". */
void mca_levels_describe(const lowlat_levels_t *levels, char *text, size_t text_bytes);

#endif
