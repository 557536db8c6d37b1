/*
 * What every lowlat algorithm promises, under random schedules: each rank runs
 * its own list of operations through one group, at its own pace, over memory
 * whose stores become visible late and out of order (sim_memory.h).  No rank
 * waits for another but through the algorithm, so ranks drift apart as far as
 * the algorithm lets them.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lowlat_select.h"
#include "reduce.h"
#include "sim_memory.h"

enum {
    SEED = 20261120,
    ARENA_BYTES = 8192,
    BLOCK_BYTES = 512,
    OPERATIONS = 60,
    MAX_RANKS = 17,
    STEPS_PER_OPERATION_AND_RANK = 20000,
    NAME_BYTES = 96,
};

/* ---- what is reduced ---- */

/* A 2x2 matrix modulo 2^16 in a padded element: its product is associative and not commutative. */
typedef struct matrix {
    uint16_t m[4];
    uint16_t padding[2];
} matrix_t;

static void combine_matrices(const void *left, const void *right, void *out, size_t count,
                             const void *context)
{
    const matrix_t *l = left;
    const matrix_t *r = right;
    matrix_t *o = out;
    (void) context;

    /* The flag of this reducer forbids it. */
    assert_ptr_not_equal(right, out);
    for (size_t i = 0; i < count; ++i) {
        const uint16_t product[4] = {
            (uint16_t) (l[i].m[0] * r[i].m[0] + l[i].m[1] * r[i].m[2]),
            (uint16_t) (l[i].m[0] * r[i].m[1] + l[i].m[1] * r[i].m[3]),
            (uint16_t) (l[i].m[2] * r[i].m[0] + l[i].m[3] * r[i].m[2]),
            (uint16_t) (l[i].m[2] * r[i].m[1] + l[i].m[3] * r[i].m[3]),
        };
        memcpy(o[i].m, product, sizeof product);
    }
}

static arc_reducer_t reducer_of(unsigned kind)
{
    const arc_reduce_table_t *table = arc_reduce_table(ARC_ISA_SCALAR);
    const arc_reducer_t reducers[] = {
        {table->combine[ARC_OP_SUM][ARC_TYPE_INT32], NULL, 4, 4, true},
        {table->combine[ARC_OP_SUM][ARC_TYPE_DOUBLE], NULL, 8, 8, true},
        {table->combine[ARC_OP_BXOR][ARC_TYPE_UINT8], NULL, 1, 1, true},
        {combine_matrices, NULL, sizeof(matrix_t), sizeof(uint16_t[4]), false},
    };
    return reducers[kind];
}
enum { REDUCERS = 4 };

/* ---- one operation of the list; the same on all ranks ---- */

typedef struct operation {
    unsigned algorithm;
    arc_reducer_t reducer;
    size_t count;
    size_t span_bytes;
    bool in_place;
    uint64_t seed;
} operation_t;

/* The `rank`'s input: random bytes; doubles get random values that round. */
static void fill(const operation_t *operation, unsigned rank, unsigned char *data)
{
    test_random_t random = test_random_of(operation->seed, rank);

    if (sizeof(double) == operation->reducer.stride_bytes) {
        for (size_t i = 0; i < operation->count; ++i) {
            const double value = test_random_normal(&random);
            memcpy(data + i * sizeof value, &value, sizeof value);
        }
        return;
    }
    for (size_t i = 0; i < operation->span_bytes; ++i) {
        data[i] = (unsigned char) test_random_bits(&random);
    }
}

/* The sum in rank order, element by element: what must come out, bit for bit. */
static void expect(const operation_t *operation, unsigned ranks, unsigned char *sum)
{
    unsigned char *part = test_alloc(operation->span_bytes);

    fill(operation, 0, sum);
    for (unsigned rank = 1; rank < ranks; ++rank) {
        fill(operation, rank, part);
        operation->reducer.combine(sum, part, sum, operation->count, NULL);
    }
    free(part);
}

static bool equal(const operation_t *operation, const unsigned char *a, const unsigned char *b)
{
    const size_t stride = operation->reducer.stride_bytes;

    for (size_t i = 0; i < operation->count; ++i) {
        if (0 != memcmp(a + i * stride, b + i * stride, operation->reducer.last_bytes)) {
            return false;
        }
    }
    return true;
}

/* ---- a rank ---- */

typedef struct actor {
    lowlat_group_t group;
    lowlat_task_t task;
    size_t operation; /* the one under way, or the next */
    bool running;
    test_buffer_t in;
    test_buffer_t out;
} actor_t;

