/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>

#include "unit.h"
#include "fold_job.h"
#include "quant_valid.h"
#include "reduce.h"

enum {
    CHUNK_BYTES = 1024, /* of coll_lowlat's sums, which nobody makes */
    STEPS_PER_CALL_AND_RANK = 200000,
};

/* ---- calls ---- */

static call_t draw_call(test_random_t *random)
{
    static const size_t counts[] = {1, 2, 63, 64, 65, 130, 1000, 2047, 4096, 5000, FOLD_COUNT_MAX};

    return (call_t){
        .in_place = 0 == test_random_below(random, 2),
        .count = counts[test_random_below(random, sizeof counts / sizeof counts[0])],
        .seed = test_random_bits(random),
    };
}

/* ---- ranks ---- */

/* Nothing is rounded on a node: there large parts leave 127 from rank 0, or nothing. */
static double cancelling(const fold_job_t *job, unsigned rank, size_t i)
{
    const double part = (double) (i % 61) * 0x1p12;
    const unsigned place = job->nodes->topology[rank].local_rank;

    return (0 == rank ? 127 : 0) + (0 == place ? part : 1 == place ? -part : 0);
}

/*
 * 10^8 and 1 are rounded to 10^8, which another rank of the node takes off again, or the next node.
 */
static double rounding(const fold_job_t *job, unsigned rank)
{
    const arc_topology_t *topology = &job->nodes->topology[rank];
    const double large = 0 == topology->node % 2 ? 1e8 : -1e8;

    const unsigned place = topology->local_rank % 4;

    return 0 == place ? large : 2 == place ? -large : 1;
}

double fold_job_tensor(size_t i)
{
    return 0 == i / FOLD_TENSOR % 2 ? 1 : 1e-4;
}

double fold_job_input(const fold_job_t *job, const call_t *call, unsigned rank, size_t i)
{
    test_random_t random = test_random_of(call->seed + i, rank + 1);
    const uint64_t bits = test_random_bits(&random);

    if (job->variant->cancels) {
        return cancelling(job, rank, i);
    }
    if (job->variant->rounds) {
        return rounding(job, rank);
    }
    const double size = job->variant->tensors ? fold_job_tensor(i) : 1;
    return job->variant->integers ? (double) (bits % 1000) - 500
                                  : (double) (int64_t) bits * 0x1p-63 * size;
}

static void put_number(void *numbers, size_t i, double value, bool doubles)
{
    if (doubles) {
        ((double *) numbers)[i] = value;
    } else {
        ((float *) numbers)[i] = (float) value;
    }
}

/* The configuration of all ranks. */
static quant_config_t config_of(const fold_job_t *job)
{
    const variant_t *variant = job->variant;
    quant_config_t config = quant_job_config(quant_algo_at(QUANT_ALGO_hierarchical));

    config.reduce_format = variant->format;
    config.gather_format = variant->format;
    config.depth = variant->depth;
    if (variant->chunks) {
        config.block_rows = QUANT_BLOCK_ROWS_MIN;
        config.segment_elems = quant_tile_elems(config.block_rows);
    }
    config.doubles = variant->doubles;
    config.feedback = variant->feedback;
    config.per_node = job->nodes->placement.size[0];
    config.order = job->order;
    return config;
}

/* Arenas for parts of all ranks, or of half of them. */
static size_t room_of(const fold_job_t *job, const member_t *member)
{
    const quant_operation_t any = {.element = member->element, .count = FOLD_COUNT_MAX};
    size_t best = 0;
    const size_t of_all =
        quant_fold_arena_bytes(&member->config, job->nodes->ranks, &any, SIZE_MAX, &best);
    const size_t room = job->variant->crowded ? of_all / 2 : of_all;

    assert_true(room >=
                quant_fold_arena_bytes(&member->config, job->nodes->ranks, &any, room, &best));
    return room;
}

static quant_fold_t *make_fold(const fold_job_t *job, const member_t *member, unsigned rank,
                               arc_room_t *room)
{
    return quant_fold_init(&member->config, &member->actor->group, arc_reduce_table(ARC_ISA_SCALAR),
                           sim_network_stream(job->network, rank), room_of(job, member), room);
}

static void make_member(fold_job_t *job, unsigned rank)
{
    member_t *member = &job->members[rank];
    const arc_isa_t isa = 1 == rank % 2 ? ARC_ISA_SCALAR : arc_cpu_isa(ARC_ISA_BEST);

    member->actor = &job->nodes->actors[rank];
    member->kernels = quant_kernels_select(isa);
    member->config = config_of(job);
    member->config.kernels = &member->kernels;
    member->element = member->config.doubles ? &quant_doubles : &quant_floats;
    assert_true(quant_config_is_valid(&member->config));
    const quant_operation_t whole = {.collective = EXCHANGE_ALLREDUCE};
    assert_true(quant_fold_takes(&member->config, &whole));
    arc_room_t room = {.memory = NULL};
    (void) make_fold(job, member, rank, &room);
    member->memory = test_buffer_new(room.used, 0);
    room = (arc_room_t){.memory = member->memory.data};
    member->fold = make_fold(job, member, rank, &room);
    member->residual = member->config.feedback ? test_zeros(FOLD_COUNT_MAX * sizeof(float)) : NULL;
}

