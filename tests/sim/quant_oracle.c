/*
 * Oracles of the algorithms: written from docs/format.md and docs/algorithms_quant.md,
 * without a line of the code that they judge.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quant_job.h"
#include "testlib.h"

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

    for (unsigned distance = 64; distance > d; distance /= 2) {
        if (d + distance < ranks) {
            child[count++] = d + distance;
        }
    }
    return count;
}

/* Up to 4 nodes are a chain, more two chains. */
static unsigned children_of_nodes(unsigned nodes, unsigned d, unsigned child[CHILDREN_MAX])
{
    return nodes <= 4 ? children_of_loop(nodes, d, child) : children_of_semi_loop(nodes, d, child);
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

/* The shard to which 64-element row `row` belongs, and where that shard begins. */
static unsigned shard_of_row(const quant_job_t *job, size_t row, size_t *first_row)
{
    const size_t rows = (job->count + 63) / 64;
    const unsigned shards = job->ranks;
    size_t begin = 0;

    for (unsigned shard = 0;; ++shard) {
        size_t length = rows / shards + (shard < rows % shards);
        if (row < begin + length) {
            *first_row = begin;
            return shard;
        }
        begin += length;
    }
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

void quant_oracle_sum(const quant_job_t *job, double *sum)
{
    for (size_t i = 0; i < job->count; ++i) {
        sum[i] = 0;
        for (unsigned rank = 0; rank < job->ranks; ++rank) {
            sum[i] += (double) job->inputs[rank][i];
        }
    }
}

double quant_oracle_worst_error(const quant_job_t *job, const float *result)
{
    SCOPED double *sum = test_alloc(job->count * sizeof(double));
    double worst = 0;

    quant_oracle_sum(job, sum);
    for (size_t i = 0; i < job->count; ++i) {
        worst = fmax(worst, fabs((double) result[i] - sum[i]));
    }
    return worst;
}

static float float_sum(const quant_job_t *job, unsigned shard, unsigned d, size_t i)
{
    unsigned child[CHILDREN_MAX];
    const unsigned children = children_at(job, d, child);
    volatile float sum = job->inputs[rank_at(job, shard, d)][i];

    for (unsigned c = 0; c < children; ++c) {
        sum = sum + float_sum(job, shard, child[c], i);
    }
    return sum;
}

void quant_oracle_float_sum(const quant_job_t *job, float *sum)
{
    for (size_t i = 0; i < job->count; ++i) {
        size_t first_row = 0;
        sum[i] = float_sum(job, shard_of_row(job, i / 64, &first_row), 0, i);
    }
}

/* One quantization of values up to `largest`: half a step there, the scale rounded to 8 bits. */
static double quantization_bound(const quant_format_t *format, double largest)
{
    double scale = 1;
    int exponent = 0;

    if (quant_format_is_exact(format)) {
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
        largest = fmax(largest, fabs(values[i]));
    }
    return largest;
}

/* The exact sums of elements first .. end - 1 at distance d, and how far off they may be. */
static double subtree_bound(const quant_job_t *job, unsigned shard, unsigned d, size_t first,
                            size_t end, double sum[BLOCK_MAX])
{
    const size_t count = end - first;
    unsigned child[CHILDREN_MAX];
    const unsigned children = children_at(job, d, child);
    double bound = 0;

    for (size_t i = 0; i < count; ++i) {
        sum[i] = (double) job->inputs[rank_at(job, shard, d)][first + i];
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
    double bound = subtree_bound(job, shard, 0, first, end, sum);

    return bound +
           quantization_bound(job->config.gather_format, largest_of(sum, end - first) + bound);
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
    const size_t shards = job->ranks;
    const size_t block = block_elems(job, (rows + shards - 1) / shards);

    if (1 == job->ranks) {
        for (size_t i = 0; i < job->count; ++i) {
            bound[i] = 0;
        }
        return;
    }
    for (size_t first = 0; first < job->count;) {
        size_t shard_row = 0;
        size_t dummy = 0;
        const unsigned shard = shard_of_row(job, first / 64, &shard_row);
        size_t end = first + 1;
        /* Segments are whole tiles, so blocks count from the begin of the shard. */
        while (end < job->count && 0 != (end - shard_row * 64) % block &&
               (0 != end % 64 || shard == shard_of_row(job, end / 64, &dummy))) {
            ++end;
        }
        bound[first] = block_bound(job, shard, first, end);
        for (size_t i = first + 1; i < end; ++i) {
            bound[i] = bound[first];
        }
        first = end;
    }
}

/* ---- stages: block b is that of rank b, and the shard whose owner rank b is ---- */

static unsigned shard_of_block(const quant_job_t *job, unsigned block)
{
    return (block + 1) % job->ranks;
}

/* The bound of elements first .. end - 1, counted in the whole vector. */
static double half_bound(const quant_job_t *job, unsigned block, size_t first, size_t end)
{
    double sum[BLOCK_MAX];

    if (EXCHANGE_REDUCE_SCATTER == job->collective) {
        return subtree_bound(job, shard_of_block(job, block), 0, first, end, sum);
    }
    double largest = 0;
    for (size_t i = first; i < end; ++i) {
        largest = fmax(largest, fabs((double) job->inputs[block][i - block * job->count]));
    }
    return quantization_bound(job->config.gather_format, largest);
}

void quant_oracle_half_bound(const quant_job_t *job, double *bound)
{
    const size_t elems = block_elems(job, (job->count + 63) / 64);

    for (unsigned block = 0; block < job->ranks; ++block) {
        const size_t base = block * job->count;
        for (size_t i = 0; i < job->count; ++i) {
            const size_t end = i + elems < job->count ? i + elems : job->count;

            bound[base + i] =
                0 == i % elems ? half_bound(job, block, base + i, base + end) : bound[base + i - 1];
        }
        for (size_t i = 0; i < job->count && 1 == job->ranks; ++i) {
            bound[base + i] = 0;
        }
    }
}

void quant_oracle_half_float_sum(const quant_job_t *job, float *sum)
{
    for (unsigned block = 0; block < job->ranks; ++block) {
        for (size_t i = block * job->count; i < (block + 1) * job->count; ++i) {
            sum[i] = float_sum(job, shard_of_block(job, block), 0, i);
        }
    }
}
