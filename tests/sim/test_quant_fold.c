/*
 * hierarchical where the ranks of a node add up in shared memory (quant_fold.h): on simulated
 * memory and network, under random schedules.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>

#include "unit.h"
#include "fold_job.h"
#include "lowlat_memory.h"

enum {
    TURNS = 40000,
    NAME_BYTES = 96,
};

static const variant_t variants[] = {
    {.name = "int8", .format = &quant_format_int8, .depth = 3},
    {.name = "int8, chunks", .format = &quant_format_int8, .depth = 16, .chunks = true},
    {.name = "fp32", .format = &quant_format_fp32, .depth = 3, .chunks = true, .integers = true},
    {.name = "doubles", .format = &quant_format_int8, .depth = 7, .doubles = true},
    {.name = "feedback", .format = &quant_format_int8, .depth = 7, .feedback = true},
    {.name = "few owners",
     .format = &quant_format_int8,
     .depth = 7,
     .feedback = true,
     .crowded = true},
    {.name = "few owners, doubles",
     .format = &quant_format_fp32,
     .depth = 3,
     .doubles = true,
     .integers = true,
     .crowded = true},
    {.name = "cancelling", .format = &quant_format_int8, .depth = 7, .cancels = true},
    {.name = "tensors", .format = &quant_format_int8, .depth = 7, .tensors = true},
    {.name = "rounding on nodes", .format = &quant_format_int16, .depth = 7, .rounds = true},
    {.name = "rounding on nodes, fp32", .format = &quant_format_fp32, .depth = 7, .rounds = true},
};

static const nodes_options_t shapes[] = {
    {.nodes = 2, .size = {2, 2}},
    {.nodes = 2, .size = {3, 3}, .cyclic = true},
    {.nodes = 3, .size = {2, 2, 2}},
    {.nodes = 4, .size = {2, 2, 2, 2}, .cyclic = true},
    {.nodes = 5, .size = {2, 2, 2, 2, 2}},
    {.nodes = 2, .size = {5, 5}},
    {.nodes = 3, .size = {4, 4, 4}},
    {.nodes = 2, .size = {4, 4}, .levels = "2,2"},
    {.nodes = 2, .size = {8, 8}, .levels = "4,2"},
    {.nodes = 2, .size = {8, 8}, .levels = "2,2,2", .cyclic = true},
    {.nodes = 2, .size = {5, 5}, .levels = "abbab"},
    {.nodes = 17, .size = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}, .cyclic = true},
};

typedef struct row {
    nodes_options_t options;
    const variant_t *variant;
} row_t;

/* ---- what is promised ---- */

enum { MANY_RANKS = 15 }; /* from so many on there are fewer tests */

static void check_result(const fold_job_t *job, size_t number)
{
    const call_t *call = &job->calls[number];
    const variant_t *variant = job->variant;
    const bool is_exact = variant->integers || variant->cancels;
    const double ranks = job->nodes->ranks;
    double worst = 0;
    double worst_of_size = 0;

    for (size_t i = 0; i < call->count; ++i) {
        double sum = 0;
        for (unsigned rank = 0; rank < job->nodes->ranks; ++rank) {
            const double x = fold_job_input(job, call, rank, i);
            sum += variant->doubles ? x : (double) (float) x;
        }
        const double x = fold_job_result(job, number, i);
        worst = fmax(worst, fabs(x - sum));
        worst_of_size =
            fmax(worst_of_size, fabs(x - sum) / (variant->tensors ? fold_job_tensor(i) : 1));
    }
    assert_true(is_exact ? 0 == worst : variant->feedback || worst <= job->told[number]);
    /* int8 of numbers below 1: each of the codings is off by 1/254 of a partial sum at most. */
    assert_true(variant->rounds || worst_of_size <= ranks * ranks / 127);
}

