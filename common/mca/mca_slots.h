/*
 * The slots of a communicator that a component can take, one for each collective.
 *
 * A slot holds a function and its module.  A module that enters a slot keeps what
 * is in it as the component below, and has it put back when it leaves:
 *
 *   before    slot: tuned
 *   entered   slot: ours       below: tuned (with a reference)
 *   left      slot: tuned
 *
 * Collectives have functions of different types; a row of the table makes the typed
 * code of a slot.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_SLOTS_H
#define MCA_SLOTS_H

#include <stdbool.h>

#include "mca_compat.h"

/* clang-format off */
/* X(name, call): the name as in Open MPI's structures, and what users call it. */
#define ARC_SLOT_TABLE(X)                                \
    X(allreduce,            "MPI_Allreduce")             \
    X(reduce_scatter_block, "MPI_Reduce_scatter_block")  \
    X(allgather,            "MPI_Allgather")
/* clang-format on */

typedef enum arc_slot {
#define X(_name, _call) ARC_SLOT_##_name,
    ARC_SLOT_TABLE(X)
#undef X
        ARC_SLOTS
} arc_slot_t;

/* A set of slots: the sum of their bits. */
static inline unsigned arc_slot_bit(arc_slot_t slot)
{
    return 1U << (unsigned) slot;
}

typedef struct arc_module arc_module_t;

/* As users know it: "MPI_Allreduce". */
const char *arc_slot_call(arc_slot_t slot);

/*
 * Keep what is in the slot as the component below, and name our function in the module.  Open MPI,
 * or mca_slot_fill(), then puts it into the slot.  False, and nothing changes: the slot is empty,
 * or the component has no function for it.
 */
bool mca_slot_enter(arc_module_t *module, arc_slot_t slot);

/* Put our function and module into a slot that was entered. */
void mca_slot_fill(arc_module_t *module, arc_slot_t slot);

/* Give the slot back to the component below; nothing if another one has come above it. */
void mca_slot_leave(arc_module_t *module, arc_slot_t slot);

/*
 * Does a module of higher priority serve the collective?  What the slot holds at the
 * moment does not tell: han puts the functions it saved back for a while, without
 * references.  The list has all modules in ascending order of priority.
 */
bool mca_slot_has_one_above(const arc_module_t *module, arc_slot_t slot);

/*
 * Take what is below the component below in its place, in a slot that was entered: the module of
 * the next lower priority that serves the collective.  False, and nothing changes: there is none.
 */
bool mca_slot_descend(arc_module_t *module, arc_slot_t slot);

#endif
