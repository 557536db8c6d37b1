/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "lowlat_memory.h"
#include "lowlat_select.h"
#include "nodes_job.h"
#include "testlib.h"

enum { CUT_BYTES = 8 }; /* an element, of nearly all */

/* ---- set-up ---- */

/* Who is where: node_of[rank], and the same in `placement`. */
static unsigned place_ranks(const nodes_options_t *options, placement_t *placement,
                            uint32_t *node_of)
{
    unsigned wanted = 0;
    unsigned rank = 0;

    for (unsigned node = 0; node < options->nodes; ++node) {
        wanted += options->size[node];
    }
    placement->nodes = options->nodes;
    for (unsigned node = 0; rank < wanted; node = (node + 1) % options->nodes) {
        while (placement->size[node] < options->size[node]) {
            placement->member[node][placement->size[node]++] = rank;
            node_of[rank++] = placement->member[node][0];
            if (options->cyclic) {
                break;
            }
        }
    }
    return rank;
}

/* Windows between the ranks that exchange, as after a set-up. */
static void make_windows(sim_nodes_t *nodes, const nodes_options_t *options)
{
    const sim_window_options_t window = {.seed = options->seed};
    sim_peers_t peers[LOWLAT_JOB_MAX_RANKS] = {{0}};
    size_t window_bytes[LOWLAT_JOB_MAX_RANKS];

    for (unsigned rank = 0; rank < nodes->ranks; ++rank) {
        const arc_topology_t *topology = &nodes->topology[rank];
        unsigned partner[LOWLAT_MAX_PARTNERS];
        if (topology->local_rank < topology->owners) {
            peers[rank].count = lowlat_partners(topology->node, topology->nodes, partner);
        }
        for (unsigned i = 0; i < peers[rank].count; ++i) {
            peers[rank].rank_of[i] = topology->peers[partner[i]];
        }
        window_bytes[rank] = arc_put_window_bytes(options->puts, peers[rank].count);
    }
    nodes->windows = sim_windows_new(nodes->ranks, peers, window_bytes, &window);
    for (unsigned rank = 0; rank < nodes->ranks; ++rank) {
        test_require(ARC_OK == arc_put_streams_new(
                                   &nodes->streams[rank], sim_windows_get(nodes->windows, rank),
                                   options->puts, peers[rank].rank_of, rank, nodes->ranks),
                     "no memory");
    }
}

static void make_rank(sim_nodes_t *nodes, const nodes_options_t *options, unsigned rank)
{
    const arc_topology_t *topology = &nodes->topology[rank];
    lowlat_net_t *net = &nodes->net[rank];

    *net = (lowlat_net_t){
        .nodes = topology->nodes,
        .node = topology->node,
        .owners = topology->owners,
        .peer = topology->peers,
        .single = 1 == topology->largest,
        .loops = options->loops,
        .chunk_bytes = nodes->chunk_bytes,
        .long_chunk_bytes = NODES_LONG_CHUNKS * nodes->chunk_bytes,
        .part_bytes = nodes->chunk_bytes / 8, /* on 8 nodes two or three chunks */
        .gives_up = options->gives_up,
        .piece_bytes = NODES_PIECE_BYTES,
        .leader_bytes = NODES_LEADER_BYTES,
    };
    lowlat_pipe_prepare(net);
    if (NULL != nodes->windows) {
        net->direct_nodes = LOWLAT_PUT_NODES;
    }
    for (unsigned i = 0; i < LOWLAT_EXCHANGES; ++i) {
        const size_t scratch_bytes = NODES_LONG_CHUNKS * nodes->chunk_bytes;
        nodes->scratch[rank][i] = test_buffer_new(2 * scratch_bytes, 0);
        net->exchange[i].stream = NULL != nodes->windows
                                      ? arc_put_streams_get(nodes->streams[rank], i)
                                      : sim_network_stream(nodes->network[i], rank);
        net->exchange[i].scratch = nodes->scratch[rank][i].data;
        net->exchange[i].place = net->exchange[i].scratch + scratch_bytes;
    }
    arc_room_t room = {.memory = NULL};
    lowlat_pipe_init(net, &room);
    nodes->pipe[rank] = test_buffer_new(room.used, 0);
    if (topology->local_rank < topology->owners) {
        room = (arc_room_t){.memory = nodes->pipe[rank].data};
        lowlat_pipe_init(net, &room);
    }
    nodes->actors[rank].rank = rank;
    nodes->actors[rank].memory = nodes->memory[topology->node];
    nodes->actors[rank].group =
        sim_memory_group(nodes->memory[topology->node], topology->local_rank, nodes->chunk_bytes,
                         nodes->chunk_bytes);
    nodes->actors[rank].group.net = net;
    actor_make_levels(&nodes->actors[rank], options->levels);
}