/* The same calls under another schedule, in place where those were not. */
static void check_bits(const row_t *row, const fold_job_t *job)
{
    test_random_t random = test_random_start(FOLD_SEED - 1);
    fold_job_t *again = fold_job_new(&row->options, row->variant, FOLD_SEED - 1, 0);

    memcpy(again->calls, job->calls, sizeof again->calls);
    for (size_t call = 0; call < FOLD_CALLS; ++call) {
        again->calls[call].in_place = !job->calls[call].in_place;
    }
    assert_true(fold_job_run(again, &random));
    for (size_t call = 0; call < FOLD_CALLS; ++call) {
        assert_memory_equal(job->result[call].data, again->result[call].data,
                            job->result[call].bytes);
        assert_true(job->told[call] == again->told[call]);
    }
    fold_job_free(again);
}

static void sums_are_equal_everywhere_within_the_bound_and_the_same_again(void **state)
{
    const row_t *row = *state;
    const bool many = row->options.nodes * row->options.size[0] >= MANY_RANKS;
    const unsigned rounds = many ? 1 : 3;

    for (unsigned round = 0; round < rounds; ++round) {
        test_random_t random = test_random_start(FOLD_SEED + round);
        fold_job_t *job = fold_job_new(&row->options, row->variant, FOLD_SEED + 100 * round, 0);

        assert_true(fold_job_run(job, &random));
        for (size_t call = 0; call < FOLD_CALLS; ++call) {
            check_result(job, call);
        }
        if (0 == round) {
            check_bits(row, job);
        }
        assert_int_equal(0, sim_network_counts(job->network)->outstanding);
        assert_int_equal(0, sim_nodes_outstanding(job->nodes));
        assert_true(sim_nodes_intact(job->nodes));
        fold_job_free(job);
    }
}

/* With feedback the mean of the same call comes to the sum; without it does not. */
static void what_a_call_lacked_comes_with_the_next(void **state)
{
    const row_t *row = *state;
    fold_job_t *job = fold_job_new(&row->options, row->variant, FOLD_SEED, 0);
    test_random_t random = test_random_start(FOLD_SEED);
    double worst_of_one = 0;
    double worst_of_mean = 0;

    for (size_t call = 0; call < FOLD_CALLS; ++call) {
        job->calls[call] =
            (call_t){.count = FOLD_COUNT_MAX, .seed = FOLD_SEED, .in_place = 1 == call % 2};
    }
    assert_true(fold_job_run(job, &random));
    for (size_t i = 0; i < FOLD_COUNT_MAX; ++i) {
        double sum = 0;
        double mean = 0;
        for (unsigned rank = 0; rank < job->nodes->ranks; ++rank) {
            sum += (double) (float) fold_job_input(job, &job->calls[0], rank, i);
        }
        for (size_t call = 0; call < FOLD_CALLS; ++call) {
            mean += fold_job_result(job, call, i) / FOLD_CALLS;
        }
        const double first = fold_job_result(job, 0, i);
        worst_of_one = fmax(worst_of_one, fabs(first - sum));
        worst_of_mean = fmax(worst_of_mean, fabs(mean - sum));
    }
    assert_true(worst_of_mean < 2 * worst_of_one / FOLD_CALLS);
    fold_job_free(job);
}

enum { CHUNK_ELEMS = 256, ROW_ELEMS = 64 };

/* Calls of one chunk each; *part: the elements of it that each rank of a node has. */
static fold_job_t *run_single_chunks(const row_t *row_of, size_t *part)
{
    const size_t owners = row_of->options.size[0] / (row_of->variant->crowded ? 2 : 1);
    test_random_t random = test_random_start(FOLD_SEED);
    fold_job_t *job = fold_job_new(&row_of->options, row_of->variant, FOLD_SEED, 0);

    for (size_t call = 0; call < FOLD_CALLS; ++call) {
        job->calls[call] = (call_t){.count = CHUNK_ELEMS, .seed = FOLD_SEED};
    }
    assert_true(fold_job_run(job, &random));
    /* Of many nodes each has as many rows. */
    const size_t row = ROW_ELEMS * (row_of->options.nodes > 16 ? row_of->options.nodes : 1);
    *part = (CHUNK_ELEMS / owners + row - 1) / row * row;
    return job;
}

