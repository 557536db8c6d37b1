/*
 * The shared memory of a process, for one component: regions of its own, from which its
 * communicators take segments, and the regions of other processes that it has mapped.
 *
 *   region   | identity            | segment | segment | ...
 *            ARC_POOL_UNIT_BYTES     lowlat.h
 *
 * The pool makes a region when there is no room, each several times as large as all before.
 * Regions stay until the process ends, or until a communicator turns out to need none and no other
 * does.  So do mappings, but for those of processes that another mpirun or MPI_Comm_spawn has
 * started, which come and go.
 *
 * No barrier runs when a communicator is freed: each rank that lets go of it adds one to `left` in
 * the segments of the others, and an owner takes its segment for a new one only after all others
 * have. docs/algorithms.md, "coll_lowlat: memory and flags", has why that suffices.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_POOL_H
#define MCA_POOL_H

#include "lowlat.h"
#include "mca_compat.h"
#include "pool.h"
#include "region.h"

/* Where a peer finds a segment. */
typedef struct mca_place {
    arc_region_key_t key;
    uint64_t offset_bytes; /* in the region */
} mca_place_t;

/* A region of another process, mapped once for all communicators. */
typedef struct mca_mapping mca_mapping_t;

/*
 * When the component is opened.  All processes of the job on this node together may have
 * `most_bytes`, and this one its part of that; the first region of System V memory has
 * `first_bytes`, and pages not written take no memory.
 */
void mca_pool_open(size_t most_bytes, size_t first_bytes);

/* Give all of it back, whoever uses it; when the component is closed, after all else. */
void mca_pool_close(void);

/*
 * What memory is for.  Windows may take the first half of the limit only: without segments nothing
 * is served.  Of what regions have segments of persistent requests may take as much as half of it:
 * a program may keep any number of them, and communicators to come need memory, too.
 */
typedef enum mca_budget {
    MCA_BUDGET_REGIONS,
    MCA_BUDGET_WINDOWS,
    MCA_BUDGET_REQUESTS
} mca_budget_t;

/*
 * Count memory of this process: `best` bytes, or as many whole pages as its part of the node's
 * limit leaves, but not less than `least`.  Returns how many; 0: none.
 */
size_t mca_budget_take(mca_budget_t part, size_t least, size_t best);
void mca_budget_return(mca_budget_t part, size_t bytes);

/*
 * Give back what no communicator uses: mappings, and the regions of a kind if none of them is used
 * or was ever lent: others may have kept mappings of their own.
 */
void mca_pool_trim(void);

/*
 * A segment of ours with arenas of `arena_bytes`, and where it is; its head is zeroed.  NULL: the
 * limit of the process is reached, or this machine does not give such memory.
 */
arc_pool_segment_t *mca_pool_take(arc_region_kind_t kind, size_t arena_bytes, mca_place_t *place);

/* The segment in our memory. */
lowlat_segment_t *mca_pool_segment(arc_region_kind_t kind, const arc_pool_segment_t *segment);

/* Others use it now, too; arenas of so many bytes will do. */
void mca_pool_lend(arc_region_kind_t kind, arc_pool_segment_t *segment, size_t arena_bytes);

/* Give a segment back that `users` other ranks will let go of; 0: no other rank has used it. */
void mca_pool_retire(arc_pool_segment_t *segment, unsigned users);

/*
 * Map the region at the place that `owner` has told; *segment is the segment there.  NULL: the
 * region cannot be mapped, or is another one.
 */
mca_mapping_t *mca_pool_map(arc_region_kind_t kind, opal_process_name_t owner,
                            const mca_place_t *place, lowlat_segment_t **segment);

/* One use of the mapping is over. */
void mca_pool_unmap(mca_mapping_t *mapping);

#endif
