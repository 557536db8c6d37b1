/*
 * A component below that adds up on each node, in its shared memory, for an exchange between nodes
 * that is made by the component above (exchange_fold.h): coll_lowlat for coll_quant.
 *
 * One sum at a time, in the order of the calls of the component above; what the one below does for
 * the program itself goes on beside it.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_FOLD_H
#define MCA_FOLD_H

#include "exchange_fold.h"
#include "fiber.h"
#include "mca_module.h"
#include "settled.h"
#include "topology.h"

enum {
    /*
     * The most that arenas of shared memory grow to for this, which has messages of its own length:
     * room for MCA_FOLD_SLOTS chunks of a message for each rank, of 16 ranks with messages of 64
     * KiB of numbers, or of 85 with the shortest ones, 16 KiB.
     */
    MCA_FOLD_ARENA_BYTES = ARC_SETTLED(4 << 20, 256 << 10),
    MCA_FOLD_SLOTS = 3, /* chunks, at least; one more where there is room */
};

/* A sum: MPI_SUM of a predefined type. */
typedef struct mca_fold_call {
    const void *send; /* may be `receive` */
    void *receive;
    int count;
    struct ompi_datatype_t *type;
    /* Bytes of the numbers of a message: as they are best, and less than which is not worth it. */
    size_t message_bytes;
    size_t least_message_bytes;
} mca_fold_call_t;

/* What arenas must have for a call of `ranks`, a message for each of them in a chunk. */
static inline size_t mca_fold_arena_least(const mca_fold_call_t *call, unsigned ranks)
{
    return MCA_FOLD_SLOTS * call->least_message_bytes * ranks;
}

/* All ranks call each function but `open`, in the same order. */
typedef struct mca_fold_ops {
    /*
     * A module for the functions below, for `above`, in whose `fibers` they may be called, and
     * whose time limit and tag its agreements have; `below` is that of mca_fold_below().  Released
     * with OBJ_RELEASE.  Local.  NULL: no memory.
     */
    arc_module_t *(*open)(arc_module_t *below, arc_module_t *above, const arc_fibers_t *fibers);

    /*
     * Once: set up what is needed, for ranks that are placed so.  ARC_OK, ARC_UNSUPPORTED, or an
     * error: the module is broken.  The same on all ranks.
     */
    arc_status_t (*prepare)(arc_module_t *module, const arc_topology_t *topology,
                            const mca_fold_call_t *call) ARC_MUST_CHECK;

    /* Each call: is there memory for it, which may grow?  As `prepare`. */
    arc_status_t (*admit)(arc_module_t *module, const mca_fold_call_t *call) ARC_MUST_CHECK;

    /* Begin it as a task, to be driven to its end. */
    arc_task_t *(*start)(arc_module_t *module, const mca_fold_call_t *call, exchange_fold_t *fold);

    /* After that: *value becomes the largest one of the node.  A task, likewise. */
    arc_task_t *(*start_largest)(arc_module_t *module, float *value);

    /* Who is missing after a time limit: "; waiting for rank 3". */
    void (*describe)(const arc_module_t *module, char *text, size_t text_bytes);

    /* A task came to an error. */
    void (*fail)(arc_module_t *module);
} mca_fold_ops_t;

/*
 * The module below ours in the slot of allreduce, if it is one of coll_lowlat of the same release;
 * otherwise NULL.
 */
arc_module_t *mca_fold_below(const arc_module_t *module);

#endif
