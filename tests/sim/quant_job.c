/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>

#include "unit.h"
#include "quant_job.h"

enum {
    /* Thirty times what the longest job of the tests needs (28330 steps). */
    STEPS_MAX = 1 << 20,
    SEQUENCE_FIRST = -2, /* as unsigned: the second call wraps around to the third */
    BF16_SHIFT = 16,
};

static void widen(const void *numbers, float *floats, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const uint32_t bits = (uint32_t) ((const uint16_t *) numbers)[i] << BF16_SHIFT;
        memcpy(&floats[i], &bits, sizeof(bits));
    }
}

/* Towards zero is enough here: what counts is that both sides do the same. */
static void narrow(const float *floats, void *numbers, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        uint32_t bits = 0;
        memcpy(&bits, &floats[i], sizeof(bits));
        ((uint16_t *) numbers)[i] = (uint16_t) (bits >> BF16_SHIFT);
    }
}

const quant_storage_t quant_job_bf16 = {sizeof(uint16_t), {widen, narrow}, INFINITY, INFINITY};

/* One rank: a task that makes its calls back to back, so that ranks are in different calls. */
typedef struct member {
    arc_task_t series; /* first: the task is the member */
    const quant_job_t *job;
    unsigned rank;
    unsigned call;
    unsigned calls;
    quant_kernels_t kernels;
    quant_config_t config;
    test_buffer_t memory;
    test_buffer_t send;
    test_buffer_t recv;
    test_buffer_t residual; /* with error feedback */
    quant_pipeline_t *pipeline;
    arc_task_t *task; /* of the call */
} member_t;

quant_config_t quant_job_config(const quant_algo_t *algo)
{
    return (quant_config_t){
        .algo = algo,
        .reduce_format = &quant_format_int8,
        .gather_format = &quant_format_int8,
        .block_rows = 64,
        .segment_elems = 64 * QUANT_LANES,
        .depth = EXCHANGE_DEPTH_MIN,
    };
}

quant_job_t quant_job_new(const quant_algo_t *algo, unsigned ranks, size_t count,
                          float *const *inputs, uint64_t seed)
{
    quant_job_t job = {
        .ranks = ranks,
        .count = count,
        .config = quant_job_config(algo),
        .isa = ARC_ISA_AVX512,
        .network = {.seed = seed, .delay_max = 12, .eager_max = 2},
        .inputs = inputs,
    };

    quant_job_group(&job, 0);
    return job;
}

void quant_job_vary(quant_job_t *job, const quant_variant_t *variant, uint64_t seed)
{
    job->config.block_rows = variant->block_rows;
    job->config.segment_elems = quant_tile_elems(variant->block_rows);
    job->config.minishards = variant->minishards;
    job->config.microshards = variant->microshards;
    job->config.depth = variant->depth;
    job->in_place = variant->in_place;
    job->mixed_isa = variant->mixed_isa;
    job->network.eager_max = variant->eager_max;
    job->network.seed = seed;
}

const quant_shape_t quant_shapes[QUANT_SHAPES] = {
    {2, 2}, {2, 3}, {3, 2}, {4, 2}, {2, 4},  {4, 4},  {5, 2},  {5, 3},
    {3, 5}, {8, 2}, {2, 8}, {1, 3}, {17, 2}, {19, 3}, {33, 2},
};

void quant_job_group(quant_job_t *job, unsigned per_node)
{
    /* Of each shape that a test has: configurations point there. */
    static unsigned orders[JOB_RANKS_MAX + 1][JOB_RANKS_MAX + 1][JOB_RANKS_MAX];

    if (!job->config.algo->tree->levels) {
        return;
    }
    for (unsigned divisor = 2; 0 == per_node; ++divisor) {
        if (divisor >= job->ranks) {
            per_node = 1; /* there is no other */
        } else if (0 == job->ranks % divisor) {
            per_node = divisor;
        }
    }
    unsigned *order = orders[job->ranks][per_node];
    const unsigned nodes = job->ranks / per_node;
    for (unsigned rank = 0; rank < job->ranks; ++rank) {
        order[rank % nodes * per_node + rank / nodes] = rank;
    }
    job->config.per_node = per_node;
    job->config.order = order;
}

static size_t blocks_of(const quant_job_t *job, exchange_collective_t collective)
{
    return collective == job->collective ? job->ranks : 1;
}

size_t quant_job_in_count(const quant_job_t *job)
{
    return job->count * blocks_of(job, EXCHANGE_REDUCE_SCATTER);
}

