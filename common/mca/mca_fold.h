/*
 * A component below that adds up on each node, in its shared memory, for an exchange between nodes
 * that is made by the component above (exchange_fold.h): coll_lowlat for coll_quant.
 *
 * Only in blocking calls, which wait first for all that is pending in both.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_FOLD_H
#define MCA_FOLD_H

#include "exchange_fold.h"
#include "mca_component.h"
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

/* `module` is that of mca_fold_below(); all ranks call each function, in the same order. */
typedef struct mca_fold_ops {
    /*
     * Once: set up what is needed, for ranks that are placed so.  ARC_OK, ARC_UNSUPPORTED, or an
     * error: the module is broken.  The same on all ranks.
     */
    arc_status_t (*prepare)(arc_module_t *module, const arc_topology_t *topology,
                            const mca_fold_call_t *call) ARC_MUST_CHECK;

    /* Will memory have to grow for the call?  Then the ranks set something up again.  As above. */
    bool (*grows)(arc_module_t *module, const mca_fold_call_t *call);

    /* Each call: is there memory for it?  As `prepare`. */
    arc_status_t (*admit)(arc_module_t *module, const mca_fold_call_t *call) ARC_MUST_CHECK;

    /* Begin it as a task, to be driven to its end. */
    arc_task_t *(*start)(arc_module_t *module, const mca_fold_call_t *call, exchange_fold_t *fold);

    /* After that: *value becomes the largest one of the node.  A task, likewise. */
    arc_task_t *(*start_largest)(arc_module_t *module, float *value);

    /* Who is missing after a time limit: "; waiting for rank 3". */
    void (*describe)(const arc_module_t *module, char *text, size_t text_bytes);

    /* The task came to `status`; the last one, if it is ARC_OK.  An MPI error code. */
    int (*end)(arc_module_t *module, arc_status_t status);
} mca_fold_ops_t;

/*
 * The module below ours in the slot of allreduce, if it is one of coll_lowlat of the same release;
 * otherwise NULL.
 */
arc_module_t *mca_fold_below(const arc_module_t *module);

#endif
