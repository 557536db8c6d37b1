/*
 * Oracles of the algorithms: written from docs/format.md and docs/algorithms_quant.md,
 * without a line of the code that they judge.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>

#include "unit.h"
#include "quant_job.h"

enum { CHILDREN_MAX = JOB_RANKS_MAX, BLOCK_MAX = QUANT_BLOCK_ROWS_MAX };

/*
 * Who adds what, of one shard: ranks by their distance `d` before the owner, the
 * owner has 0.  A rank adds to its own part the sums of its children, in this order.
 *
 * With levels, p ranks on each node: d = (distance of the nodes) p + (distance of the
 * places on them).
 */
typedef struct model {
    const char *name;
    unsigned (*children)(unsigned ranks, unsigned d, unsigned child[CHILDREN_MAX]);
} model_t;

/* Ranks of a node; 1 where there are no levels. */
static unsigned per_node(const quant_job_t *job)
{
    const bool levels = 0 == strcmp("hierarchical", job->config.algo->name);
    return levels && job->config.per_node > 1 ? job->config.per_node : 1;
}

static unsigned children_of_loop(unsigned ranks, unsigned d, unsigned child[CHILDREN_MAX])
{
    child[0] = d + 1;
    return d + 1 < ranks;
}

/* Up to half of the ranks come from the left, the others from the right, which the owner adds
 * first. */
static unsigned children_of_semi_loop(unsigned ranks, unsigned d, unsigned child[CHILDREN_MAX])
{
    const unsigned left_end = ranks / 2;
    unsigned count = 0;

    if ((0 == d || d > left_end + 1) && (0 == d ? ranks : d) - 1 > left_end) {
        child[count++] = (0 == d ? ranks : d) - 1;
    }
    if (d < left_end) {
        child[count++] = d + 1;
    }
    return count;
}

static unsigned children_of_direct(unsigned ranks, unsigned d, unsigned child[CHILDREN_MAX])
{
    unsigned count = 0;

    for (unsigned other = ranks - 1; 0 == d && other > 0; --other) {
        child[count++] = other;
    }
    return count;
}

static unsigned children_of_halving(unsigned ranks, unsigned d, unsigned child[CHILDREN_MAX])
{
    unsigned count = 0;

    for (unsigned distance = 1; 0 == (d & distance) && d + distance < ranks; distance *= 2) {
        child[count++] = d + distance;
    }
    return count;
}

/* Up to 4 nodes are a chain, up to 16 two chains, up to 512 a binomial tree. */
static unsigned children_of_nodes(unsigned nodes, unsigned d, unsigned child[CHILDREN_MAX])
{
    return nodes <= 4    ? children_of_loop(nodes, d, child)
           : nodes <= 16 ? children_of_semi_loop(nodes, d, child)
                         : children_of_halving(nodes, d, child);
}

static const model_t *model_of(const quant_job_t *job)
{
    static const model_t models[] = {
        {"full_loop", children_of_loop},     {"semi_loop", children_of_semi_loop},
        {"direct", children_of_direct},      {"recursive_halving", children_of_halving},
        {"hierarchical", children_of_nodes},
    };

    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); ++i) {
        if (0 == strcmp(models[i].name, job->config.algo->name)) {
            return &models[i];
        }
    }
    fprintf(stderr, "quant_oracle: no model of %s\n", job->config.algo->name);
    abort();
}

/*
 * The children of the rank at distance `d`.  With levels, one whose place is that of the owner adds
 * the other ranks of its node, the last place first: in a chain before what comes from other
 * nodes; else after it, but the owner adds what comes from its left last of all.
 */
static unsigned children_at(const quant_job_t *job, unsigned d, unsigned child[CHILDREN_MAX])
{
    const unsigned p = per_node(job);
    const unsigned nodes = job->ranks / p;
    unsigned others[CHILDREN_MAX];
    unsigned count = 0;
    unsigned other = 0;

    if (0 != d % p) {
        return 0;
    }
    const unsigned from_others = model_of(job)->children(nodes, d / p, others);
    const unsigned last = nodes <= 4 ? from_others : 0 == d && from_others > 0;
    while (other < from_others - last) {
        child[count++] = others[other++] * p;
    }
    for (unsigned place = p - 1; place > 0; --place) {
        child[count++] = d + place;
    }
    while (other < from_others) {
        child[count++] = others[other++] * p;
    }
    return count;
}

/* Elements first .. end - 1 of the result, which one rank, the owner, has first of all ranks. */
typedef struct shard {
    unsigned number;
    unsigned owner;
    size_t first;
    size_t end;
} shard_t;