size_t quant_job_out_count(const quant_job_t *job)
{
    return job->count * blocks_of(job, EXCHANGE_ALLGATHER);
}

size_t quant_job_result_count(const quant_job_t *job)
{
    return EXCHANGE_ALLREDUCE == job->collective ? job->count : job->count * job->ranks;
}

/* Where a rank's input is in recv, in place. */
static size_t in_place_at(const quant_job_t *job, unsigned rank)
{
    return EXCHANGE_ALLGATHER == job->collective ? rank * job->count : 0;
}

/* Bytes of an input or a result. */
static size_t number_bytes(const quant_job_t *job)
{
    const quant_element_t *element = job->config.doubles ? &quant_doubles : &quant_floats;
    return NULL == job->storage ? element->bytes : job->storage->bytes;
}

/* Asking the processor costs more than a short job where it is a virtual one. */
static arc_isa_t isa_up_to(arc_isa_t limit)
{
    static arc_isa_t best;
    static bool asked;

    if (!asked) {
        best = arc_cpu_isa(ARC_ISA_AVX512);
        asked = true;
    }
    return best < limit ? best : limit;
}

static void member_init(member_t *member, const quant_job_t *job, sim_network_t *network,
                        unsigned rank)
{
    const bool scalar = job->mixed_isa && 1 == rank % 2;
    const size_t in = quant_job_in_count(job);
    const size_t out = quant_job_out_count(job);
    const size_t recv = job->in_place && in > out ? in : out;

    member->job = job;
    member->rank = rank;
    member->call = 0;
    member->kernels = quant_kernels_select(isa_up_to(scalar ? ARC_ISA_SCALAR : job->isa));
    member->config = job->config;
    if (NULL == member->config.kernels) {
        member->config.kernels = &member->kernels;
    }
    arc_stream_t *stream = sim_network_stream(network, rank);
    arc_room_t room = {.memory = NULL};
    (void) quant_pipeline_init(&member->config, stream, &room);
    member->memory = test_buffer_new(room.used, 0);
    member->send = test_buffer_new(in * number_bytes(job), number_bytes(job) * (rank % 3));
    member->recv = test_buffer_new(recv * number_bytes(job), number_bytes(job) * (rank % 5));
    member->residual =
        test_buffer_new(member->config.feedback ? in * sizeof(float) : 0, sizeof(float));
    memset(member->residual.data, 0, member->residual.bytes);
    room = (arc_room_t){.memory = member->memory.data};
    member->pipeline = quant_pipeline_init(&member->config, stream, &room);
}

static void member_start(member_t *member)
{
    const quant_job_t *job = member->job;
    const size_t bytes = number_bytes(job);
    unsigned char *recv = member->recv.data;
    unsigned char *source =
        job->in_place ? recv + in_place_at(job, member->rank) * bytes : member->send.data;

    test_buffer_poison(&member->recv);
    memcpy(source, job->inputs[member->rank], quant_job_in_count(job) * bytes);
    const quant_operation_t operation = {
        .send = source,
        .recv = recv,
        .element = job->config.doubles ? &quant_doubles : &quant_floats,
        .storage = job->storage,
        .count = job->count,
        .collective = job->collective,
        .sequence =
            (uint32_t) SEQUENCE_FIRST + member->call + member->rank % 2 * job->odd_sequence_skew,
        .bound_max = job->bound_max,
        .residual = member->config.feedback ? (float *) member->residual.data : NULL,
    };
    member->task = quant_pipeline_start(member->pipeline, &operation);
}

static void add_to_running(const member_t *member)
{
    const float *floats = (const float *) member->recv.data;
    const double *doubles = (const double *) member->recv.data;
    double *running = member->job->running;

    for (size_t i = 0; NULL != running && 0 == member->rank && i < member->job->count; ++i) {
        running[i] += member->job->config.doubles ? doubles[i] : (double) floats[i];
    }
}

static arc_status_t series_progress(arc_task_t *task)
{
    member_t *member = (member_t *) task;
    if (member->job->first_is_absent && 0 == member->rank) {
        return ARC_IN_PROGRESS;
    }
    arc_status_t status = member->task->ops->progress(member->task);

    if (ARC_OK == status) {
        add_to_running(member);
    }
    if (ARC_OK == status && ++member->call < member->calls) {
        member_start(member);
        return ARC_IN_PROGRESS;
    }
    return status;
}

static bool series_waits_for(const arc_task_t *task, unsigned rank)
{
    const member_t *member = (const member_t *) task;
    return member->task->ops->waits_for(member->task, rank);
}

