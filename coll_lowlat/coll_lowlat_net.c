/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdlib.h>

#include "coll_lowlat_net.h"
#include "coll_lowlat_puts.h"
#include "coll_lowlat_settled.h"
#include "lowlat_order.h"
#include "lowlat_select.h"
#include "sizes.h"

static void warn_of_messages(const lowlat_module_t *module, const char *why)
{
    lowlat_component_t *component = &mca_coll_lowlat_component;

    (void) pthread_mutex_lock(&component->base.lock);
    const bool is_news = !component->told_of_messages;
    component->told_of_messages = true;
    (void) pthread_mutex_unlock(&component->base.lock);
    if (is_news) {
        arc_module_log(&module->base, ARC_LOG_WARN,
                       "coll_lowlat_nodes_transport %s: messages are used between the nodes; on "
                       "some rank: %s",
                       LOWLAT_TRANSPORT_PUTS == component->config.nodes_transport ? "puts" : "auto",
                       why);
    }
}

bool lowlat_net_opened(lowlat_module_t *module)
{
    const char *why = lowlat_puts_settle(module);

    if (NULL != why && ARC_PHASE_BROKEN != module->base.phase) {
        warn_of_messages(module, why);
    } else if (NULL != module->port) {
        arc_module_log(&module->base, ARC_LOG_CHOICE, "connected: puts over %s",
                       lowlat_puts_transports(mca_coll_lowlat_component.puts));
    }
    return NULL != module->port;
}

void lowlat_net_use(lowlat_module_t *module, bool puts)
{
    if (puts == module->over_puts) {
        return;
    }
    module->over_puts = puts;
    module->net.direct_nodes = puts ? LOWLAT_PUT_NODES : LOWLAT_ORDER_NODES;
    module->base.wait.spins = puts && !module->group.cores_shared ? LOWLAT_SPINS : 0;
    for (unsigned i = 0; i < LOWLAT_EXCHANGES; ++i) {
        module->net.exchange[i].stream =
            puts ? lowlat_port_stream(module->port, i) : &module->stream[i].base;
    }
    /* Over the same memory, other streams; nodes that direct does not reach by puts keep these. */
    if (NULL != module->net.pipe && (module->net.loops || module->net.nodes <= LOWLAT_PUT_NODES)) {
        lowlat_pipe_init(&module->net, &(arc_room_t){.memory = module->net.pipe});
    }
}

void lowlat_net_connect(lowlat_module_t *module)
{
    const lowlat_component_t *component = &mca_coll_lowlat_component;
    uint64_t all_can = NULL != component->puts;

    if (LOWLAT_TRANSPORT_PUTS != component->config.nodes_transport ||
        ARC_OK != arc_module_min(&module->base, &all_can, 1)) {
        return;
    }
    const char *why = all_can ? lowlat_puts_connect(module) : "UCX is not there";
    if (NULL != why && ARC_PHASE_BROKEN != module->base.phase) {
        warn_of_messages(module, why);
    }
    lowlat_net_use(module, NULL != module->port);
}

/* The pipe of a rank that exchanges; others have none. */
static bool make_pipe(lowlat_module_t *module)
{
    arc_room_t room = {.memory = NULL};

    lowlat_pipe_init(&module->net, &room);
    if (0 == room.used || module->topology.local_rank >= module->net.owners) {
        return true;
    }
    room = (arc_room_t){.memory = aligned_alloc(ARC_ALIGN_BYTES, room.used)};
    if (NULL != room.memory) {
        lowlat_pipe_init(&module->net, &room);
    }
    return NULL != room.memory;
}

