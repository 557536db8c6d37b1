/*
 * The slots of a communicator that a component can take, one for each collective.
 *
 * A slot holds a function and its module.  A module that enters a slot keeps what
 * is in it as the component below, and has it put back when it leaves:
 *
 *   before    slot: tuned
 *   entered   slot: ours       below: tuned (we hold a reference)
 *   left      slot: tuned
 *
 * Collectives have functions of different types; a row of the table makes the typed
 * code of a slot.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_SLOTS_H
#define MCA_SLOTS_H

#include "mca_module.h"

/*
 * Keep what is in the slot as the component below, and put our function there; up to Open MPI 5,
 * which puts it there once more, it is named in the module, too.  False, and nothing changes: the
 * slot is empty, or the component has no function for it.
 */
bool mca_slot_enter(arc_module_t *module, arc_slot_t slot);

/* The module leaves its slots for good: what Open MPI does not do for it. */
void mca_slots_disabled(arc_module_t *module);

/*
 * Take what is below the component below in its place, in a slot that was entered: the module of
 * the next lower priority that serves the collective.  False, and nothing changes: there is none.
 */
bool mca_slot_descend(arc_module_t *module, arc_slot_t slot);

/*
 * Take the slots that the module wants, keeping what is in them as the components below, and leave
 * the others.  Nothing for a slot if the module is in its chain of components already, or one of
 * higher priority is, which has not called us so far.
 */
void arc_module_install(arc_module_t *module);

/*
 * Leave the slots to the components below, so that a module that will not serve
 * the communicator costs nothing; nothing where another one has come above it.
 */
void arc_module_uninstall(arc_module_t *module);

#endif
