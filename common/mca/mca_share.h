/*
 * Memory that all ranks of a communicator's node map: made, shared and given back together.  Each
 * component has its own.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_SHARE_H
#define MCA_SHARE_H

#include "mca_module.h"
#include "mca_pool.h"
#include "topology.h"

/* One segment per rank of a node.  Zero-initialised: none. */
typedef struct mca_share {
    unsigned rank; /* on the node */
    unsigned ranks;
    size_t arena_bytes;
    arc_region_kind_t kind;     /* which one worked */
    arc_pool_segment_t *own;    /* in our pool */
    mca_mapping_t **mapping;    /* [ranks] the peers' regions; NULL: our own */
    lowlat_segment_t **segment; /* [ranks] */
} mca_share_t;

/* What all ranks agree on besides, when they share memory for the first time. */
typedef struct mca_facts {
    bool cores_shared; /* some ranks have no core of their own */
    bool cores_few;    /* ... also if no rank ever waits for one: the same in every run */
    bool all_remember; /* before: this rank remembers how to stage; after: all do */
    bool all_duplex;   /* before: mca_compat_is_duplex(); after: of all ranks */
    /* [ranks of the node] where they sit, in their order; NULL: not wanted, on all ranks alike. */
    lowlat_seat_t *seats;
} mca_facts_t;

/*
 * Share segments with arenas of `wish_bytes`, or of half of that, a quarter, ..., but of more than
 * `floor_bytes`: the most that all ranks can get.  They replace what *share has.  All ranks take
 * part and get the same status: ARC_OK, ARC_UNSUPPORTED (no such memory that all can map, or some
 * rank is not `ready`), or an error of the messages, which may have broken the module; then *share
 * and *facts are as before.  A rank that is not ready needs no topology.  `facts` may be NULL, on
 * all ranks alike.
 */
arc_status_t mca_share_make(mca_share_t *share, arc_module_t *module,
                            const arc_topology_t *topology, bool ready, size_t wish_bytes,
                            size_t floor_bytes, mca_facts_t *facts) ARC_MUST_CHECK;

/*
 * Give the memory back; nothing if there is none.  No barrier: a peer may still use our segment in
 * an operation that we have completed, so that the pool waits for it (mca_pool.h).
 */
void mca_share_release(mca_share_t *share);

/* arc_component_t's `awaited`, of the ranks of a topology. */
arc_wait_cause_t mca_share_cause(const arc_topology_t *topology, const lowlat_task_t *task,
                                 unsigned *from, unsigned *rank);

#endif
