/*
 * What the algorithms for several nodes promise, under random schedules of ranks,
 * memory and networks (nodes_job.h): sums in the promised order, the same bits on all
 * ranks, whatever the placement of the ranks; and who is named when one is late.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "unit.h"
#include "lowlat_memory.h"
#include "lowlat_select.h"
#include "nodes_job.h"

enum {
    SEED = 20261121,
    OPERATIONS = 40,
    MANY_RANKS = 12, /* from these on fewer operations: their time grows with the square */
    FEW_OPERATIONS = 15,
    MAX_SPAN_BYTES = 6 * NODES_ARENA_BYTES,
    STEPS_PER_OPERATION_AND_RANK = 100000,
    NAME_BYTES = 96,
    MIXED = LOWLAT_ALGORITHMS, /* a row's algorithm: another one for each operation */
};

/*
 * One slot more than a pipeline needs; more slots than exchanges; a line no multiple of which; and
 * more than there is room for: fewer slots than exchanges.
 */
static const size_t chunks_bytes[] = {1024, 256, 1000, NODES_ARENA_BYTES};

/* Messages, and puts that are fused or not, in one piece or many. */
static const arc_put_config_t put_configs[] = {
    {.streams = LOWLAT_EXCHANGES, .slots = 3, .slot_bytes = 256, .sequence_bits = 3},
    {.streams = LOWLAT_EXCHANGES,
     .slots = 8,
     .slot_bytes = 1024,
     .fused_bytes = 200,
     .sequence_bits = 32},
};
static const struct {
    const char *name;
    const arc_put_config_t *puts;
} transports[] = {
    {"messages", NULL}, {"fenced puts", &put_configs[0]}, {"mixed puts", &put_configs[1]}};

