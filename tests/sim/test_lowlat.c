/*
 * What every algorithm for ranks of one node promises, under random schedules
 * (lowlat_job.h), over memory whose stores become visible late and out of order
 * (sim_memory.h).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "unit.h"
#include "lowlat_job.h"
#include "lowlat_memory.h"
#include "lowlat_select.h"
#include "sim_memory.h"

enum {
    SEED = 20261120,
    ARENA_BYTES = 8192,
    BLOCK_BYTES = 512,
    CHUNK_BYTES = 1024,
    TIGHT_ARENA_BYTES = 2048, /* of which a pipeline makes the fewest slots that it needs */
    OPERATIONS = 60,
    MANY_RANKS = 16, /* from these on fewer operations: their time grows with the square */
    FEW_OPERATIONS = 20,
    BIG_RANKS = 64, /* from these on short vectors by levels, and only groups' segments are seen */
    BIG_BYTES = 800,
    BIG_OPERATIONS = 3, /* the third writes where the first one did */
    STEPS_PER_OPERATION_AND_RANK = 30000,
};

typedef struct row {
    unsigned ranks;
    int algorithm; /* -1: mixed */
    bool tight;
    const char *levels; /* see actor_make_levels(); NULL: none */
} row_t;

static size_t arena_bytes_of(const row_t *row)
{
    return row->tight || row->ranks >= BIG_RANKS ? TIGHT_ARENA_BYTES : ARENA_BYTES;
}

static size_t operations_of(const row_t *row)
{
    return row->ranks >= BIG_RANKS    ? BIG_OPERATIONS
           : row->ranks >= MANY_RANKS ? FEW_OPERATIONS
                                      : OPERATIONS;
}

typedef struct node {
    sim_memory_t *memory;
    const actor_t *actors;
    unsigned ranks;
} node_t;

static void deliver_memory(void *context)
{
    sim_memory_deliver(((node_t *) context)->memory);
}

static void expect_sum(const operation_t *operation, const void *context, unsigned char *sum)
{
    const node_t *node = context;

    operation_on_node(operation, node->actors, NULL, node->ranks, sum);
}

static bool is_by_numbers(const row_t *row)
{
    return row->levels[0] >= '0' && row->levels[0] <= '9';
}

static operation_t draw_operation(const row_t *row, test_random_t *random)
{
    const unsigned algorithm =
        (unsigned) (row->algorithm >= 0 ? (size_t) row->algorithm
                                        : test_random_below(random, LOWLAT_NODES_FIRST));

    if (row->ranks >= BIG_RANKS) {
        /* Matrices go by levels only where these are in the order of the ranks. */
        return operation_draw(random, algorithm,
                              is_by_numbers(row) ? LOWLAT_JOB_REDUCERS : LOWLAT_JOB_MATRICES,
                              row->ranks, BIG_BYTES);
    }
    return operation_draw(random, algorithm, LOWLAT_JOB_REDUCERS, row->ranks, SIZE_MAX);
}

static void map_levels(sim_memory_t *memory, unsigned rank, const lowlat_levels_t *levels)
{
    for (unsigned i = 0; i < levels->count; ++i) {
        for (unsigned member = 0; member < levels->level[i].members; ++member) {
            sim_memory_map(memory, rank, levels->level[i].rank[member]);
        }
    }
}

static lowlat_group_t group_of(const row_t *row, sim_memory_t *memory, unsigned rank)
{
    const size_t block_bytes = row->tight ? TIGHT_ARENA_BYTES : BLOCK_BYTES;
    const size_t chunk_bytes = row->tight ? TIGHT_ARENA_BYTES : CHUNK_BYTES;

    return row->ranks >= BIG_RANKS ? sim_memory_group_alone(memory, rank, block_bytes, chunk_bytes)
                                   : sim_memory_group(memory, rank, block_bytes, chunk_bytes);
}

static void sums_in_its_order_under_any_schedule(void **state)
{
    const row_t *row = *state;
    test_random_t random = test_random_start(SEED + row->ranks);
    const size_t arena_bytes = arena_bytes_of(row);
    static actor_t actors[LOWLAT_JOB_NODE_RANKS];
    node_t node = {.memory = sim_memory_new(row->ranks, arena_bytes, test_random_bits(&random)),
                   .actors = actors,
                   .ranks = row->ranks};
    operation_t operations[OPERATIONS];
    const size_t count = operations_of(row);
    job_t job = {.ranks = row->ranks,
                 .actors = actors,
                 .operations = operations,
                 .operations_count = count,
                 .happen = deliver_memory,
                 .expect = expect_sum,
                 .context = &node};

    memset(actors, 0, sizeof actors);
    for (size_t i = 0; i < count; ++i) {
        operations[i] = draw_operation(row, &random);
    }
    for (unsigned rank = 0; rank < row->ranks; ++rank) {
        actors[rank].rank = rank;
        actors[rank].memory = node.memory;
        actors[rank].group = group_of(row, node.memory, rank);
        actor_make_levels(&actors[rank], row->levels);
        map_levels(node.memory, rank, &actors[rank].group.levels);
        map_levels(node.memory, rank, &actors[rank].group.pairs);
    }
    assert_true(job_run(&job, &random, (size_t) STEPS_PER_OPERATION_AND_RANK * count * row->ranks));
    sim_memory_free(node.memory);
}

