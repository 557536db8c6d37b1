/*
 * The end of a module in the middle of a call: there is no way back after the first byte.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_BREAK_H
#define MCA_BREAK_H

#include "mca_module.h"

/*
 * A call of a slot, or what several calls have in common (ARC_SLOTS), failed after its first byte
 * was out: say so, break the module for good, and return an MPI error.  If it is broken already,
 * nothing is said.  Later calls return arc_module_broken_error().
 */
int arc_module_break(arc_module_t *module, arc_slot_t slot, arc_status_t status,
                     const char *details);
int arc_module_broken_error(void);

/* The same; after a time limit it says that rank `missing` was waited for. */
int arc_module_break_without(arc_module_t *module, arc_slot_t slot, arc_status_t status,
                             const char *details, unsigned missing);

#endif