sim_nodes_t *sim_nodes_new(const nodes_options_t *options)
{
    sim_nodes_t *nodes = test_zeros(sizeof *nodes);
    uint32_t node_of[LOWLAT_JOB_MAX_RANKS];

    nodes->random = test_random_of(options->seed, 1);
    nodes->chunk_bytes = options->chunk_bytes;
    nodes->placement.actors = nodes->actors;
    nodes->ranks = place_ranks(options, &nodes->placement, node_of);
    for (unsigned node = 0; node < options->nodes; ++node) {
        nodes->memory[node] =
            sim_memory_new(options->size[node], NODES_ARENA_BYTES * (options->nodes > 16 ? 4 : 1),
                           options->seed + node);
    }
    for (unsigned i = 0; i < LOWLAT_EXCHANGES; ++i) {
        const bool faulty = i == options->faulty;
        const sim_options_t network = {.seed = options->seed + i,
                                       .delay_max = 5,
                                       .eager_max = 2,
                                       .fail_at = faulty ? options->fail_at : 0,
                                       .garble_at = faulty ? options->cut_at : 0,
                                       .garble_cut = CUT_BYTES};
        nodes->network[i] = sim_network_new(nodes->ranks, &network);
    }
    for (unsigned rank = 0; rank < nodes->ranks; ++rank) {
        arc_topology_t *topology = &nodes->topology[rank];
        test_require(ARC_OK == arc_topology_make(topology, node_of, nodes->ranks, rank),
                     "no memory");
        test_require(rank == nodes->placement.member[topology->node][topology->local_rank],
                     "a topology that differs from the options");
    }
    if (NULL != options->puts) {
        make_windows(nodes, options);
    }
    for (unsigned rank = 0; rank < nodes->ranks; ++rank) {
        make_rank(nodes, options, rank);
    }
    return nodes;
}

void sim_nodes_free(sim_nodes_t *nodes)
{
    for (unsigned rank = 0; rank < nodes->ranks; ++rank) {
        arc_topology_free(&nodes->topology[rank]);
        for (unsigned i = 0; i < LOWLAT_EXCHANGES; ++i) {
            test_buffer_free(&nodes->scratch[rank][i]);
        }
        test_buffer_free(&nodes->pipe[rank]);
    }
    for (unsigned rank = 0; NULL != nodes->windows && rank < nodes->ranks; ++rank) {
        arc_put_streams_free(nodes->streams[rank]);
    }
    if (NULL != nodes->windows) {
        sim_windows_free(nodes->windows);
    }
    for (unsigned node = 0; node < nodes->placement.nodes; ++node) {
        sim_memory_free(nodes->memory[node]);
    }
    for (unsigned i = 0; i < LOWLAT_EXCHANGES; ++i) {
        sim_network_free(nodes->network[i]);
    }
    free(nodes);
}

/* ---- while it runs ---- */

void sim_nodes_happen(void *context)
{
    sim_nodes_t *nodes = context;

    sim_memory_deliver(nodes->memory[test_random_below(&nodes->random, nodes->placement.nodes)]);
    if (NULL != nodes->windows) {
        sim_windows_pass(nodes->windows);
    } else {
        sim_network_pass(nodes->network[test_random_below(&nodes->random, LOWLAT_EXCHANGES)]);
    }
}

void sim_nodes_down(void *context)
{
    const sim_nodes_t *nodes = context;

    for (unsigned i = 0; i < LOWLAT_EXCHANGES; ++i) {
        sim_network_down(nodes->network[i]);
    }
    if (NULL != nodes->windows) {
        sim_windows_down(nodes->windows);
    }
}

size_t sim_nodes_outstanding(const sim_nodes_t *nodes)
{
    size_t outstanding = 0;

    for (unsigned i = 0; i < LOWLAT_EXCHANGES; ++i) {
        outstanding += sim_network_counts(nodes->network[i])->outstanding;
    }
    return outstanding;
}

bool sim_nodes_intact(const sim_nodes_t *nodes)
{
    bool intact = true;

    for (unsigned rank = 0; rank < nodes->ranks; ++rank) {
        for (unsigned i = 0; i < LOWLAT_EXCHANGES; ++i) {
            intact = intact && test_buffer_intact(&nodes->scratch[rank][i]);
        }
        intact = intact && test_buffer_intact(&nodes->pipe[rank]);
    }
    return intact;
}

