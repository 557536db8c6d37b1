/*
 * How the ranks of a node come to use each other's segments:
 *
 *   1  take a segment from our pool, the largest that it has, up to what is wished
 *   2  gather, on the node, cards { bytes, place, processors we have }
 *   3  map every peer's region, unless an earlier communicator has, and look for the peer's
 *      random number there: a key from another IPC namespace can map somebody else's memory
 *   4  minimum over all ranks of the bytes: all use what they mapped, or nobody does
 *
 * Step 4 is an agreement (agreement.h).  A failure is 0 bytes and not acted upon before step 4,
 * so that no rank waits for one that has left.  Until then nobody reads or writes a segment, so
 * after a failure it is free at once.  One kind of memory after the other is tried, the same
 * on all ranks.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdlib.h>

#include "cores.h"
#include "lowlat_memory.h"
#include "mca_agreement.h"
#include "mca_seat.h"
#include "mca_share.h"
#include "sizes.h"
#include "wait.h"

/* What a rank tells the others.  The same program on the same node: no byte order to care for. */
typedef struct card {
    uint64_t arena_bytes; /* 0: it has no memory */
    mca_place_t place;
    arc_cores_t cores;
    lowlat_seat_t seat;
} card_t;

/* The processors of this process, as they were at `ns`; 0: not known. */
static struct {
    pthread_mutex_t lock;
    int64_t ns;
    arc_cores_t cores;
} own = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Not older than a second: the system is asked at most so often, which takes about 60 us. */
static arc_cores_t get_cores(void)
{
    const unsigned processes = 1 + (unsigned) opal_process_info.num_local_peers;
    const int64_t now_ns = arc_now_ns();

    (void) pthread_mutex_lock(&own.lock);
    if (0 == own.ns || now_ns - own.ns > ARC_NS_PER_SECOND) {
        arc_cores_get(&own.cores, processes, "");
        /* mpirun sets it when there are more processes than slots on the node. */
        own.cores.crowded |= opal_progress_yield_when_idle ? ARC_CORES_MANY : 0;
        own.ns = now_ns;
    }
    const arc_cores_t cores = own.cores;
    (void) pthread_mutex_unlock(&own.lock);
    return cores;
}

static void unmap_all(mca_share_t *share)
{
    for (unsigned rank = 0; NULL != share->mapping && rank < share->ranks; ++rank) {
        if (NULL != share->mapping[rank]) {
            mca_pool_unmap(share->mapping[rank]);
            share->mapping[rank] = NULL;
        }
    }
}

static void free_lists(mca_share_t *share)
{
    free(share->mapping);
    free(share->segment);
    memset(share, 0, sizeof *share);
}

void mca_share_release(mca_share_t *share)
{
    if (NULL == share->own) {
        return;
    }
    for (unsigned rank = 0; rank < share->ranks; ++rank) {
        if (rank != share->rank) {
            lowlat_leave(share->segment[rank]);
        }
    }
    unmap_all(share);
    mca_pool_retire(share->own, share->ranks - 1);
    free_lists(share);
}

/* Step 1.  Fills our card; 0 bytes if there is no memory. */
static void offer_segment(mca_share_t *share, size_t wish_bytes, size_t floor_bytes, card_t *card)
{
    size_t arena_bytes = wish_bytes;

    memset(card, 0, sizeof *card);
    card->cores = get_cores();
    share->own = mca_pool_take(share->kind, arena_bytes, &card->place);
    while (NULL == share->own && arena_bytes / 2 > floor_bytes) {
        arena_bytes /= 2;
        share->own = mca_pool_take(share->kind, arena_bytes, &card->place);
    }
    card->arena_bytes = NULL == share->own ? 0 : arena_bytes;
}

static mca_circle_t circle_of(const arc_topology_t *topology)
{
    return (mca_circle_t){topology->members, topology->local_ranks, topology->local_rank};
}

/* Step 3.  The least bytes on our node; 0 if not every segment is mapped. */
static uint64_t attach_peers(mca_share_t *share, const struct ompi_communicator_t *comm,
                             const arc_topology_t *topology, const card_t *cards)
{
    const mca_circle_t node = circle_of(topology);
    uint64_t least = UINT64_MAX;

    /* All first: where a rank has no memory nothing need be attached. */
    for (unsigned i = 0; i < share->ranks; ++i) {
        least = arc_min(least, cards[i].arena_bytes);
    }
    for (unsigned i = 0; 0 != least && i < share->ranks; ++i) {
        if (i == share->rank) {
            share->segment[i] = mca_pool_segment(share->kind, share->own);
            continue;
        }
        share->mapping[i] = mca_pool_map(
            share->kind, ompi_group_get_proc_name(comm->c_local_group, (int) topology->members[i]),
            &cards[mca_gather_place(&node, i)].place, &share->segment[i]);
        least = NULL == share->mapping[i] ? 0 : least;
    }
    return least;
}

/* By the cards of our node, but for reasons to `ignore`; without memory for that, yes. */
static bool are_cores_shared(const card_t *cards, unsigned ranks, uint32_t ignore)
{
    arc_cores_t *all = calloc(ranks, sizeof *all);
    bool shared = true;

    if (NULL != all) {
        for (unsigned i = 0; i < ranks; ++i) {
            all[i] = cards[i].cores;
            all[i].crowded &= ~ignore;
        }
        shared = arc_cores_are_shared(all, ranks);
    }
    free(all);
    return shared;
}

