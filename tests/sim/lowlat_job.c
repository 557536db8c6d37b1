/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "unit.h"
#include "lowlat_job.h"
#include "lowlat_net.h"
#include "lowlat_select.h"
#include "reduce.h"
#include "sim_memory.h"

/* ---- what is reduced ---- */

/* A 2x2 matrix modulo 2^16 in a padded element: its product is associative and not commutative. */
typedef struct matrix {
    uint16_t m[4];
    uint16_t padding[2];
} matrix_t;

static void multiply_matrices(matrix_t *left, const matrix_t *right)
{
    const uint16_t *l = left->m;
    const uint32_t r[4] = {right->m[0], right->m[1], right->m[2], right->m[3]}; /* products wrap */
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

    for (size_t i = 0; i < count; ++i) {
        matrix_t product;
        /* The last element ends where its padding would begin. */
        memcpy(product.m, ((const matrix_t *) parts[0])[i].m, sizeof product.m);
        for (unsigned part = 1; part < n; ++part) {
            multiply_matrices(&product, &((const matrix_t *) parts[part])[i]);
        }
        memcpy(o[i].m, product.m, sizeof product.m);
    }
}

/* A number and an index, as in MPI_DOUBLE_INT, with a gap behind them. */
typedef struct gapped {
    uint64_t number;
    uint32_t index;
    uint32_t gap;
} gapped_t;

static void reduce_gapped(const void *const *parts, unsigned n, void *out, size_t count,
                          const void *context)
{
    enum { BYTES = offsetof(gapped_t, gap) };
    gapped_t *o = out;

    for (size_t i = 0; i < count; ++i) {
        gapped_t sum = {.number = 0};
        for (unsigned part = 0; part < n; ++part) {
            /* The last element ends where its gap would begin. */
            gapped_t next;
            memcpy(&next, (const gapped_t *) parts[part] + i, BYTES);
            sum.number += next.number;
            sum.index += next.index;
        }
        memcpy(o + i, &sum, BYTES);
    }
}

arc_reducer_t lowlat_job_reducer(unsigned kind)
{
    const arc_reduce_table_t *table = arc_reduce_table(ARC_ISA_SCALAR);
    const arc_reducer_t reducers[LOWLAT_JOB_REDUCERS] = {
        {table->reduce[ARC_OP_SUM][ARC_TYPE_INT32], NULL, 4, 4, false, false},
        {table->reduce[ARC_OP_SUM][ARC_TYPE_DOUBLE], NULL, 8, 8, false, false},
        {table->reduce[ARC_OP_BXOR][ARC_TYPE_UINT8], NULL, 1, 1, false, false},
        {reduce_gapped, NULL, sizeof(gapped_t), offsetof(gapped_t, gap), false, true},
        {reduce_matrices, NULL, sizeof(matrix_t), sizeof(uint16_t[4]), false, true},
    };
    return reducers[kind];
}

/* ---- operations ---- */