/* ---- what must come out ---- */

/* How long the first `pieces` - 1 of equal pieces of `elems` are: whole lines. */
static size_t elems_of_pieces(size_t elems, size_t pieces, size_t line_elems)
{
    const size_t piece = (elems + pieces - 1) / pieces;
    return (piece + line_elems - 1) / line_elems * line_elems;
}

/* The shard that row `row` of `rows` is in: the first ones have a row more. */
static unsigned shard_of(size_t row, size_t rows, unsigned nodes)
{
    const size_t each = rows / nodes;
    const size_t in_longer = rows % nodes * (each + 1);
    return (unsigned) (row < in_longer ? row / (each + 1)
                                       : rows % nodes + (row - in_longer) / each);
}

/* The node that owns the sum of an element: the vector is cut into chunks, parts, shards. */
static unsigned ring_owner(const operation_t *operation, const sim_nodes_t *nodes, size_t elem)
{
    const placement_t *placement = &nodes->placement;
    const size_t stride = operation->reducer.stride_bytes;
    const size_t line = 0 == 64 % stride ? 64 / stride : 1;
    const size_t lines = NODES_PIECE_BYTES / (line * stride);
    const size_t piece = (lines > 0 ? lines : 1) * line;
    unsigned owners = placement->size[0];
    unsigned largest = placement->size[0];

    for (unsigned node = 1; node < placement->nodes; ++node) {
        owners = placement->size[node] < owners ? placement->size[node] : owners;
        largest = placement->size[node] > largest ? placement->size[node] : largest;
    }
    const lowlat_levels_t *levels = &nodes->actors[0].group.levels;
    for (unsigned level = 0, each = 1; level < levels->count; ++level) {
        each *= levels->level[level].owners;
        owners = level + 1 == levels->count ? each : owners;
    }
    owners = operation->span_bytes <= NODES_LEADER_BYTES ? 1 : owners;
    size_t chunk = piece * owners * placement->nodes;
    if (largest > 1 || stride != operation->reducer.last_bytes) {
        const size_t slot = NODES_ARENA_BYTES / LOWLAT_MIN_SLOTS;
        const size_t most_bytes = chunk * stride < slot ? chunk * stride : slot;
        const size_t most = most_bytes / (line * stride) * line;
        chunk = operation->count * stride > most_bytes
                    ? elems_of_pieces(operation->count, (operation->count + most - 1) / most, line)
                    : operation->count;
    }
    const size_t before = elem / chunk * chunk;
    const size_t elems = operation->count - before < chunk ? operation->count - before : chunk;
    const size_t part = elems_of_pieces(elems, owners, line);
    const size_t rest = elems - (elem - before) / part * part;
    const size_t rows = ((rest < part ? rest : part) + line - 1) / line;
    const unsigned shard = shard_of((elem - before) % part / line, rows, placement->nodes);
    return (shard + placement->nodes - 1) % placement->nodes;
}

/* The ring is a full loop of up to 8 nodes, and a semi loop of more. */
static void expect_ring(const operation_t *operation, const sim_nodes_t *nodes, unsigned char *sum)
{
    const placement_t *placement = &nodes->placement;
    const bool full = placement->nodes <= 8;
    const size_t stride = operation->reducer.stride_bytes;
    SCOPED unsigned char *turn = test_alloc(operation->span_bytes);

    for (unsigned owner = 0; owner < placement->nodes; ++owner) {
        if (full) {
            operation_chain(operation, placement, owner + 1, 1, placement->nodes, turn);
        } else {
            operation_two_chains(operation, placement, owner, turn);
        }
        for (size_t i = 0; i < operation->count; ++i) {
            if (owner == ring_owner(operation, nodes, i)) {
                memcpy(sum + i * stride, turn + i * stride, operation->reducer.last_bytes);
            }
        }
    }
}

void sim_nodes_expect(const operation_t *operation, const void *context, unsigned char *sum)
{
    const sim_nodes_t *nodes = context;

    if (LOWLAT_ALGORITHM_RING == operation->algorithm) {
        expect_ring(operation, nodes, sum);
    } else {
        operation_tree(operation, &nodes->placement, sum);
    }
}

job_t sim_nodes_job(sim_nodes_t *nodes, const operation_t *operations, size_t count)
{
    return (job_t){.ranks = nodes->ranks,
                   .actors = nodes->actors,
                   .operations = operations,
                   .operations_count = count,
                   .happen = sim_nodes_happen,
                   .expect = sim_nodes_expect,
                   .context = nodes};
}