static const arc_task_ops_t series_ops = {
    .progress = series_progress,
    .waits_for = series_waits_for,
};

static bool member_intact(const member_t *member)
{
    const quant_job_t *job = member->job;

    /* In place the input of a reduce-scatter is longer than its result. */
    const size_t out = quant_job_out_count(job) * number_bytes(job);
    const bool tail_intact =
        member->recv.bytes == out ||
        0 == memcmp((const char *) member->recv.data + out,
                    (const char *) job->inputs[member->rank] + out, member->recv.bytes - out);

    return test_buffer_intact(&member->memory) && test_buffer_intact(&member->send) &&
           test_buffer_intact(&member->recv) && test_buffer_intact(&member->residual) &&
           tail_intact &&
           (job->in_place ||
            0 == memcmp(member->send.data, job->inputs[member->rank], member->send.bytes));
}

static void member_fini(member_t *member)
{
    test_buffer_free(&member->memory);
    test_buffer_free(&member->send);
    test_buffer_free(&member->recv);
    test_buffer_free(&member->residual);
}

static void judge_outcome(quant_outcome_t *outcome, const member_t *members, const quant_job_t *job)
{
    outcome->bound = quant_pipeline_bound(members[0].pipeline);
    outcome->exact_elems = quant_pipeline_exact_elems(members[0].pipeline);
    for (unsigned rank = 0; rank < job->ranks; ++rank) {
        const member_t *member = &members[rank];
        outcome->ok &= ARC_OK == outcome->statuses[rank];
        outcome->intact &= member_intact(member);
        outcome->bounds[rank] = quant_pipeline_bound(member->pipeline);
        outcome->identical &= outcome->exact_elems == quant_pipeline_exact_elems(member->pipeline);
        outcome->identical &=
            EXCHANGE_REDUCE_SCATTER == job->collective ||
            (0 == memcmp(member->recv.data, members[0].recv.data, member->recv.bytes) &&
             outcome->bound == outcome->bounds[rank]);
        for (unsigned peer = 0; peer < job->ranks; ++peer) {
            outcome->waits[rank][peer] = ARC_IN_PROGRESS == outcome->statuses[rank] &&
                                         member->series.ops->waits_for(&member->series, peer);
            outcome->accused += outcome->waits[rank][peer];
        }
        if (ARC_IN_PROGRESS == outcome->statuses[rank]) {
            arc_task_abort(member->task);
        }
    }
}

quant_outcome_t quant_job_run(const quant_job_t *job, unsigned calls, void *result)
{
    sim_network_t *network = sim_network_new(job->ranks, &job->network);
    member_t members[JOB_RANKS_MAX];
    arc_task_t *tasks[JOB_RANKS_MAX];
    quant_outcome_t outcome = {.finished = true, .ok = true, .identical = true, .intact = true};

    for (unsigned rank = 0; rank < job->ranks; ++rank) {
        member_init(&members[rank], job, network, rank);
        members[rank].series.ops = &series_ops;
        members[rank].calls = calls;
        member_start(&members[rank]);
        tasks[rank] = &members[rank].series;
    }
    outcome.finished = sim_network_run(network, tasks, outcome.statuses, STEPS_MAX);
    judge_outcome(&outcome, members, job);
    const sim_counts_t *counts = sim_network_counts(network);
    outcome.outstanding = counts->outstanding;
    outcome.messages = counts->delivered;
    outcome.bytes = counts->delivered_bytes;
    outcome.fault_happened = counts->fault_happened;
    const size_t out_bytes = quant_job_out_count(job) * number_bytes(job);
    const unsigned results = (unsigned) blocks_of(job, EXCHANGE_REDUCE_SCATTER);
    for (unsigned rank = 0; rank < results; ++rank) {
        memcpy((char *) result + rank * out_bytes, members[rank].recv.data, out_bytes);
    }
    for (unsigned rank = 0; rank < job->ranks; ++rank) {
        member_fini(&members[rank]);
    }
    sim_network_free(network);
    return outcome;
}

bool quant_outcome_is_clean(const quant_outcome_t *outcome)
{
    return outcome->finished && outcome->ok && outcome->identical && outcome->intact &&
           0 == outcome->outstanding && 0 == outcome->accused;
}

quant_outcome_t quant_job_clean(const quant_job_t *job, unsigned calls, void *result)
{
    const quant_outcome_t outcome = quant_job_run(job, calls, result);

    assert_true(quant_outcome_is_clean(&outcome));
    return outcome;
}