static const nodes_options_t placements[] = {
    {.nodes = 2, .size = {1, 1}},
    {.nodes = 2, .size = {2, 2}},
    {.nodes = 2, .size = {2, 2}, .cyclic = true},
    {.nodes = 3, .size = {1, 1, 1}},
    {.nodes = 3, .size = {2, 2, 2}},
    {.nodes = 4, .size = {1, 1, 1, 1}},
    {.nodes = 4, .size = {2, 2, 2, 2}},
    {.nodes = 4, .size = {2, 2, 2, 2}, .cyclic = true},
    {.nodes = 5, .size = {1, 1, 1, 1, 1}},
    {.nodes = 9, .size = {1, 1, 1, 1, 1, 1, 1, 1, 1}},
    {.nodes = 3, .size = {3, 3, 3}},
    {.nodes = 3, .size = {3, 3, 3}, .cyclic = true},
    {.nodes = 3, .size = {3, 1, 2}},
    {.nodes = 3, .size = {3, 1, 2}, .cyclic = true},
    {.nodes = 2, .size = {5, 3}},
    {.nodes = 6, .size = {1, 1, 1, 1, 1, 1}},
    {.nodes = 7, .size = {1, 2, 1, 1, 2, 1, 1}, .cyclic = true},
    {.nodes = 8, .size = {1, 1, 1, 1, 1, 1, 1, 1}},
    {.nodes = 13, .size = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
    {.nodes = 2, .size = {4, 4}, .levels = "2,2"},
    {.nodes = 2, .size = {8, 8}, .levels = "4,2"},
    {.nodes = 2, .size = {8, 8}, .levels = "2,2,2", .cyclic = true},
    {.nodes = 3, .size = {5, 5, 5}, .levels = "2,2"},
    {.nodes = 2, .size = {9, 9}, .levels = "abacbacab"},
};

typedef struct row {
    nodes_options_t options;
    unsigned algorithm;
} row_t;

static operation_t draw_operation(const row_t *row, const sim_nodes_t *nodes, test_random_t *random)
{
    const unsigned kinds = LOWLAT_ALGORITHM_RING - LOWLAT_NODES_FIRST; /* all but the ring */
    const unsigned algorithm =
        MIXED == row->algorithm ? LOWLAT_NODES_FIRST + (unsigned) test_random_below(random, kinds)
                                : row->algorithm;
    const bool keeps_order = LOWLAT_ALGORITHM_RING != algorithm && nodes->topology[0].in_order;

    return operation_draw(random, algorithm,
                          keeps_order ? LOWLAT_JOB_REDUCERS : LOWLAT_JOB_MATRICES, nodes->ranks,
                          MAX_SPAN_BYTES);
}

static void sums_in_its_order_under_any_schedule(void **state)
{
    const row_t *row = *state;
    test_random_t random = test_random_start(row->options.seed);
    sim_nodes_t *nodes = sim_nodes_new(&row->options);
    operation_t operations[OPERATIONS];
    const size_t count = nodes->ranks < MANY_RANKS ? OPERATIONS : FEW_OPERATIONS;
    job_t job = sim_nodes_job(nodes, operations, count);

    assert_int_equal(!row->options.cyclic, nodes->topology[0].in_order);
    for (size_t i = 0; i < count; ++i) {
        operations[i] = draw_operation(row, nodes, &random);
    }
    assert_true(
        job_run(&job, &random, (size_t) STEPS_PER_OPERATION_AND_RANK * count * nodes->ranks));
    assert_int_equal(0, sim_nodes_outstanding(nodes));
    assert_true(sim_nodes_intact(nodes));
    sim_nodes_free(nodes);
}

/* ---- a rank that is late ---- */

enum { LATE_NODE = 2, LATE_KINDS = 4, TURNS = 40000 };

/* Run all but `late`; nobody can finish. */
static void run_without(sim_nodes_t *nodes, unsigned late, const operation_t *operation)
{
    for (unsigned rank = 0; rank < nodes->ranks; ++rank) {
        if (late != rank) {
            actor_start(&nodes->actors[rank], operation);
        }
    }
    for (unsigned turn = 0; turn < TURNS; ++turn) {
        const unsigned rank = turn % nodes->ranks;

        sim_nodes_happen(nodes);
        if (late != rank) {
            assert_int_equal(ARC_IN_PROGRESS, actor_progress(&nodes->actors[rank]));
        }
    }
}

/*
 * On the late rank's node all know who it is, and somebody waits for it; on others somebody awaits
 * that node, nobody its own.
 */
static void check_names(const sim_nodes_t *nodes, unsigned late)
{
    const unsigned late_local = nodes->topology[late].local_rank;
    unsigned awaiting = 0;
    unsigned waiting = 0;

    for (unsigned rank = 0; rank < nodes->ranks; ++rank) {
        const arc_topology_t *topology = &nodes->topology[rank];
        const lowlat_task_t *task = &nodes->actors[rank].task;
        unsigned waits = 0;

        if (late == rank) {
            continue;
        }
        const unsigned awaited = arc_task_awaits(&task->task);
        for (unsigned i = 0; i < topology->local_ranks; ++i) {
            const bool is_late = LATE_NODE == topology->node && late_local == i;
            assert_int_equal(is_late, lowlat_is_absent(task, i));
            waiting += is_late && task->task.ops->waits_for(&task->task, i);
            waits += task->task.ops->waits_for(&task->task, i);
        }
        assert_true(waits > 0 || awaited < topology->nodes);
        assert_int_not_equal(topology->node, awaited);
        assert_false(task->task.ops->waits_for(&task->task, topology->local_rank));
        awaiting += LATE_NODE != topology->node && LATE_NODE == awaited;
    }
    assert_true(awaiting > 0);
    assert_true(waiting > 0 || 1 == nodes->placement.size[LATE_NODE]);
}

static void names_the_node_that_is_late(void **state)
{
    static const size_t counts[] = {10, 200, 2000};
    const row_t *row = *state;

    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; ++c) {
        for (unsigned local = 0; local < row->options.size[LATE_NODE]; ++local) {
            sim_nodes_t *nodes = sim_nodes_new(&row->options);
            const unsigned late = nodes->placement.member[LATE_NODE][local];
            const operation_t operation = {.algorithm = row->algorithm,
                                           .reducer = lowlat_job_reducer(0),
                                           .count = counts[c],
                                           .span_bytes = 4 * counts[c],
                                           .seed = SEED};

            run_without(nodes, late, &operation);
            check_names(nodes, late);
            for (unsigned rank = 0; rank < nodes->ranks; ++rank) {
                if (late != rank) {
                    arc_task_abort(&nodes->actors[rank].task.task);
                    assert_true(nodes->placement.nodes <=
                                arc_task_awaits(&nodes->actors[rank].task.task));
                    actor_release(&nodes->actors[rank]);
                }
            }
            assert_int_equal(0, sim_nodes_outstanding(nodes));
            sim_nodes_free(nodes);
        }
    }
}