/* Rows of 64 elements; block b of a stage is the shard whose owner rank b is. */
static shard_t shard_at(const quant_job_t *job, unsigned number)
{
    const unsigned shards = job->ranks;
    const unsigned owner = (number + shards - 1) % shards;
    const size_t rows = (job->count + 63) / 64;
    const size_t before =
        rows / shards * number + (number < rows % shards ? number : rows % shards);
    const size_t length = rows / shards + (number < rows % shards);
    const size_t end = (before + length) * 64;

    if (EXCHANGE_ALLREDUCE != job->collective) {
        return (shard_t){number, owner, owner * job->count, (owner + 1) * job->count};
    }
    return (shard_t){number, owner, before * 64 < job->count ? before * 64 : job->count,
                     end < job->count ? end : job->count};
}

/* The rank at distance `d` of the owner of `shard`, which is the rank before shard. */
static unsigned rank_at(const quant_job_t *job, unsigned shard, unsigned d)
{
    const unsigned owner = (shard + job->ranks - 1) % job->ranks;
    const unsigned p = per_node(job);
    const unsigned nodes = job->ranks / p;
    unsigned at = 0;

    if (1 == p) {
        return (owner + job->ranks - d) % job->ranks;
    }
    while (owner != job->config.order[at]) {
        ++at;
    }
    const unsigned node = (at / p + nodes - d / p) % nodes;
    return job->config.order[node * p + (at % p + p - d % p) % p];
}

/* What a rank has for element i of the result. */
static double input_at(const quant_job_t *job, unsigned rank, size_t i)
{
    const size_t at = EXCHANGE_ALLGATHER == job->collective ? i % job->count : i;
    const bool is_float = !job->config.doubles && NULL == job->storage;
    return is_float ? (double) job->inputs[rank][at] : quant_job_number(job, job->inputs[rank], at);
}

void quant_oracle_exact(const quant_job_t *job, double *exact)
{
    const size_t elems = quant_job_result_count(job);

    for (size_t i = 0; i < elems; ++i) {
        const bool of_one = EXCHANGE_ALLGATHER == job->collective;
        const unsigned first = of_one ? (unsigned) (i / job->count) : 0;
        const unsigned end = of_one ? first + 1 : job->ranks;
        long double sum = 0;

        for (unsigned rank = first; rank < end; ++rank) {
            sum += (long double) input_at(job, rank, i);
        }
        exact[i] = (double) sum;
    }
}

static float float_sum(const quant_job_t *job, unsigned shard, unsigned d, size_t i)
{
    unsigned child[CHILDREN_MAX];
    const bool sums = EXCHANGE_ALLGATHER != job->collective;
    const unsigned children = sums ? children_at(job, d, child) : 0;
    volatile float sum = (float) input_at(job, rank_at(job, shard, d), i);

    for (unsigned c = 0; c < children; ++c) {
        sum = sum + float_sum(job, shard, child[c], i);
    }
    return sum;
}

void quant_oracle_float_sum(const quant_job_t *job, float *sum)
{
    for (unsigned number = 0; number < job->ranks; ++number) {
        const shard_t shard = shard_at(job, number);
        for (size_t i = shard.first; i < shard.end; ++i) {
            sum[i] = float_sum(job, number, 0, i);
        }
    }
}

/* One quantization of values up to `largest`: half a step there, the scale rounded to 8 bits. */
static double quantization_bound(const quant_format_t *format, double largest)
{
    double scale = 1;
    int exponent = 0;

    if (format->exact) {
        return 0;
    }
    if (format->scaled) {
        scale = fmax(largest / (double) format->range.divisor * (1 + 0x1p-8) * (1 + 0x1p-22),
                     (double) format->range.scale_min);
    }
    /* The scale may also be smaller by 2^-8, so the largest quotient is larger. */
    double quotient = largest / scale * (1 + 0x1p-7);
    (void) frexp(quotient, &exponent);
    double step = fmax((double) format->step, ldexp(1, exponent - 1 - (int) format->mantissa));
    return scale * (step / 2 + quotient * 0x1p-23);
}

static double largest_of(const double *values, size_t count)
{
    double largest = 0;

    for (size_t i = 0; i < count; ++i) {
        largest = fabs(values[i]) > largest ? fabs(values[i]) : largest;
    }
    return largest;
}