/*
 * Steps 2 to 4 with one kind of memory, cards[0] being ours.  ARC_UNSUPPORTED: not on all ranks;
 * try another.
 */
static arc_status_t try_kind(mca_share_t *share, arc_module_t *module,
                             const arc_topology_t *topology, mca_facts_t *facts, card_t *cards)
{
    uint64_t all[] = {0, 0, 0, 0, 0}; /* the least bytes, and facts */

    const mca_circle_t node = circle_of(topology);
    if (NULL != facts && NULL != facts->seats) {
        cards[0].seat = mca_seat_of_cores(&cards[0].cores);
    }
    arc_status_t status = mca_gather(module, &node, cards, sizeof cards[0]);
    if (ARC_OK != status) {
        return status;
    }
    all[0] = attach_peers(share, module->comm, topology, cards);
    if (NULL != facts) {
        all[1] = !are_cores_shared(cards, share->ranks, 0);
        all[2] = facts->all_remember;
        all[3] = !are_cores_shared(cards, share->ranks, ARC_CORES_WAITED);
        all[4] = facts->all_duplex;
    }
    status = arc_module_min(module, all, sizeof all / sizeof all[0]);
    if (ARC_OK == status && 0 != all[0]) {
        share->arena_bytes = (size_t) all[0];
        mca_pool_lend(share->kind, share->own, share->arena_bytes);
        if (NULL != facts) {
            facts->cores_shared = !all[1];
            facts->all_remember = all[2];
            facts->cores_few = !all[3];
            facts->all_duplex = all[4];
            for (unsigned i = 0; NULL != facts->seats && i < share->ranks; ++i) {
                facts->seats[i] = cards[mca_gather_place(&node, i)].seat;
            }
        }
        return ARC_OK;
    }
    unmap_all(share);
    if (ARC_OK == status && NULL != share->own) {
        mca_pool_retire(share->own, 0);
    }
    share->own = NULL;
    return ARC_OK == status ? ARC_UNSUPPORTED : status; /* with an error others may go on */
}

arc_status_t mca_share_make(mca_share_t *share, arc_module_t *module,
                            const arc_topology_t *topology, bool ready, size_t wish_bytes,
                            size_t floor_bytes, mca_facts_t *facts)
{
    const unsigned ranks = topology->local_ranks;
    card_t *cards = ready ? calloc(ranks, sizeof *cards) : NULL;
    mca_share_t made = {.rank = topology->local_rank,
                        .ranks = ranks,
                        .mapping = ready ? calloc(ranks, sizeof *made.mapping) : NULL,
                        .segment = ready ? calloc(ranks, sizeof *made.segment) : NULL};
    /* All that is needed even to take part in a failure. */
    uint64_t ok = NULL != cards && NULL != made.mapping && NULL != made.segment;

    arc_status_t status = arc_module_min(module, &ok, 1);
    if (ARC_OK == status) {
        status = ARC_UNSUPPORTED;
    }
    for (arc_region_kind_t kind = 0; ok && ARC_UNSUPPORTED == status && kind < ARC_REGION_KINDS;
         ++kind) {
        made.kind = kind;
        offer_segment(&made, wish_bytes, floor_bytes, &cards[0]);
        status = try_kind(&made, module, topology, facts, cards);
    }
    arc_module_free(module, cards);
    if (ARC_OK == status) {
        mca_share_release(share);
        *share = made;
    } else {
        free_lists(&made);
        mca_pool_trim();
    }
    return status;
}

/*
 * The rank of the communicator that keeps `task` waiting: one of the node that has not made the
 * call; if all have, that of another node whose message is awaited; if there is none, one of the
 * node that is behind.  UINT_MAX: there is none.  *from, 0 at first, leads to the next one.
 */
static unsigned awaited(const arc_topology_t *topology, const lowlat_task_t *task, unsigned *from)
{
    const unsigned node = arc_task_awaits(&task->task);
    bool absent = false;

    for (unsigned i = 0; i < topology->local_ranks && !absent; ++i) {
        absent = lowlat_is_absent(task, i);
    }
    if (!absent && node < topology->nodes) {
        const bool first = 0 == *from;
        *from = topology->local_ranks;
        return first ? topology->peers[node] : UINT_MAX;
    }
    while (*from < topology->local_ranks) {
        const unsigned i = (*from)++;
        if (absent ? lowlat_is_absent(task, i) : task->task.ops->waits_for(&task->task, i)) {
            return topology->members[i];
        }
    }
    return UINT_MAX;
}

arc_wait_cause_t mca_share_cause(const arc_topology_t *topology, const lowlat_task_t *task,
                                 unsigned *from, unsigned *rank)
{
    *rank = awaited(topology, task, from);
    for (unsigned i = 0; i < topology->local_ranks; ++i) {
        if (topology->members[i] == *rank) {
            return lowlat_is_absent(task, i) ? ARC_WAIT_LATE : ARC_WAIT_MEMORY;
        }
    }
    return UINT_MAX == *rank ? ARC_WAIT_MEMORY : ARC_WAIT_MESSAGES;
}