static void actor_start(actor_t *actor, const operation_t *operation)
{
    actor->out = test_buffer_new(operation->span_bytes, operation->reducer.stride_bytes % 8);
    actor->in = test_buffer_new(operation->span_bytes, 0);
    test_buffer_poison(&actor->out);
    fill(operation, actor->group.rank, actor->in.data);
    if (operation->in_place) {
        memcpy(actor->out.data, actor->in.data, operation->span_bytes);
    }
    actor->task = (lowlat_task_t){
        .group = &actor->group,
        .reducer = &operation->reducer,
        .in = operation->in_place ? actor->out.data : actor->in.data,
        .out = actor->out.data,
        .count = operation->count,
        .span_bytes = operation->span_bytes,
    };
    lowlat_algorithms[operation->algorithm].start(&actor->task);
    actor->running = true;
}

static void actor_finish(actor_t *actor, const operation_t *operation, unsigned ranks)
{
    unsigned char *expected = test_alloc(operation->span_bytes);
    unsigned char *sent = test_alloc(operation->span_bytes);

    expect(operation, ranks, expected);
    assert_true(equal(operation, expected, actor->out.data));
    fill(operation, actor->group.rank, sent);
    assert_memory_equal(sent, actor->in.data, operation->span_bytes);
    assert_true(test_buffer_intact(&actor->out));
    assert_true(test_buffer_intact(&actor->in));
    free(sent);
    free(expected);
    test_buffer_free(&actor->in);
    test_buffer_free(&actor->out);
    actor->running = false;
    actor->operation += 1;
}

/* ---- a job: all ranks, one list of operations, one schedule ---- */

typedef struct job {
    char name[NAME_BYTES];
    unsigned ranks;
    int algorithm; /* -1: mixed */
    uint64_t sequence;
} job_t;

static operation_t operation_draw(const job_t *job, test_random_t *random)
{
    static const size_t spans[] = {1,   4,    8,    24,   40,   55,   56,          57,
                                   64,  100,  504,  511,  512,  513,  1000,        1024,
                                   997, 2047, 2048, 2049, 4091, 8000, ARENA_BYTES, 3};
    operation_t operation = {.seed = test_random_bits(random)};

    operation.algorithm =
        (unsigned) (job->algorithm >= 0 ? (size_t) job->algorithm
                                        : test_random_below(random, LOWLAT_ALGORITHMS));
    operation.reducer = reducer_of((unsigned) test_random_below(random, REDUCERS));
    operation.in_place = 0 == test_random_below(random, 2);
    const lowlat_group_t limits = {.ranks = job->ranks, .arena_bytes = ARENA_BYTES};
    const size_t max_bytes = lowlat_algorithms[operation.algorithm].max_bytes(&limits);
    size_t span = spans[test_random_below(random, sizeof spans / sizeof spans[0])];
    if (span > max_bytes) {
        span = 1 + test_random_below(random, max_bytes);
    }
    operation.count = span / operation.reducer.stride_bytes;
    if (0 == operation.count) {
        operation.count = 1;
    }
    operation.span_bytes = arc_reducer_span_bytes(&operation.reducer, operation.count);
    return operation;
}

/*
 * Who moves next: mostly a favourite, who changes now and then, so that ranks
 * run ahead and fall behind for long stretches.
 */
static unsigned pick(unsigned ranks, unsigned *favourite, test_random_t *random)
{
    if (0 == test_random_below(random, 200)) {
        *favourite = (unsigned) test_random_below(random, ranks);
    }
    return 0 == test_random_below(random, 3) ? (unsigned) test_random_below(random, ranks)
                                             : *favourite;
}