/*
 * A rank keeps what elements of its own part lacked, each in the place of the element.  By levels
 * another rank of the node may have it, but only one.
 */
static void residuals_are_those_of_the_own_part(void **state)
{
    size_t part = 0;
    fold_job_t *job = run_single_chunks(*state, &part);
    unsigned owner[LOWLAT_JOB_MAX_RANKS][CHUNK_ELEMS / ROW_ELEMS] = {{0}}; /* of a part, from 1 */
    bool some = false;

    for (unsigned rank = 0; rank < job->nodes->ranks; ++rank) {
        const arc_topology_t *topology = &job->nodes->topology[rank];
        const bool flat = 0 == job->members[rank].actor->group.levels.count;
        unsigned parts = 0;
        for (size_t i = 0; i < FOLD_COUNT_MAX; ++i) {
            if (0 == job->members[rank].residual[i]) {
                continue;
            }
            assert_true(i < CHUNK_ELEMS && (!flat || topology->local_rank == i / part));
            unsigned *of = &owner[topology->node][i / part];
            parts += 0 == *of;
            assert_true(0 == *of || rank + 1 == *of);
            *of = rank + 1;
            some = true;
        }
        assert_true(parts <= 1);
    }
    assert_true(some);
    fold_job_free(job);
}

/* ---- a rank that is late, and a network that fails ---- */

static void give_up(fold_job_t *job, unsigned but)
{
    for (unsigned rank = 0; rank < job->nodes->ranks; ++rank) {
        member_t *member = &job->members[rank];
        if (but != rank && ADDING == member->state) {
            arc_task_abort(&member->task->task);
            assert_true(job->nodes->placement.nodes <= arc_task_awaits(&member->task->task));
        }
    }
    assert_int_equal(0, sim_network_counts(job->network)->outstanding);
    assert_int_equal(0, sim_nodes_outstanding(job->nodes));
}

static void names_the_node_that_is_late(void **state)
{
    enum { LATE_NODE = 1 };
    const row_t *row = *state;
    fold_job_t *job = fold_job_new(&row->options, row->variant, FOLD_SEED, 0);
    const unsigned late = job->nodes->placement.member[LATE_NODE][1];
    unsigned awaiting = 0;

    job->calls[0] = (call_t){.count = FOLD_COUNT_MAX, .seed = FOLD_SEED};
    for (unsigned turn = 0; turn < TURNS; ++turn) {
        const unsigned rank = turn % job->nodes->ranks;
        fold_job_happen(job);
        if (late != rank) {
            assert_int_equal(ARC_IN_PROGRESS, fold_job_move(job, &job->members[rank]));
        }
    }
    for (unsigned rank = 0; rank < job->nodes->ranks; ++rank) {
        const arc_topology_t *topology = &job->nodes->topology[rank];
        const lowlat_task_t *task = job->members[rank].task;
        if (late != rank && LATE_NODE == topology->node) {
            assert_true(lowlat_is_absent(task, job->nodes->topology[late].local_rank));
        } else if (late != rank) {
            awaiting += LATE_NODE == arc_task_awaits(&task->task);
        }
    }
    assert_true(awaiting > 0);
    give_up(job, late);
    fold_job_free(job);
}

