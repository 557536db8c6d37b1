/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agreement.h"
#include "lowlat_net.h"
#include "quant_pipeline.h"
#include "quant_settings.h"
#include "scale_parts.h"
#include "sizes.h"
#include "topology.h"

enum { PER_NODE = 64, PIECE_BYTES = 65536 };

/* Called at the begin of each piece of straight code of what is compiled to be counted. */
void __sanitizer_cov_trace_pc(void); /* NOLINT: the compiler's name */

static uint64_t pieces;

void __sanitizer_cov_trace_pc(void)
{
    pieces += 1;
}

static void require(bool ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "scale: %s failed\n", what);
        exit(EXIT_FAILURE);
    }
}

static void count_from_here(void)
{
    pieces = 0;
}

static void note_count(uint64_t *work)
{
    if (NULL != work) {
        *work = pieces;
    }
}

/* ---- which ranks are on which node ---- */

static size_t find_nodes(unsigned ranks, unsigned per_node, uint64_t *work)
{
    uint32_t *node_of = malloc(ranks * sizeof *node_of);
    arc_topology_t topology;

    require(NULL != node_of, "memory");
    for (unsigned rank = 0; rank < ranks; ++rank) {
        node_of[rank] = rank / per_node * per_node;
    }
    count_from_here();
    require(ARC_OK == arc_topology_make(&topology, node_of, ranks, ranks - 1), "topology");
    note_count(work);
    require((ranks + per_node - 1) / per_node == topology.nodes, "number of nodes");
    const size_t bytes = (ranks + topology.nodes) * sizeof(unsigned);
    arc_topology_free(&topology);
    free(node_of);
    return bytes;
}

static size_t find_nodes_of_64(unsigned ranks, uint64_t *work)
{
    return find_nodes(ranks, PER_NODE, work);
}

static size_t find_nodes_of_1(unsigned ranks, uint64_t *work)
{
    return find_nodes(ranks, 1, work);
}

/* ---- an agreement of one rank, whose messages are there at once ---- */

static const void *last_sent;
static unsigned messages;

static arc_status_t mirror_send(arc_stream_t *stream, unsigned peer, const void *buffer,
                                size_t bytes, arc_stream_request_t *request)
{
    last_sent = buffer;
    messages += 1;
    return ARC_OK;
}

static arc_status_t mirror_receive(arc_stream_t *stream, unsigned peer, void *buffer,
                                   size_t capacity_bytes, arc_stream_request_t *request)
{
    request->handle = buffer;
    request->bytes = capacity_bytes;
    return ARC_OK;
}

static arc_status_t mirror_test(arc_stream_t *stream, arc_stream_request_t *request)
{
    memcpy(request->handle, last_sent, request->bytes);
    request->handle = NULL;
    return ARC_OK;
}

static arc_stream_t mirror_of(unsigned ranks)
{
    static const arc_stream_ops_t ops = {
        .send = mirror_send, .receive = mirror_receive, .test = mirror_test};
    return (arc_stream_t){.ops = &ops, .rank = ranks / 3, .ranks = ranks};
}

static size_t agree(unsigned ranks, uint64_t *work)
{
    static arc_agreement_t agreement;
    const arc_wait_t wait = {.spins = 1};
    arc_stream_t stream = mirror_of(ranks);
    uint64_t values[] = {1, 2};
    unsigned missing = 0;

    messages = 0;
    count_from_here();
    arc_agreement_start(&agreement, &stream, values, 2);
    require(ARC_OK == arc_agreement_run(&agreement, values, &wait, &missing), "agreement");
    note_count(work);
    require(1U << messages >= ranks && 1U << (messages - 1) < ranks, "log2 of the ranks messages");
    return sizeof agreement;
}

/* ---- between nodes of 1 rank: coll_lowlat ---- */

static size_t find_partners(unsigned ranks, uint64_t *work)
{
    unsigned partner[LOWLAT_MAX_PARTNERS];

    count_from_here();
    require(lowlat_partners(ranks / 3, ranks, partner) > 1, "partners");
    note_count(work);
    return 0;
}

static size_t make_ring(unsigned ranks, uint64_t *work)
{
    arc_stream_t stream = mirror_of(ranks);
    lowlat_net_t net = {
        .nodes = ranks,
        .node = stream.rank,
        .piece_bytes = PIECE_BYTES,
        .loops = true,
        .exchange[0].stream = &stream,
    };

    count_from_here();
    arc_room_t room = {.memory = NULL};
    lowlat_pipe_init(&net, &room);
    room = (arc_room_t){.memory = aligned_alloc(ARC_ALIGN_BYTES, room.used)};
    require(NULL != room.memory, "memory");
    lowlat_pipe_init(&net, &room);
    note_count(work);
    free(room.memory);
    return room.used;
}

/* ---- coll_quant ---- */

static size_t make_quant(unsigned ranks, double target_nmse, uint64_t *work)
{
    static quant_kernels_t kernels;
    arc_stream_t stream = mirror_of(ranks);
    quant_settings_t settings;

    memset(&settings, 0, sizeof settings);
    for (size_t i = 0; NULL != quant_params[i].name; ++i) {
        arc_param_set(&quant_params[i], &settings, quant_params[i].default_value);
    }
    settings.target_nmse = target_nmse;
    kernels = quant_kernels_select(ARC_ISA_SCALAR);
    quant_config_t config = {.kernels = &kernels};
    count_from_here();
    require(quant_settings_config(&settings, ranks, &config), "choice");
    arc_room_t room = {.memory = NULL};
    (void) quant_pipeline_init(&config, &stream, &room);
    room = (arc_room_t){.memory = aligned_alloc(ARC_ALIGN_BYTES, room.used)};
    require(NULL != room.memory, "memory");
    require(NULL != quant_pipeline_init(&config, &stream, &room), "pipeline");
    note_count(work);
    free(room.memory);
    return room.used;
}

static size_t make_quant_by_default(unsigned ranks, uint64_t *work)
{
    return make_quant(ranks, 0, work);
}

static size_t make_quant_for_target(unsigned ranks, uint64_t *work)
{
    static const double target = 0.01;
    return make_quant(ranks, target, work);
}

const scale_part_t scale_parts[] = {
    {"nodes of 64 ranks", find_nodes_of_64},
    {"nodes of 1 rank", find_nodes_of_1},
    {"agreement", agree},
    {"lowlat: partners", find_partners},
    {"lowlat: ring of nodes", make_ring},
    {"quant: set-up", make_quant_by_default},
    {"quant: set-up for a target", make_quant_for_target},
    {NULL, NULL},
};