/* The exact sums of elements first .. end - 1 at distance d, and how far off they may be. */
static double subtree_bound(const quant_job_t *job, unsigned shard, unsigned d, size_t first,
                            size_t end, double sum[BLOCK_MAX])
{
    const size_t count = end - first;
    unsigned child[CHILDREN_MAX];
    const bool sums = EXCHANGE_ALLGATHER != job->collective;
    const unsigned children = sums ? children_at(job, d, child) : 0;
    const unsigned rank = rank_at(job, shard, d);
    double bound = 0;

    for (size_t i = 0; i < count; ++i) {
        const double part = input_at(job, rank, first + i);
        sum[i] = isfinite(part) ? part : 0; /* what is not goes as it is */
    }
    for (unsigned c = 0; c < children; ++c) {
        double part[BLOCK_MAX];
        double off = subtree_bound(job, shard, child[c], first, end, part);
        const bool inside = 0 != child[c] % per_node(job);
        const quant_format_t *format = inside ? &quant_format_fp32 : job->config.reduce_format;
        bound += off + quantization_bound(format, largest_of(part, count) + off);
        for (size_t i = 0; i < count; ++i) {
            sum[i] += part[i];
        }
        bound += (largest_of(sum, count) + bound) * 0x1p-24; /* the addition */
    }
    return bound;
}

/* The bound of the elements first .. end - 1, which share their scales. */
static double block_bound(const quant_job_t *job, unsigned shard, size_t first, size_t end)
{
    double sum[BLOCK_MAX];
    const double bound = subtree_bound(job, shard, 0, first, end, sum);
    const double largest = largest_of(sum, end - first) + bound;
    const bool gathers = EXCHANGE_REDUCE_SCATTER != job->collective;

    return gathers ? bound + quantization_bound(job->config.gather_format, largest) : bound;
}

/* The numbers of a block, where the longest shard has `shard_rows` rows of 64. */
static size_t block_elems(const quant_job_t *job, size_t shard_rows)
{
    const size_t most = job->config.block_rows;
    const size_t pieces = job->config.minishards;
    size_t power = 8;

    if (0 == pieces) {
        return most;
    }
    while (power < most && power * pieces < shard_rows) {
        power *= 2;
    }
    return power;
}

void quant_oracle_bound(const quant_job_t *job, double *bound)
{
    const size_t rows = (job->count + 63) / 64;
    const size_t shards = EXCHANGE_ALLREDUCE == job->collective ? job->ranks : 1;
    const size_t block = block_elems(job, (rows + shards - 1) / shards);

    for (unsigned number = 0; number < job->ranks; ++number) {
        /* Segments are whole tiles, so blocks count from the begin of the shard. */
        const shard_t shard = shard_at(job, number);
        for (size_t i = shard.first; i < shard.end; ++i) {
            const size_t end = i + block < shard.end ? i + block : shard.end;
            bound[i] = 1 == job->ranks                  ? 0
                       : 0 != (i - shard.first) % block ? bound[i - 1]
                                                        : block_bound(job, number, i, end);
        }
    }
}

/* The oracle knows floats that go through a pipeline, each call by itself. */
static bool has_bound(const quant_job_t *job)
{
    return job->asks_oracle && !job->config.doubles && NULL == job->storage &&
           !job->config.feedback && !job->config.bounded && 0 == job->config.doubling_bytes;
}

quant_errors_t quant_job_errors(const quant_job_t *job, unsigned calls, void *result)
{
    const size_t elems = quant_job_result_count(job);
    SCOPED double *exact = test_alloc(elems * sizeof(double));
    SCOPED double *bound = test_alloc(elems * sizeof(double));
    quant_errors_t errors = {.outcome = quant_job_clean(job, calls, result)};
    const bool is_float = !job->config.doubles && NULL == job->storage;
    const bool scatters = EXCHANGE_REDUCE_SCATTER == job->collective;
    const bool known = has_bound(job);
    size_t finite = 0;

    quant_oracle_exact(job, exact);
    if (known) {
        quant_oracle_bound(job, bound);
    }
    for (size_t i = 0; i < elems; ++i) {
        const double got =
            is_float ? (double) ((const float *) result)[i] : quant_job_number(job, result, i);
        const double wanted = job->config.doubles ? exact[i] : (double) (float) exact[i];
        const double told = (double) errors.outcome.bounds[scatters ? i / job->count : 0];
        const double most = known ? bound[i] : told;
        const double error = fabs(got - exact[i]);

        if (!isfinite(wanted)) {
            assert_true(isnan(wanted) ? isnan(got) : wanted == got);
            continue;
        }
        if (!(error <= told && error <= most)) {
            fail_msg("element %zu: %.9g, exact %.9g, bound %.3g, told %.3g", i, got, exact[i], most,
                     told);
        }
        finite += 1;
        errors.mean_square += error * error;
        errors.worst = fmax(errors.worst, error);
        errors.bound = known ? fmax(errors.bound, most) : 0;
    }
    errors.mean_square /= (double) (0 == finite ? 1 : finite);
    return errors;
}