fold_job_t *fold_job_new(const nodes_options_t *shape, const variant_t *variant, uint64_t seed,
                         uint64_t fail_at)
{
    const sim_options_t network = {
        .seed = seed, .delay_max = 9, .eager_max = 2, .fail_at = fail_at};
    nodes_options_t options = *shape;
    fold_job_t *job = test_zeros(sizeof *job);
    test_random_t random = test_random_start(seed);

    options.seed = seed;
    options.chunk_bytes = CHUNK_BYTES;
    job->variant = variant;
    job->nodes = sim_nodes_new(&options);
    job->network = sim_network_new(job->nodes->ranks, &network);
    job->order = job->nodes->topology[0].order;
    for (unsigned rank = 0; rank < job->nodes->ranks; ++rank) {
        make_member(job, rank);
    }
    for (size_t call = 0; call < FOLD_CALLS; ++call) {
        job->calls[call] = draw_call(&random);
    }
    return job;
}

void fold_job_free(fold_job_t *job)
{
    for (unsigned rank = 0; rank < job->nodes->ranks; ++rank) {
        assert_true(test_buffer_intact(&job->members[rank].memory));
        test_buffer_free(&job->members[rank].memory);
        test_buffer_free(&job->members[rank].in);
        test_buffer_free(&job->members[rank].out);
        free(job->members[rank].residual);
    }
    for (size_t call = 0; call < FOLD_CALLS; ++call) {
        test_buffer_free(&job->result[call]);
    }
    sim_network_free(job->network);
    sim_nodes_free(job->nodes);
    free(job);
}

static void start_call(fold_job_t *job, member_t *member)
{
    const call_t *call = &job->calls[member->call];
    const size_t bytes = member->element->bytes;

    member->in = test_buffer_new(call->count * bytes, bytes);
    member->out = test_buffer_new(call->count * bytes, bytes);
    test_buffer_poison(&member->out);
    for (size_t i = 0; i < call->count; ++i) {
        const double x = fold_job_input(job, call, member->actor->rank, i);
        put_number(member->in.data, i, x, member->config.doubles);
    }
    if (call->in_place) {
        memcpy(member->out.data, member->in.data, call->count * bytes);
    }
    const quant_operation_t operation = {
        .send = call->in_place ? member->out.data : member->in.data,
        .recv = member->out.data,
        .element = member->element,
        .count = call->count,
        .collective = EXCHANGE_ALLREDUCE,
        .sequence = (uint32_t) member->call,
        .residual = member->residual,
    };
    sim_memory_turn(member->actor->memory, &member->actor->group);
    member->task = quant_fold_start(member->fold, &operation);
    member->state = ADDING;
}

/* The sum is there: now what it may be off. */
static void start_bound(member_t *member)
{
    member->task = quant_fold_start_bound(member->fold, &member->bound);
    member->state = BOUNDING;
}

/* The same bits on all ranks; who is first keeps them. */
static void end_call(fold_job_t *job, member_t *member)
{
    const call_t *call = &job->calls[member->call];
    const size_t bytes = call->count * member->element->bytes;

    assert_true(test_buffer_intact(&member->out) && test_buffer_intact(&member->in));
    if (0 == job->done[member->call]++) {
        job->result[member->call] = test_buffer_new(bytes, 0);
        memcpy(job->result[member->call].data, member->out.data, bytes);
    }
    assert_memory_equal(job->result[member->call].data, member->out.data, bytes);
    job->told[member->call] = fmax(job->told[member->call], (double) member->bound);
    test_buffer_free(&member->in);
    test_buffer_free(&member->out);
    member->state = IDLE;
    member->call += 1;
}

/* One call of progress; an error, or ARC_IN_PROGRESS. */
arc_status_t fold_job_move(fold_job_t *job, member_t *member)
{
    if (IDLE == member->state) {
        start_call(job, member);
    }
    sim_memory_turn(member->actor->memory, &member->actor->group);
    const arc_status_t status = member->task->task.ops->progress(&member->task->task);
    if (ARC_OK != status) {
        return status;
    }
    if (ADDING == member->state) {
        start_bound(member);
    } else {
        end_call(job, member);
    }
    return ARC_IN_PROGRESS;
}

void fold_job_happen(fold_job_t *job)
{
    sim_nodes_happen(job->nodes);
    sim_network_pass(job->network);
}

bool fold_job_run(fold_job_t *job, test_random_t *random)
{
    const unsigned ranks = job->nodes->ranks;
    size_t steps = (size_t) STEPS_PER_CALL_AND_RANK * FOLD_CALLS * ranks;
    unsigned favourite = 0;
    unsigned over = 0;

    for (; over < ranks && steps > 0; --steps) {
        fold_job_happen(job);
        member_t *member = &job->members[job_pick_rank(ranks, &favourite, random)];
        if (member->call < FOLD_CALLS) {
            assert_int_equal(ARC_IN_PROGRESS, fold_job_move(job, member));
            over += FOLD_CALLS == member->call;
        }
    }
    return over == ranks;
}

double fold_job_result(const fold_job_t *job, size_t call, size_t i)
{
    const void *numbers = job->result[call].data;

    return job->variant->doubles ? ((const double *) numbers)[i]
                                 : (double) ((const float *) numbers)[i];
}