/* ---- vectors that must not be cut ---- */

/* Functions of the program get whole vectors: those that fit into a chunk are one. */
TEST(a_vector_that_fits_is_one_chunk)
{
    nodes_options_t options = {.nodes = 2, .size = {1, 1}, .chunk_bytes = 1000, .seed = SEED};

    for (unsigned kind = 0; kind < LOWLAT_JOB_REDUCERS; ++kind) {
        const arc_reducer_t reducer = lowlat_job_reducer(kind);
        const size_t fits = options.chunk_bytes / reducer.stride_bytes;

        for (size_t count = 1; count <= fits + 1; ++count) {
            sim_nodes_t *nodes = sim_nodes_new(&options);
            const operation_t operation = {.algorithm = LOWLAT_ALGORITHM_DOUBLING,
                                           .reducer = reducer,
                                           .count = count,
                                           .span_bytes = arc_reducer_span_bytes(&reducer, count),
                                           .seed = SEED};
            actor_start(&nodes->actors[0], &operation);
            assert_int_equal(count <= fits ? 1 : 2, nodes->actors[0].task.pieces);
            actor_release(&nodes->actors[0]);
            sim_nodes_free(nodes);
        }
    }
}

/* ---- messages that outlive their call ---- */

/* A time limit ends a call, and the program may free its vectors, while messages are under way. */
TEST(with_a_time_limit_single_nodes_send_and_receive_in_memory_of_ours)
{
    const nodes_options_t options = {
        .nodes = 2, .size = {1, 1}, .gives_up = true, .chunk_bytes = 1000, .seed = SEED};

    for (unsigned algorithm = LOWLAT_ALGORITHM_DOUBLING; algorithm <= LOWLAT_ALGORITHM_HALVING;
         ++algorithm) {
        sim_nodes_t *nodes = sim_nodes_new(&options);
        const operation_t operation = {.algorithm = algorithm,
                                       .reducer = lowlat_job_reducer(0),
                                       .count = 2000,
                                       .span_bytes = 8000,
                                       .seed = SEED};
        lowlat_task_t *task = &nodes->actors[0].task;

        actor_start(&nodes->actors[0], &operation);
        assert_int_equal(ARC_IN_PROGRESS, task->task.ops->progress(&task->task));
        for (unsigned i = 0; i < LOWLAT_EXCHANGES; ++i) {
            const arc_link_t *link = &nodes->net[0].exchange[i].link;
            const unsigned char *ours = nodes->scratch[0][i].data;
            const size_t ours_bytes = 2 * (size_t) NODES_LONG_CHUNKS * options.chunk_bytes;
            assert_in_range((uintptr_t) link->sent, (uintptr_t) ours,
                            (uintptr_t) ours + ours_bytes - link->sent_bytes);
            assert_in_range((uintptr_t) link->received, (uintptr_t) ours,
                            (uintptr_t) ours + ours_bytes - link->received_bytes);
        }
        arc_task_abort(&task->task);
        actor_release(&nodes->actors[0]);
        sim_nodes_free(nodes);
    }
}

/* ---- pairs ---- */

/*
 * Who of nodes 0 and 1 is the proxy of the other changes from chunk to chunk and from owner to
 * owner; of one owner the chunks are even in number, but a vector is not cut that is short.
 */
TEST(the_nodes_of_a_pair_take_turns)
{
    static const struct {
        unsigned owners;
        size_t count;
        size_t chunks;
    } cases[] = {{1, NODES_LEADER_BYTES / sizeof(float), 1},
                 {1, NODES_LEADER_BYTES / sizeof(float) + 1, 2},
                 {1, 600, 4},
                 {1, 4000, 8},
                 {2, 256, 1},
                 {2, 600, 3}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const unsigned owners = cases[i].owners;
        const nodes_options_t options = {.nodes = 3,
                                         .size = {owners, owners, owners},
                                         .chunk_bytes = chunks_bytes[0],
                                         .seed = SEED};
        const operation_t operation = {.algorithm = LOWLAT_ALGORITHM_HALVING,
                                       .reducer = lowlat_job_reducer(0),
                                       .count = cases[i].count,
                                       .span_bytes = cases[i].count * sizeof(float),
                                       .seed = SEED};
        test_random_t random = test_random_start(SEED);
        sim_nodes_t *nodes = sim_nodes_new(&options);
        job_t job = sim_nodes_job(nodes, &operation, 1);

        assert_true(job_run(&job, &random, STEPS_PER_OPERATION_AND_RANK));
        for (unsigned rank = 0; rank < nodes->ranks; ++rank) {
            assert_int_equal(cases[i].chunks, nodes->actors[rank].task.pieces);
            for (unsigned chunk = 0; chunk < cases[i].chunks; ++chunk) {
                assert_int_equal((chunk + nodes->topology[rank].local_rank) % 2,
                                 nodes->net[rank].exchange[chunk % LOWLAT_EXCHANGES].role.turn);
            }
        }
        sim_nodes_free(nodes);
    }
}

