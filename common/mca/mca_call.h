/*
 * The calls that a component can serve: collectives, each in three forms, which have a slot of a
 * communicator each (mca_slots.h).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_CALL_H
#define MCA_CALL_H

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

/* As users know it: "MPI_Allreduce".  `slot`: an arc_slot_t. */
static inline const char *arc_slot_call(unsigned slot)
{
    static const char *const calls[ARC_SLOTS] = {
#define X(_name, _call) _call,
        ARC_SLOT_TABLE(X)
#undef X
    };

    return calls[slot];
}

/*
 * A call of a program.  It is handed down from the slot (mca_entry.h) to whoever serves it: no
 * module holds anything of it.
 */
typedef struct arc_call {
    arc_slot_t collective; /* ARC_SLOT_allreduce, ...: the blocking one */
    arc_form_t form;
    const void *send;
    void *receive;
    mca_compat_count_t count; /* of a vector, or of each block that is received */
    struct ompi_datatype_t *type;
    struct ompi_op_t *op; /* NULL: an allgather, which has a count and a type to send */
    mca_compat_count_t send_count;
    struct ompi_datatype_t *send_type;
    uint64_t number; /* that component->decide gave a nonblocking one; 0: none */
    int tags;        /* ... and its first tag (arc_module_t.reserved) */
    bool widened;    /* a sum of 16-bit floats by way of floats: they count as what they are */
} arc_call_t;

static inline arc_slot_t arc_call_slot(const arc_call_t *call)
{
    return arc_slot_of_form(call->collective, call->form);
}

#endif