/*
 * While one rank stays away nobody finishes, everybody knows who is absent, and
 * those who can see that they wait for it say so.
 */
static void names_the_rank_that_is_missing(void **state)
{
    enum { RANKS = 4, LATE = 2, DELIVERIES = 30000 };
    const unsigned algorithm = (unsigned) ((const row_t *) *state)->algorithm;
    sim_memory_t *memory = sim_memory_new(RANKS, ARENA_BYTES, SEED);
    actor_t actors[RANKS] = {{.rank = 0}};
    operation_t operation = {.algorithm = algorithm,
                             .reducer = lowlat_job_reducer(0),
                             .count = 200,
                             .span_bytes = 800,
                             .seed = SEED};
    unsigned waiting_for_late = 0;

    for (unsigned rank = 0; rank < RANKS; ++rank) {
        actors[rank].rank = rank;
        actors[rank].memory = memory;
        actors[rank].group = sim_memory_group(memory, rank, BLOCK_BYTES, CHUNK_BYTES);
        if (LATE != rank) {
            actor_start(&actors[rank], &operation);
        }
    }
    for (unsigned i = 0; i < DELIVERIES; ++i) {
        sim_memory_deliver(memory);
        if (LATE != i % RANKS) {
            assert_int_equal(ARC_IN_PROGRESS, actor_progress(&actors[i % RANKS]));
        }
    }
    for (unsigned rank = 0; rank < RANKS; ++rank) {
        if (LATE == rank) {
            continue;
        }
        const lowlat_task_t *task = &actors[rank].task;
        unsigned waits = 0;
        for (unsigned peer = 0; peer < RANKS; ++peer) {
            assert_int_equal(LATE == peer, lowlat_is_absent(task, peer));
            waits += task->task.ops->waits_for(&task->task, peer);
        }
        assert_true(waits > 0);
        assert_false(task->task.ops->waits_for(&task->task, rank));
        waiting_for_late += task->task.ops->waits_for(&task->task, LATE);
        actor_release(&actors[rank]);
    }
    assert_true(waiting_for_late > 0);
    sim_memory_free(memory);
}

static void add_row(const row_t *row, const char *what, CMUnitTestFunction function)
{
    const char *name = row->algorithm < 0 ? "mixed" : lowlat_algorithms[row->algorithm].name;

    unit_add_row(function, row, sizeof *row, "%s %s %u%s %s", what, name, row->ranks,
                 row->tight ? " tight" : "", NULL == row->levels ? "" : row->levels);
}

/* Of 64 ranks: five to nine in a cache, and no neighbours. */
#define ONE "abcdefghi"
static const char caches[] = ONE ONE ONE ONE ONE "abcdefgabcdefabcdab";

int main(void)
{
    static const unsigned ranks[] = {2, 3, 4, 5, 6, 7, 8, 9, 16, 17};
    static const struct {
        unsigned ranks;
        const char *levels;
    } shapes[] = {
        {4, "2,2"},          {6, "3,2"},     {8, "4,2"},          {8, "2,2,2"},
        {9, "4,2"},          {12, "2,3,2"},  {13, "4,2,2"},       {17, "4,2,2"},
        {10, "abcabcabca"},  {7, "aaaabbb"}, {12, "aaaabbbbccc"}, {17, "ababababababababa"},
        {33, "2,2,2,2,2,2"}, {64, "8,8"},    {128, "8,8,2"},      {14, "aaaabbbccDDDEE"},
        {200, "7,5,6"},      {256, "8,8,4"}, {64, caches},        {14, "aDbEacDbaEbcaD"},
    };
    enum {
        RANKS = sizeof ranks / sizeof ranks[0],
        SHAPES = sizeof shapes / sizeof shapes[0],
        TIGHT_RANKS = 5, /* at most */
        TIGHT_LEVELLED = 13,
    };

    for (int algorithm = -1; algorithm < (int) LOWLAT_NODES_FIRST; ++algorithm) {
        for (size_t i = 0; i < 2 * (size_t) (RANKS + SHAPES); ++i) {
            const size_t shape = i / 2 - RANKS; /* behind the ranks */
            const bool levelled = i / 2 >= RANKS;
            const row_t row = {.ranks = levelled ? shapes[shape].ranks : ranks[i / 2],
                               .levels = levelled ? shapes[shape].levels : NULL,
                               .algorithm = algorithm,
                               .tight = 0 != i % 2};
            if ((!row.tight || row.ranks <= (levelled ? TIGHT_LEVELLED : TIGHT_RANKS)) &&
                (!levelled || algorithm < 0)) {
                add_row(&row, "sums_in_its_order_under_any_schedule",
                        sums_in_its_order_under_any_schedule);
            }
        }
        if (algorithm >= 0) {
            add_row(&(row_t){.algorithm = algorithm}, "names_the_rank_that_is_missing",
                    names_the_rank_that_is_missing);
        }
    }
    return unit_run("lowlat on simulated memory");
}