unsigned quant_outcome_ranks(const quant_outcome_t *outcome, unsigned ranks, arc_status_t status)
{
    unsigned count = 0;

    for (unsigned rank = 0; rank < ranks; ++rank) {
        count += status == outcome->statuses[rank];
    }
    return count;
}

void quant_outcome_assert_failed(const quant_outcome_t *outcome, unsigned ranks,
                                 arc_status_t status)
{
    const unsigned first = quant_outcome_ranks(outcome, ranks, status);
    const unsigned echo =
        ARC_ERR_TRANSPORT == status ? 0 : quant_outcome_ranks(outcome, ranks, ARC_ERR_TRANSPORT);

    assert_true(outcome->fault_happened);
    assert_true(outcome->finished);
    assert_true(outcome->intact);
    assert_int_equal(0, outcome->outstanding);
    assert_true(first >= 1);
    assert_int_equal(ranks, first + echo + quant_outcome_ranks(outcome, ranks, ARC_OK));
}

/*
 * The normal numbers of one seed and rank. Tests ask for the same ones again and again, with other
 * algorithms and lengths, and to draw them would take longer than all they are drawn for.
 */
typedef struct drawn {
    uint64_t seed;
    unsigned rank;
    test_random_t random; /* draws the next one */
    size_t count;
    float *values;
} drawn_t;

enum { DRAWN_MOST = 512 }; /* then the oldest makes room */

static const drawn_t *draw_normals(uint64_t seed, unsigned rank, size_t count)
{
    static drawn_t known[DRAWN_MOST];
    static unsigned begun;
    drawn_t *drawn = NULL;

    for (unsigned i = 0; i < begun && i < DRAWN_MOST && NULL == drawn; ++i) {
        drawn = known[i].seed == seed && known[i].rank == rank ? &known[i] : NULL;
    }
    if (NULL == drawn) {
        drawn = &known[begun++ % DRAWN_MOST];
        free(drawn->values);
        *drawn = (drawn_t){.seed = seed, .rank = rank, .random = test_random_of(seed, rank)};
    }
    if (drawn->count < count) {
        float *values = test_alloc(count * sizeof(float));
        if (0 != drawn->count) {
            memcpy(values, drawn->values, drawn->count * sizeof(float));
        }
        free(drawn->values);
        drawn->values = values;
        for (; drawn->count < count; ++drawn->count) {
            values[drawn->count] = (float) test_random_normal(&drawn->random);
        }
    }
    return drawn;
}

float **quant_inputs_new(unsigned ranks, size_t count, uint64_t seed)
{
    float **inputs = test_alloc(ranks * (sizeof(*inputs) + count * sizeof(float)));
    float *values = (float *) (inputs + ranks);

    for (unsigned rank = 0; rank < ranks; ++rank, values += count) {
        inputs[rank] = values;
        if (0 != count) {
            memcpy(inputs[rank], draw_normals(seed, rank, count)->values, count * sizeof(float));
        }
    }
    return inputs;
}

float **quant_job_draw(quant_job_t *job, uint64_t seed)
{
    const size_t count = quant_job_in_count(job);
    const size_t bytes = count * number_bytes(job);
    float **inputs = test_alloc(job->ranks * (sizeof(*inputs) + bytes + sizeof(double)));
    char *at = (char *) (inputs + job->ranks);

    for (unsigned rank = 0; rank < job->ranks; ++rank, at += bytes) {
        inputs[rank] = (float *) at;
        if (0 == count) {
            continue;
        }
        const float *drawn = draw_normals(seed, rank, count)->values;
        if (NULL != job->storage) {
            job->storage->half.narrow(drawn, at, count);
        } else if (!job->config.doubles) {
            memcpy(at, drawn, bytes);
        }
        for (size_t i = 0; job->config.doubles && i < count; ++i) {
            /* With bits that no float has. */
            ((double *) at)[i] = (double) drawn[i] * (1 + 0x1p-40);
        }
    }
    job->inputs = inputs;
    return inputs;
}

double quant_job_number(const quant_job_t *job, const void *numbers, size_t i)
{
    float narrow = ((const float *) numbers)[NULL == job->storage && !job->config.doubles ? i : 0];

    if (NULL != job->storage) {
        job->storage->half.widen((const char *) numbers + i * job->storage->bytes, &narrow, 1);
    }
    return job->config.doubles ? ((const double *) numbers)[i] : (double) narrow;
}

void quant_job_add(const struct CMUnitTest *test, size_t count)
{
    for (size_t a = 0; a < JOB_ALGOS; ++a) {
        unit_add_of(quant_algo_at(a)->name, quant_algo_at(a), test, count);
    }
}
