/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdlib.h>

#include "mca_agreement.h"
#include "mca_stream.h"
#include "sizes.h"

/* The end of what was driven; if that is none, say who is missing. */
static ARC_MUST_CHECK arc_status_t end_with(arc_module_t *module, arc_status_t status,
                                            unsigned missing)
{
    if (ARC_OK != status) {
        (void) arc_module_break_without(module, ARC_SLOTS, status, " to agree", missing);
    }
    return status;
}

typedef struct own {
    mca_stream_t stream;
    arc_agreement_t agreement;
} own_t;

/* Of the last agreement, for the next one: a rank that has no memory left can still say so. */
static own_t *spare;

static void keep(own_t *own)
{
    free(__atomic_exchange_n(&spare, own, __ATOMIC_ACQ_REL));
}

void arc_agreements_close(void)
{
    keep(NULL);
}

/* Of `count` numbers; or if there is an `ask`, a roll call. */
static ARC_MUST_CHECK arc_status_t agree(arc_module_t *module, uint64_t *values, int count,
                                         arc_roll_fn_t ask, void *context)
{
    const arc_wait_t wait = arc_module_wait(module);
    arc_status_t status = ARC_ERR_NO_MEMORY;
    unsigned missing = 0;

    if (ARC_PHASE_BROKEN == module->phase) {
        return ARC_ERR_TIMEOUT;
    }
    own_t *own = __atomic_exchange_n(&spare, NULL, __ATOMIC_ACQ_REL);
    own = NULL == own ? malloc(sizeof *own) : own;
    if (NULL != own) {
        mca_stream_init(&own->stream, module->comm, module->agreement_tag);
        if (NULL != ask) {
            arc_agreement_call_roll(&own->agreement, &own->stream.base, values, ask, context);
        } else {
            arc_agreement_start(&own->agreement, &own->stream.base, values, (unsigned) count);
        }
        status = arc_agreement_run(&own->agreement, values, &wait, &missing);
    }
    status = end_with(module, status, missing);
    if (ARC_PHASE_BROKEN != module->phase) {
        keep(own);
    }
    return status;
}

arc_status_t arc_module_min(arc_module_t *module, uint64_t *values, int count)
{
    return agree(module, values, count, NULL, NULL);
}

arc_status_t arc_module_call_roll(arc_module_t *module, uint64_t *values, arc_roll_fn_t ask,
                                  void *context)
{
    return agree(module, values, 0, ask, context);
}

arc_status_t arc_module_malloc(arc_module_t *module, size_t bytes, void **memory)
{
    void *own = malloc(bytes + 1);
    uint64_t ok = NULL != own;
    const arc_status_t status = arc_module_min(module, &ok, 1);

    if (ARC_OK != status || !ok) {
        free(own);
        own = NULL;
    }
    *memory = own;
    return status;
}

void arc_module_disagree(arc_module_t *module, arc_reason_t reason)
{
    module->phase = ARC_PHASE_DECLINED;
    module->declined = reason;
    module->component->disagreed(module);
}

void arc_module_agree(arc_module_t *module, uint64_t hash)
{
    /* min(hash) and min(~hash) = ~max(hash): equal to ours on all ranks only if all are equal. */
    uint64_t values[] = {hash, ~hash};

    if (ARC_OK != arc_module_min(module, values, 2)) {
        return; /* the module is broken */
    }
    if (values[0] != ~values[1]) {
        arc_module_disagree(module, ARC_REASON_CONFIG_DIFFERS);
        arc_module_log(module, ARC_LOG_WARN,
                       "not used: its version, an info key or the coll_%s parameters are not the "
                       "same on all ranks; set these once, on the mpirun command line",
                       arc_component_name(module->component));
        return;
    }
    module->phase = ARC_PHASE_AGREED;
}

/* ---- cards ---- */

arc_status_t arc_module_trade(arc_module_t *module, arc_stream_t *stream, arc_link_t *link,
                              unsigned links)
{
    const arc_wait_t wait = arc_module_wait(module);
    unsigned missing = 0;
    const arc_status_t status = arc_steps_trade(stream, link, links, &wait, &missing);

    return end_with(module, status, missing);
}

/* Number `member` of the circle in the communicator. */
static unsigned rank_of(const mca_circle_t *circle, unsigned member)
{
    return NULL == circle->members ? member : circle->members[member];
}

arc_status_t mca_gather(arc_module_t *module, const mca_circle_t *circle, void *cards,
                        size_t card_bytes)
{
    const unsigned ranks = circle->ranks;
    unsigned char *place = cards;
    arc_status_t status = ARC_OK;
    mca_stream_t stream;

    mca_stream_init(&stream, module->comm, module->agreement_tag + MCA_COMPAT_TAG_GATHER);
    for (unsigned step = 1; step < ranks && ARC_OK == status; step *= 2) {
        const size_t bytes = card_bytes * arc_min(step, ranks - step);
        arc_link_t link[] = {{.peer = rank_of(circle, arc_rank_before(circle->self, ranks, step)),
                              .sent = place,
                              .sent_bytes = bytes},
                             {.peer = rank_of(circle, arc_rank_after(circle->self, ranks, step)),
                              .received = place + step * card_bytes,
                              .received_bytes = bytes}};

        status = arc_module_trade(module, &stream.base, link, sizeof link / sizeof link[0]);
    }
    return status;
}

/* ---- nodes ---- */

/*
 * The lowest rank of this rank's node: a number for the node that all its ranks find.  So
 * many ranks of MPI_COMM_WORLD are a node, in their order, if `declared` is not 0.
 */
static uint32_t node_id(struct ompi_communicator_t *comm, unsigned declared)
{
    struct ompi_group_t *group = comm->c_local_group;
    const int self = ompi_comm_rank(comm);
    int rank = 0;

    while (rank < self && !(declared > 0 ? ompi_group_get_proc_name(group, rank).vpid / declared ==
                                               ompi_group_get_proc_name(group, self).vpid / declared
                                         : mca_compat_is_local(group, rank))) {
        ++rank;
    }
    return (uint32_t) rank;
}

arc_status_t mca_nodes_find(arc_module_t *module, unsigned declared, arc_topology_t *topology)
{
    const mca_circle_t all = {.ranks = (unsigned) ompi_comm_size(module->comm),
                              .self = (unsigned) ompi_comm_rank(module->comm)};
    void *memory = NULL;

    arc_status_t status = arc_module_malloc(module, 2 * all.ranks * sizeof(uint32_t), &memory);
    uint32_t *cards = memory;
    if (ARC_OK == status && NULL == cards) {
        status = ARC_ERR_NO_MEMORY;
    }
    if (ARC_OK == status) {
        cards[0] = node_id(module->comm, declared);
        status = mca_gather(module, &all, cards, sizeof cards[0]);
    }
    if (ARC_OK == status) {
        uint32_t *node_of = cards + all.ranks; /* every rank's, in their order */
        for (unsigned rank = 0; rank < all.ranks; ++rank) {
            node_of[rank] = cards[mca_gather_place(&all, rank)];
        }
        status = arc_topology_make(topology, node_of, all.ranks, all.self);
        module->nodes = ARC_OK == status ? topology->nodes : 0;
    }
    arc_module_free(module, cards);
    return status;
}