/* What our own exchanges need; without memory for it module->scratch is NULL. */
static void make_exchanges(lowlat_module_t *module)
{
    static const int tags[LOWLAT_EXCHANGES] = {
        MCA_COLL_BASE_TAG_ALLREDUCE, MCA_COLL_BASE_TAG_REDUCE_SCATTER, MCA_COLL_BASE_TAG_ALLGATHER,
        MCA_COLL_BASE_TAG_REDUCE};
    lowlat_net_t *net = &module->net;
    /* Functions of the program may count on the alignment of their vectors. */
    const bool has_long = net->single && net->long_chunk_bytes > net->chunk_bytes;
    const size_t scratch_bytes =
        arc_round_up(has_long ? net->long_chunk_bytes : net->chunk_bytes, LOWLAT_CACHE_LINE_BYTES);
    const size_t places = net->single && net->gives_up ? 2 : 1;

    /* What no call needs is never written, and takes no memory. */
    module->scratch =
        aligned_alloc(LOWLAT_CACHE_LINE_BYTES, places * LOWLAT_EXCHANGES * scratch_bytes);
    for (int i = 0; NULL != module->scratch && i < LOWLAT_EXCHANGES; ++i) {
        lowlat_exchange_t *exchange = &net->exchange[i];
        mca_stream_init(&module->stream[i], module->base.comm, tags[i]);
        module->stream[i].tags = &module->base.tags;
        module->stream[i].number = i;
        exchange->stream = &module->stream[i].base;
        exchange->scratch = module->scratch + (size_t) i * places * scratch_bytes;
        exchange->place = exchange->scratch + (places - 1) * scratch_bytes;
    }
}

static size_t chunk_bytes_of(const arc_topology_t *topology)
{
    const size_t shares_bytes =
        (size_t) LOWLAT_NODES_SHARE_BYTES * topology->nodes * topology->owners;
    const size_t bytes = arc_min(shares_bytes, LOWLAT_NODES_LONG_CHUNK_BYTES);

    return bytes > LOWLAT_NODES_CHUNK_BYTES ? bytes : LOWLAT_NODES_CHUNK_BYTES;
}

bool lowlat_net_make(lowlat_module_t *module)
{
    module->net = (lowlat_net_t){
        .nodes = module->topology.nodes,
        .node = module->topology.node,
        .owners = module->topology.owners,
        .peer = module->topology.peers,
        .single = 1 == module->topology.largest,
        .gives_up = mca_coll_lowlat_component.config.arc_timeout > 0,
        .loops = LOWLAT_ALGORITHM_RING == lowlat_forced(&mca_coll_lowlat_component.config, true),
        .chunk_bytes = chunk_bytes_of(&module->topology),
        .long_chunk_bytes = mca_compat_is_duplex() ? LOWLAT_NODES_SINGLE_CHUNK_BYTES : 0,
        .part_bytes = LOWLAT_NODES_PART_BYTES,
        .piece_bytes = LOWLAT_PIECE_BYTES,
        .leader_bytes = LOWLAT_LEADER_BYTES,
    };
    lowlat_pipe_prepare(&module->net);
    module->group.net = &module->net;
    make_exchanges(module);
    return NULL != module->scratch && make_pipe(module);
}

void lowlat_net_release(lowlat_module_t *module, bool keeps)
{
    if (NULL != module->port) {
        lowlat_port_leave(mca_coll_lowlat_component.puts, module->port);
    }
    if (NULL != module->opening) {
        lowlat_port_leave(mca_coll_lowlat_component.puts, module->opening);
    }
    module->port = NULL;
    module->opening = NULL;
    if (!keeps) {
        free(module->scratch);
        free(module->net.pipe);
    }
    module->scratch = NULL;
    module->net.pipe = NULL;
}

unsigned lowlat_net_lost(const lowlat_module_t *module)
{
    return NULL == module->port ? (unsigned) ompi_comm_size(module->base.comm)
                                : lowlat_port_lost(module);
}

void lowlat_net_describe(const lowlat_module_t *module, char *text, size_t text_bytes)
{
    const bool puts = NULL != module->port;

    (void) snprintf(text, text_bytes, "%s%s%s", puts ? "puts over " : "",
                    puts ? lowlat_puts_transports(mca_coll_lowlat_component.puts)
                    : NULL != module->group.net ? "messages"
                                                : "",
                    NULL != module->group.net ? "; " : "");
}