/* ---- the table of tests ---- */

static const char *algorithm_name(unsigned algorithm)
{
    return MIXED == algorithm ? "mixed" : lowlat_algorithms[algorithm].name;
}

static const char *transport_name(const arc_put_config_t *config)
{
    unsigned transport = 0;

    while (transports[transport].puts != config) {
        ++transport;
    }
    return transports[transport].name;
}

static void add_row(const row_t *row, const char *test, CMUnitTestFunction function)
{
    const nodes_options_t *options = &row->options;
    char sizes[NAME_BYTES];
    size_t used = 0;

    for (unsigned node = 0; node < options->nodes && used < sizeof sizes; ++node) {
        used += (size_t) snprintf(sizes + used, sizeof sizes - used, "%s%u", node ? "+" : "",
                                  options->size[node]);
    }
    unit_add_row(function, row, sizeof *row, "%s %s %s %zu %s%s %s", test,
                 algorithm_name(row->algorithm), transport_name(options->puts),
                 options->chunk_bytes, sizes, options->cyclic ? " cyclic" : "",
                 NULL == options->levels ? "" : options->levels);
}

int main(void)
{
    enum {
        PLACEMENTS = sizeof placements / sizeof placements[0],
        CHUNKS = sizeof chunks_bytes / sizeof chunks_bytes[0],
        TRANSPORTS = sizeof transports / sizeof transports[0],
    };
    uint64_t seed = SEED;

    for (unsigned algorithm = LOWLAT_NODES_FIRST; algorithm <= MIXED; ++algorithm) {
        for (size_t i = 0; i < PLACEMENTS * CHUNKS * TRANSPORTS; ++i) {
            const size_t transport = i / CHUNKS / PLACEMENTS;
            row_t row = {.options = placements[i / CHUNKS % PLACEMENTS], .algorithm = algorithm};
            const bool levelled = NULL != row.options.levels;
            if ((transport > 0 && transport != i % CHUNKS) ||
                (levelled && i / CHUNKS % CHUNKS != i % CHUNKS && 0 == transport)) {
                continue; /* one chunk for each kind of puts is enough, and for nodes with levels */
            }
            row.options.chunk_bytes = chunks_bytes[i % CHUNKS];
            row.options.puts = transports[transport].puts;
            row.options.seed = seed++;
            row.options.gives_up = 0 != i % 2;
            row.options.loops = LOWLAT_ALGORITHM_RING == algorithm;
            add_row(&row, "sums_in_its_order_under_any_schedule",
                    sums_in_its_order_under_any_schedule);
        }
        /* Node by node, dealt one by one, by levels, and each alone on its node. */
        for (unsigned kind = 0; kind < LATE_KINDS && MIXED != algorithm; ++kind) {
            row_t row = {.options = {.nodes = 4, .size = {2, 2, 3, 2}, .seed = SEED},
                         .algorithm = algorithm};
            row.options.cyclic = 1 == kind;
            if (2 == kind) {
                memcpy(row.options.size, (unsigned[]){4, 4, 4, 4}, 4 * sizeof(unsigned));
                row.options.levels = "2,2";
            }
            row.options.loops = LOWLAT_ALGORITHM_RING == algorithm;
            if (LATE_KINDS - 1 == kind) {
                memcpy(row.options.size, (unsigned[]){1, 1, 1, 1}, 4 * sizeof(unsigned));
            }
            row.options.chunk_bytes = chunks_bytes[0];
            add_row(&row, "names_the_node_that_is_late", names_the_node_that_is_late);
        }
    }
    return unit_run("lowlat on simulated nodes");
}