static void sums_in_rank_order_under_any_schedule(void **state)
{
    const job_t *job = *state;
    test_random_t random = test_random_start(SEED + job->ranks);
    sim_memory_t *memory =
        sim_memory_new(job->ranks, ARENA_BYTES, job->sequence, test_random_bits(&random));
    actor_t actors[MAX_RANKS];
    operation_t operations[OPERATIONS];
    unsigned favourite = 0;
    unsigned finished = 0;
    size_t steps = (size_t) STEPS_PER_OPERATION_AND_RANK * OPERATIONS * job->ranks;

    for (size_t i = 0; i < OPERATIONS; ++i) {
        operations[i] = operation_draw(job, &random);
    }
    for (unsigned rank = 0; rank < job->ranks; ++rank) {
        actors[rank] = (actor_t){
            .group = sim_memory_group(memory, rank, BLOCK_BYTES, job->sequence),
        };
    }
    while (finished < job->ranks) {
        assert_true(steps-- > 0);
        sim_memory_deliver(memory);
        actor_t *actor = &actors[pick(job->ranks, &favourite, &random)];
        if (OPERATIONS == actor->operation) {
            continue;
        }
        const operation_t *operation = &operations[actor->operation];
        if (!actor->running) {
            actor_start(actor, operation);
        }
        arc_status_t status = actor->task.task.ops->progress(&actor->task.task);
        if (ARC_IN_PROGRESS == status) {
            continue;
        }
        assert_int_equal(ARC_OK, status);
        actor_finish(actor, operation, job->ranks);
        finished += OPERATIONS == actor->operation;
    }
    sim_memory_free(memory);
}

/* While one rank stays away the others wait, for it and for nobody who has come. */
static void names_the_rank_that_is_missing(void **state)
{
    enum { RANKS = 4, LATE = 2, DELIVERIES = 10000 };
    const unsigned algorithm = (unsigned) ((const job_t *) *state)->algorithm;
    sim_memory_t *memory = sim_memory_new(RANKS, ARENA_BYTES, 0, SEED);
    actor_t actors[RANKS];
    operation_t operation = {.algorithm = algorithm,
                             .reducer = reducer_of(0),
                             .count = 2,
                             .span_bytes = 8,
                             .seed = SEED};

    for (unsigned rank = 0; rank < RANKS; ++rank) {
        actors[rank] = (actor_t){.group = sim_memory_group(memory, rank, BLOCK_BYTES, 0)};
        if (LATE != rank) {
            actor_start(&actors[rank], &operation);
        }
    }
    for (unsigned i = 0; i < DELIVERIES; ++i) {
        sim_memory_deliver(memory);
    }
    for (unsigned rank = 0; rank < RANKS; ++rank) {
        if (LATE != rank) {
            const arc_task_t *task = &actors[rank].task.task;
            assert_int_equal(ARC_IN_PROGRESS, task->ops->progress(&actors[rank].task.task));
            for (unsigned peer = 0; peer < RANKS; ++peer) {
                assert_int_equal(LATE == peer, task->ops->waits_for(task, peer));
            }
            test_buffer_free(&actors[rank].in);
            test_buffer_free(&actors[rank].out);
        }
    }
    sim_memory_free(memory);
}

int main(void)
{
    static const unsigned ranks[] = {2, 3, 4, 5, 6, 7, 8, 9, 16, 17};
    /* From the start, and across the wrap of the published counter. */
    static const uint64_t sequences[] = {0, ((uint64_t) 1 << (64 - LOWLAT_BLOCK_BITS)) - 20};
    enum { RANKS = sizeof ranks / sizeof ranks[0], SEQUENCES = 2, KINDS = 1 + LOWLAT_ALGORITHMS };
    static job_t jobs[RANKS * SEQUENCES * KINDS + LOWLAT_ALGORITHMS];
    static struct CMUnitTest tests[sizeof jobs / sizeof jobs[0]];
    size_t used = 0;

    for (int algorithm = -1; algorithm < LOWLAT_ALGORITHMS; ++algorithm) {
        const char *name = algorithm < 0 ? "mixed" : lowlat_algorithms[algorithm].name;
        for (size_t i = 0; i < RANKS * SEQUENCES; ++i) {
            job_t *job = &jobs[used];
            job->ranks = ranks[i / SEQUENCES];
            job->algorithm = algorithm;
            job->sequence = sequences[i % SEQUENCES];
            snprintf(job->name, sizeof job->name, "sums_in_rank_order_under_any_schedule %s %u%s",
                     name, job->ranks, job->sequence ? " wrap" : "");
            tests[used++] = (struct CMUnitTest){
                .name = job->name,
                .test_func = sums_in_rank_order_under_any_schedule,
                .initial_state = job,
            };
        }
        if (algorithm >= 0) {
            job_t *job = &jobs[used];
            job->algorithm = algorithm;
            snprintf(job->name, sizeof job->name, "names_the_rank_that_is_missing %s", name);
            tests[used++] = (struct CMUnitTest){
                .name = job->name,
                .test_func = names_the_rank_that_is_missing,
                .initial_state = job,
            };
        }
    }
    return cmocka_run_group_tests_name("lowlat on simulated memory", tests, NULL, NULL);
}