static void leaves_nothing_when_the_network_fails(void **state)
{
    enum { FAULTS = 30, STRETCH = 5 };
    const row_t *row = *state;
    unsigned failed = 0;
    uint64_t at = 1;

    for (unsigned fault = 0; fault < FAULTS; ++fault, at += 1 + at / STRETCH) {
        test_random_t random = test_random_start(FOLD_SEED + fault);
        fold_job_t *job = fold_job_new(&row->options, row->variant, FOLD_SEED + fault, at);
        unsigned favourite = 0;
        arc_status_t status = ARC_IN_PROGRESS;

        for (size_t steps = 0; steps < TURNS && ARC_IN_PROGRESS == status; ++steps) {
            fold_job_happen(job);
            const unsigned rank = job_pick_rank(job->nodes->ranks, &favourite, &random);
            if (job->members[rank].call < FOLD_CALLS) {
                status = fold_job_move(job, &job->members[rank]);
            }
        }
        failed += ARC_IN_PROGRESS != status;
        give_up(job, job->nodes->ranks);
        fold_job_free(job);
    }
    assert_true(failed > FAULTS / 2);
}

/* In 4 MiB, with shorter messages on many nodes. */
static void arenas_have_room_for_many_nodes(void **state)
{
    static const struct {
        unsigned nodes;
        size_t bytes; /* the least for 8 ranks on each */
    } rows[] = {{16, 5 * 16 * 49152},   {17, 8 * 17 * 12288},       {64, 5 * 64 * 12288},
                {128, 2 * 128 * 12288}, {341, 341 * 12288},         {342, 342 * 12288},
                {512, 512 * 12288},     {513, (size_t) 513 * 49152}};
    enum { PER_NODE = 8, MOST_BYTES = 4 << 20 };
    const quant_operation_t call = {.element = &quant_floats, .count = 1 << 20};
    quant_config_t config = quant_job_config(quant_algo_at(QUANT_ALGO_hierarchical));
    size_t best = 0;

    (void) state;
    config.per_node = PER_NODE;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        assert_int_equal(rows[i].bytes, quant_fold_arena_bytes(&config, PER_NODE * rows[i].nodes,
                                                               &call, MOST_BYTES, &best));
    }
}

int main(void)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(sums_are_equal_everywhere_within_the_bound_and_the_same_again),
        cmocka_unit_test(names_the_node_that_is_late),
        cmocka_unit_test(leaves_nothing_when_the_network_fails),
    };
    static const struct CMUnitTest with_feedback[] = {
        cmocka_unit_test(what_a_call_lacked_comes_with_the_next),
        cmocka_unit_test(residuals_are_those_of_the_own_part),
    };
    enum {
        EACH = sizeof each / sizeof each[0],
        SHAPES = sizeof shapes / sizeof shapes[0],
        VARIANTS = sizeof variants / sizeof variants[0],
        SOME =
            5, /* of them where ranks are many: one in so many; if they are more, without faults */
    };
    static row_t rows[SHAPES * VARIANTS];
    static const struct CMUnitTest once[] = {cmocka_unit_test(arenas_have_room_for_many_nodes)};

    unit_add_of("nodes", NULL, UNIT_TESTS(once));
    for (size_t i = 0; i < SHAPES * VARIANTS; ++i) {
        row_t *row = &rows[i];
        char name[NAME_BYTES];
        *row = (row_t){shapes[i / VARIANTS], &variants[i % VARIANTS]};
        const unsigned per_node = row->options.size[0];
        const char *levels = row->options.levels;
        if ((row->options.nodes > 16 || per_node > (NULL == levels ? 3 : 4)) &&
            0 != i % VARIANTS % SOME) {
            continue;
        }
        (void) snprintf(name, sizeof name, "%ux%u%s%s %s", row->options.nodes, per_node,
                        NULL == levels ? "" : " by ", NULL == levels ? "" : levels,
                        row->variant->name);
        unit_add_of(name, row, each, row->options.nodes * per_node >= MANY_RANKS ? EACH / 2 : EACH);
        if (row->variant->feedback && per_node <= 4) {
            unit_add_of(name, row, UNIT_TESTS(with_feedback));
        }
    }
    return unit_run("quant on simulated nodes");
}
