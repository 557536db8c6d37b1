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

#include "lowlat_memory.h"
#include "lowlat_select.h"
#include "reduce.h"
#include "sim_memory.h"

enum {
    SEED = 20261120,
    ARENA_BYTES = 8192,
    BLOCK_BYTES = 512,
    CHUNK_BYTES = 1024,
    MAX_SPAN_BYTES = 3 * ARENA_BYTES,
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

static void multiply(matrix_t *left, const matrix_t *right)
{
    const uint16_t *l = left->m;
    const uint16_t *r = right->m;
    const uint16_t product[4] = {
        (uint16_t) (l[0] * r[0] + l[1] * r[2]),
        (uint16_t) (l[0] * r[1] + l[1] * r[3]),
        (uint16_t) (l[2] * r[0] + l[3] * r[2]),
        (uint16_t) (l[2] * r[1] + l[3] * r[3]),
    };
    memcpy(left->m, product, sizeof product);
}

static void reduce_matrices(const void *const *parts, unsigned n, void *out, size_t count,
                            const void *context)
{
    matrix_t *o = out;
    (void) context;

    for (size_t i = 0; i < count; ++i) {
        matrix_t product = ((const matrix_t *) parts[0])[i];
        for (unsigned part = 1; part < n; ++part) {
            multiply(&product, &((const matrix_t *) parts[part])[i]);
        }
        memcpy(o[i].m, product.m, sizeof product.m);
    }
}

static arc_reducer_t reducer_of(unsigned kind)
{
    const arc_reduce_table_t *table = arc_reduce_table(ARC_ISA_SCALAR);
    const arc_reducer_t reducers[] = {
        {table->reduce[ARC_OP_SUM][ARC_TYPE_INT32], NULL, 4, 4, false},
        {table->reduce[ARC_OP_SUM][ARC_TYPE_DOUBLE], NULL, 8, 8, false},
        {table->reduce[ARC_OP_BXOR][ARC_TYPE_UINT8], NULL, 1, 1, false},
        {reduce_matrices, NULL, sizeof(matrix_t), sizeof(uint16_t[4]), false},
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

/* The sum of ranks [first, end), element by element: in rank order, */
static void expect_in_rank_order(const operation_t *operation, unsigned first, unsigned end,
                                 unsigned char *sum)
{
    unsigned char *part = test_alloc(operation->span_bytes);
    const void *parts[] = {sum, part};

    fill(operation, first, sum);
    for (unsigned rank = first + 1; rank < end; ++rank) {
        fill(operation, rank, part);
        operation->reducer.reduce(parts, 2, sum, operation->count, NULL);
    }
    free(part);
}

/* or as a balanced tree of neighbours: `positions` of them from `position` on, a power of two. */
static void expect_pairwise(const operation_t *operation, unsigned extras, unsigned position,
                            unsigned positions, unsigned char *sum)
{
    if (1 == positions) {
        const unsigned first = position < extras ? 2 * position : position + extras;
        expect_in_rank_order(operation, first, first + (position < extras ? 2 : 1), sum);
        return;
    }
    unsigned char *upper = test_alloc(operation->span_bytes);
    const void *parts[] = {sum, upper};
    expect_pairwise(operation, extras, position, positions / 2, sum);
    expect_pairwise(operation, extras, position + positions / 2, positions / 2, upper);
    operation->reducer.reduce(parts, 2, sum, operation->count, NULL);
    free(upper);
}

/* What must come out, bit for bit. */
static void expect(const operation_t *operation, unsigned ranks, unsigned char *sum)
{
    unsigned positions = 1;

    if (lowlat_algorithms[operation->algorithm].in_rank_order) {
        expect_in_rank_order(operation, 0, ranks, sum);
        return;
    }
    while (2 * positions <= ranks) {
        positions *= 2;
    }
    expect_pairwise(operation, ranks - positions, 0, positions, sum);
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

/* Are the bytes between elements what they were, when the output was not the input? */
static bool padding_intact(const operation_t *operation, const unsigned char *out)
{
    const arc_reducer_t *reducer = &operation->reducer;

    for (size_t i = 0; !operation->in_place && i + 1 < operation->count; ++i) {
        for (size_t byte = reducer->last_bytes; byte < reducer->stride_bytes; ++byte) {
            if (TEST_POISON != out[i * reducer->stride_bytes + byte]) {
                return false;
            }
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
    assert_true(padding_intact(operation, actor->out.data));
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
} job_t;

static operation_t operation_draw(const job_t *job, test_random_t *random)
{
    static const size_t spans[] = {1,
                                   3,
                                   4,
                                   8,
                                   24,
                                   40,
                                   55,
                                   56,
                                   57,
                                   64,
                                   100,
                                   504,
                                   511,
                                   512,
                                   513,
                                   997,
                                   1000,
                                   1023,
                                   1024,
                                   1025,
                                   1600,
                                   2047,
                                   2048,
                                   2049,
                                   4091,
                                   8000,
                                   ARENA_BYTES,
                                   ARENA_BYTES + 1,
                                   9000,
                                   9999,
                                   2 * ARENA_BYTES,
                                   MAX_SPAN_BYTES};
    operation_t operation = {.seed = test_random_bits(random)};

    operation.algorithm =
        (unsigned) (job->algorithm >= 0 ? (size_t) job->algorithm
                                        : test_random_below(random, LOWLAT_ALGORITHMS));
    operation.reducer = reducer_of((unsigned) test_random_below(random, REDUCERS));
    operation.in_place = 0 == test_random_below(random, 2);
    const lowlat_group_t limits = {.ranks = job->ranks, .arena_bytes = ARENA_BYTES};
    const size_t max_bytes = lowlat_algorithms[operation.algorithm].max_bytes(&limits);
    size_t span = spans[test_random_below(random, sizeof spans / sizeof spans[0])];
    if (0 == test_random_below(random, 4)) {
        /* Counts around the number of ranks: parts and halves that are empty. */
        span = operation.reducer.stride_bytes * (job->ranks + test_random_below(random, 3) - 1);
    }
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

static void sums_in_its_order_under_any_schedule(void **state)
{
    const job_t *job = *state;
    test_random_t random = test_random_start(SEED + job->ranks);
    sim_memory_t *memory = sim_memory_new(job->ranks, ARENA_BYTES, test_random_bits(&random));
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
            .group = sim_memory_group(memory, rank, BLOCK_BYTES, CHUNK_BYTES),
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

/*
 * While one rank stays away nobody finishes, everybody knows who is absent, and
 * those who can see that they wait for it say so.
 */
static void names_the_rank_that_is_missing(void **state)
{
    enum { RANKS = 4, LATE = 2, DELIVERIES = 30000 };
    const unsigned algorithm = (unsigned) ((const job_t *) *state)->algorithm;
    sim_memory_t *memory = sim_memory_new(RANKS, ARENA_BYTES, SEED);
    actor_t actors[RANKS];
    operation_t operation = {.algorithm = algorithm,
                             .reducer = reducer_of(0),
                             .count = 200,
                             .span_bytes = 800,
                             .seed = SEED};
    unsigned waiting_for_late = 0;

    for (unsigned rank = 0; rank < RANKS; ++rank) {
        actors[rank] = (actor_t){.group = sim_memory_group(memory, rank, BLOCK_BYTES, CHUNK_BYTES)};
        if (LATE != rank) {
            actor_start(&actors[rank], &operation);
        }
    }
    for (unsigned i = 0; i < DELIVERIES; ++i) {
        lowlat_task_t *task = &actors[i % RANKS].task;
        sim_memory_deliver(memory);
        if (LATE != i % RANKS) {
            assert_int_equal(ARC_IN_PROGRESS, task->task.ops->progress(&task->task));
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
        test_buffer_free(&actors[rank].in);
        test_buffer_free(&actors[rank].out);
    }
    assert_true(waiting_for_late > 0);
    sim_memory_free(memory);
}

int main(void)
{
    static const unsigned ranks[] = {2, 3, 4, 5, 6, 7, 8, 9, 16, 17};
    enum { RANKS = sizeof ranks / sizeof ranks[0], KINDS = 1 + LOWLAT_ALGORITHMS };
    static job_t jobs[RANKS * KINDS + LOWLAT_ALGORITHMS];
    static struct CMUnitTest tests[sizeof jobs / sizeof jobs[0]];
    size_t used = 0;

    for (int algorithm = -1; algorithm < LOWLAT_ALGORITHMS; ++algorithm) {
        const char *name = algorithm < 0 ? "mixed" : lowlat_algorithms[algorithm].name;
        for (size_t i = 0; i < RANKS; ++i) {
            job_t *job = &jobs[used];
            job->ranks = ranks[i];
            job->algorithm = algorithm;
            snprintf(job->name, sizeof job->name, "sums_in_its_order_under_any_schedule %s %u",
                     name, job->ranks);
            tests[used++] = (struct CMUnitTest){
                .name = job->name,
                .test_func = sums_in_its_order_under_any_schedule,
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
