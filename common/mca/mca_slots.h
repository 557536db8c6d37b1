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
/* X(name, call): the name as in Open MPI's structures, and what users call it.  In each form the
 * collectives are in the same order. */
#define ARC_COLLECTIVE_TABLE(X)                                     \
    X(allreduce,                 "MPI_Allreduce")                   \
    X(reduce_scatter_block,      "MPI_Reduce_scatter_block")        \
    X(allgather,                 "MPI_Allgather")
#define ARC_NONBLOCKING_TABLE(X)                                    \
    X(iallreduce,                "MPI_Iallreduce")                  \
    X(ireduce_scatter_block,     "MPI_Ireduce_scatter_block")       \
    X(iallgather,                "MPI_Iallgather")
#define ARC_PERSISTENT_TABLE(X)                                     \
    X(allreduce_init,            "MPI_Allreduce_init")              \
    X(reduce_scatter_block_init, "MPI_Reduce_scatter_block_init")   \
    X(allgather_init,            "MPI_Allgather_init")
#define ARC_SLOT_TABLE(X) ARC_COLLECTIVE_TABLE(X) ARC_NONBLOCKING_TABLE(X) ARC_PERSISTENT_TABLE(X)
/* clang-format on */

typedef enum arc_slot {
#define X(_name, _call) ARC_SLOT_##_name,
    ARC_SLOT_TABLE(X)
#undef X
        ARC_SLOTS
} arc_slot_t;

typedef enum arc_form {
    ARC_FORM_BLOCKING,
    ARC_FORM_NONBLOCKING,
    ARC_FORM_PERSISTENT,
    ARC_FORMS,
} arc_form_t;

enum { ARC_COLLECTIVES = ARC_SLOTS / ARC_FORMS };
_Static_assert((int) ARC_SLOT_iallreduce == (int) ARC_COLLECTIVES &&
                   (int) ARC_SLOT_allreduce_init == 2 * (int) ARC_COLLECTIVES,
               "the same collectives in each form");

/* The slot of a collective, which is named by its blocking one, in another form. */
static inline arc_slot_t arc_slot_of_form(arc_slot_t collective, arc_form_t form)
{
    return (arc_slot_t) ((int) collective + (int) form * (int) ARC_COLLECTIVES);
}

/* All forms of a collective: the sum of their bits. */
static inline unsigned arc_slot_forms(arc_slot_t collective)
{
    return (1U | 1U << (unsigned) ARC_COLLECTIVES | 1U << 2 * (unsigned) ARC_COLLECTIVES)
           << (unsigned) collective;
}

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