operation_t operation_draw(test_random_t *random, unsigned algorithm, unsigned reducers,
                           unsigned ranks, size_t max_bytes)
{
    /* clang-format off */
    static const size_t spans[] = {
        1, 3, 4, 8, 24, 40, 55, 56, 57, 64, 100, 504, 511, 512, 513, 632, 633, 997, 1000, 1023, 1024, 1025,
        1600, 2047, 2048, 2049, 4091, 8000, 8192, 8193, 9000, 9999, 16384, 24576};
    /* clang-format on */
    operation_t operation = {.algorithm = algorithm, .seed = test_random_bits(random)};

    operation.reducer = lowlat_job_reducer((unsigned) test_random_below(random, reducers));
    operation.in_place = 0 == test_random_below(random, 2);
    size_t span = spans[test_random_below(random, sizeof spans / sizeof spans[0])];
    if (0 == test_random_below(random, 4)) {
        /* Counts around the number of ranks: parts and halves that are empty. */
        span = operation.reducer.stride_bytes * (ranks + test_random_below(random, 3) - 1);
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

/* The `rank`'s input: random bytes; doubles get random values that round. */
static void fill_input(const operation_t *operation, unsigned rank, unsigned char *data)
{
    test_random_t random = test_random_of(operation->seed, rank);

    if (sizeof(double) == operation->reducer.stride_bytes) {
        for (size_t i = 0; i < operation->count; ++i) {
            const double value = test_random_normal(&random);
            memcpy(data + i * sizeof value, &value, sizeof value);
        }
        return;
    }
    test_random_fill(&random, data, operation->span_bytes);
}

static void add_input(const operation_t *operation, unsigned char *sum, const unsigned char *right)
{
    const void *parts[] = {sum, right};
    operation->reducer.reduce(parts, 2, sum, operation->count, NULL);
}

void operation_sum(const operation_t *operation, const unsigned *member, unsigned ranks,
                   unsigned char *sum)
{
    SCOPED unsigned char *part = test_alloc(operation->span_bytes);

    fill_input(operation, member[0], sum);
    for (unsigned i = 1; i < ranks; ++i) {
        fill_input(operation, member[i], part);
        add_input(operation, sum, part);
    }
}

/* A matrix product keeps the order of the ranks. */
static bool is_flat(const operation_t *operation, const lowlat_group_t *group)
{
    return !group->levels.in_order && operation->reducer.reduce == reduce_matrices;
}

static const lowlat_levels_t *levels_of(const operation_t *operation, const lowlat_group_t *group)
{
    return lowlat_algorithms[operation->algorithm].reproducible || NULL != group->net
               ? &group->levels
               : &group->pairs;
}

/* Of the unit of `level` in which `local` is: its members, from the left. */
static void sum_by_levels(const operation_t *operation, const actor_t *actors,
                          const unsigned *member, unsigned local, unsigned level,
                          unsigned char *sum)
{
    SCOPED unsigned char *part = test_alloc(operation->span_bytes);

    if (0 == level) {
        fill_input(operation, member[local], sum);
    } else {
        const lowlat_levels_t *levels = levels_of(operation, &actors[member[local]].group);
        const lowlat_level_t *inner = &levels->level[level - 1];
        for (unsigned i = 0; i < inner->members; ++i) {
            sum_by_levels(operation, actors, member, inner->rank[i], level - 1,
                          0 == i ? sum : part);
            if (i > 0) {
                add_input(operation, sum, part);
            }
        }
    }
}

void operation_on_node(const operation_t *operation, const actor_t *actors, const unsigned *member,
                       unsigned ranks, unsigned char *sum)
{
    unsigned all[LOWLAT_JOB_NODE_RANKS];

    for (unsigned rank = 0; NULL == member && rank < ranks; ++rank) {
        all[rank] = rank;
    }
    member = NULL == member ? all : member;
    const lowlat_group_t *group = &actors[member[0]].group;
    const lowlat_levels_t *levels = levels_of(operation, group);

    if (0 == levels->count || is_flat(operation, group)) {
        operation_sum(operation, member, ranks, sum);
    } else {
        sum_by_levels(operation, actors, member, 0, levels->count, sum);
    }
}

static void sum_node(const operation_t *operation, const placement_t *placement, unsigned node,
                     unsigned char *sum)
{
    operation_on_node(operation, placement->actors, placement->member[node], placement->size[node],
                      sum);
}

/* `positions` neighbours from `position` on, a power of two; of the first `extras`, each a pair. */
static void sum_positions(const operation_t *operation, const placement_t *placement,
                          unsigned extras, unsigned position, unsigned positions,
                          unsigned char *sum)
{
    SCOPED unsigned char *upper = test_alloc(operation->span_bytes);

    if (positions > 1) {
        sum_positions(operation, placement, extras, position, positions / 2, sum);
        sum_positions(operation, placement, extras, position + positions / 2, positions / 2, upper);
        add_input(operation, sum, upper);
    } else if (position < extras) {
        sum_node(operation, placement, 2 * position, sum);
        sum_node(operation, placement, 2 * position + 1, upper);
        add_input(operation, sum, upper);
    } else {
        sum_node(operation, placement, position + extras, sum);
    }
}

void operation_tree(const operation_t *operation, const placement_t *placement, unsigned char *sum)
{
    unsigned positions = 1;

    while (2 * positions <= placement->nodes) {
        positions *= 2;
    }
    sum_positions(operation, placement, placement->nodes - positions, 0, positions, sum);
}

void operation_chain(const operation_t *operation, const placement_t *placement, unsigned first,
                     int step, unsigned count, unsigned char *sum)
{
    const unsigned nodes = placement->nodes;
    SCOPED unsigned char *next = test_alloc(operation->span_bytes);
    unsigned node = first % nodes;

    sum_node(operation, placement, node, sum);
    for (unsigned i = 1; i < count; ++i) {
        node = (node + (step < 0 ? nodes - 1 : 1)) % nodes;
        sum_node(operation, placement, node, next);
        add_input(operation, sum, next);
    }
}

void operation_two_chains(const operation_t *operation, const placement_t *placement,
                          unsigned owner, unsigned char *sum)
{
    const unsigned nodes = placement->nodes;
    const unsigned left = nodes / 2;
    const unsigned right = nodes - 1 - left;
    SCOPED unsigned char *own = test_alloc(operation->span_bytes);

    operation_chain(operation, placement, owner + right, -1, right + 1, own);
    operation_chain(operation, placement, owner + nodes - left, 1, left, sum);
    add_input(operation, sum, own);
}

static bool are_equal(const operation_t *operation, const unsigned char *a, const unsigned char *b)
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

/* ---- ranks ---- */

void actor_make_levels(actor_t *actor, const char *levels)
{
    lowlat_group_t *group = &actor->group;
    unsigned members[LOWLAT_MAX_LEVELS];
    lowlat_seat_t seats[LOWLAT_JOB_NODE_RANKS] = {{{0}}};
    const unsigned count = NULL == levels ? 0 : lowlat_levels_parse(levels, members);

    if (count > 0) {
        assert_true(
            lowlat_levels_by_numbers(&group->levels, group->rank, group->ranks, members, count));
    } else if (NULL != levels) {
        for (unsigned rank = 0; rank < group->ranks; ++rank) {
            seats[rank].domain[0] = levels[rank] < 'a';
            seats[rank].domain[LOWLAT_DOMAINS - 1] = (uint16_t) levels[rank];
        }
        assert_true(lowlat_levels_by_seats(&group->levels, group->rank, group->ranks, seats));
    }
    assert_true(NULL == levels || group->levels.count > 1);
}

void actor_start(actor_t *actor, const operation_t *operation)
{
    actor->out = test_buffer_new(operation->span_bytes, operation->reducer.stride_bytes % 8);
    actor->in = test_buffer_new(operation->span_bytes, 0);
    test_buffer_poison(&actor->out);
    fill_input(operation, actor->rank, actor->in.data);
    if (operation->in_place) {
        memcpy(actor->out.data, actor->in.data, operation->span_bytes);
    }
    /* On the stack of a call there is anything. */
    memset(&actor->task, TEST_POISON, sizeof actor->task);
    actor->task.group = &actor->group;
    actor->task.reducer = &operation->reducer;
    actor->task.in = operation->in_place ? actor->out.data : actor->in.data;
    actor->task.out = actor->out.data;
    actor->task.count = operation->count;
    actor->task.span_bytes = operation->span_bytes;
    actor->task.leader_bytes = NULL == actor->group.net ? 0 : actor->group.net->leader_bytes;
    actor->task.widened = NULL;
    actor->task.flat = is_flat(operation, &actor->group);
    sim_memory_turn(actor->memory, &actor->group);
    lowlat_algorithms[operation->algorithm].start(&actor->task);
    actor->running = true;
}

arc_status_t actor_progress(actor_t *actor)
{
    sim_memory_turn(actor->memory, &actor->group);
    return actor->task.task.ops->progress(&actor->task.task);
}

void actor_release(actor_t *actor)
{
    test_buffer_free(&actor->in);
    test_buffer_free(&actor->out);
    actor->running = false;
}

void actor_check(const actor_t *actor, const operation_t *operation, const unsigned char *expected)
{
    SCOPED unsigned char *input = test_alloc(operation->span_bytes);

    assert_true(test_buffer_intact(&actor->out));
    assert_true(test_buffer_intact(&actor->in));
    assert_true(are_equal(operation, expected, actor->out.data));
    assert_true(padding_intact(operation, actor->out.data));
    fill_input(operation, actor->rank, input);
    assert_memory_equal(input, actor->in.data, operation->span_bytes);
}

unsigned job_pick_rank(unsigned ranks, unsigned *favourite, test_random_t *random)
{
    if (0 == test_random_below(random, 200)) {
        *favourite = (unsigned) test_random_below(random, ranks);
    }
    return 0 == test_random_below(random, 3) ? (unsigned) test_random_below(random, ranks)
                                             : *favourite;
}

static bool is_over(const job_t *job, const actor_t *actor)
{
    return ARC_OK != actor->status || job->operations_count == actor->operation;
}

/* What all ranks must have: computed when the first of them has it, at *expected. */
static const unsigned char *expected_sum(const job_t *job, const operation_t *operation,
                                         unsigned char **expected)
{
    if (NULL == *expected) {
        *expected = test_alloc(operation->span_bytes);
        job->expect(operation, job->context, *expected);
    }
    return *expected;
}

/* One call of progress; `expected` is of all operations. */
static void move_actor(job_t *job, actor_t *actor, unsigned char **expected)
{
    const operation_t *operation = &job->operations[actor->operation];

    if (!actor->running) {
        actor_start(actor, operation);
    }
    arc_status_t status = actor_progress(actor);
    if (ARC_IN_PROGRESS == status) {
        return;
    }
    if (ARC_OK == status) {
        actor_check(actor, operation, expected_sum(job, operation, &expected[actor->operation]));
    } else {
        assert_true(test_buffer_intact(&actor->out));
        assert_true(test_buffer_intact(&actor->in));
        assert_non_null(job->on_error);
        job->on_error(job->context);
        actor->status = status;
    }
    actor_release(actor);
    actor->operation += 1;
}

bool job_run(job_t *job, test_random_t *random, size_t steps)
{
    SCOPED unsigned char **expected = test_zeros(job->operations_count * sizeof *expected);
    unsigned favourite = 0;
    unsigned over = 0;

    for (; over < job->ranks && steps > 0; --steps) {
        job->happen(job->context);
        actor_t *actor = &job->actors[job_pick_rank(job->ranks, &favourite, random)];
        if (!is_over(job, actor)) {
            move_actor(job, actor, expected);
            over += is_over(job, actor);
        }
    }
    for (size_t i = 0; i < job->operations_count; ++i) {
        free(expected[i]);
    }
    return over == job->ranks;
}
