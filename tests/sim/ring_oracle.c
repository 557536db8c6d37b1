/*
 * Oracles of the ring: written from docs/format.md and the table in
 * quant_ring.h, without a line of the code that they judge.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>

#include "ring_job.h"

/* The shard to which 64-element row `row` belongs, and where that shard begins. */
static unsigned shard_of_row(const ring_job_t *job, size_t row, size_t *first_row)
{
    const size_t rows = (job->count + 63) / 64;
    size_t begin = 0;

    for (unsigned shard = 0;; ++shard) {
        size_t length = rows / job->ranks + (shard < rows % job->ranks);
        if (row < begin + length) {
            *first_row = begin;
            return shard;
        }
        begin += length;
    }
}

void ring_oracle_sum(const ring_job_t *job, double *sum)
{
    for (size_t i = 0; i < job->count; ++i) {
        sum[i] = 0;
        for (unsigned rank = 0; rank < job->ranks; ++rank) {
            sum[i] += (double) job->inputs[rank][i];
        }
    }
}

void ring_oracle_chain(const ring_job_t *job, float *sum)
{
    for (size_t i = 0; i < job->count; ++i) {
        size_t first_row = 0;
        unsigned shard = shard_of_row(job, i / 64, &first_row);
        volatile float partial = job->inputs[shard][i];
        for (unsigned hop = 1; hop < job->ranks; ++hop) {
            partial = partial + job->inputs[(shard + hop) % job->ranks][i];
        }
        sum[i] = partial;
    }
}

/* One quantization of values of at most `largest`: half a step, the step rounded to 8 bits. */
static double quantization_bound(const quant_format_t *format, double largest)
{
    if (&quant_format_fp32 == format) {
        return 0;
    }
    double scale = fmax(largest / 127 * (1 + 0x1p-8) * (1 + 0x1p-22), 0x1p-118);
    return scale * (0.5 + 0x1p-16);
}

/* The bound of the elements first, first + 64, ... before `end`: they share their scales. */
static double lane_bound(const ring_job_t *job, unsigned shard, size_t first, size_t end)
{
    double bound = 0;

    for (unsigned hop = 0; hop < job->ranks; ++hop) {
        double largest = 0;
        for (size_t i = first; i < end; i += 64) {
            double partial = 0;
            for (unsigned k = 0; k <= hop; ++k) {
                partial += (double) job->inputs[(shard + k) % job->ranks][i];
            }
            largest = fmax(largest, fabs(partial));
        }
        const bool total = hop + 1 == job->ranks;
        bound += hop > 0 ? (largest + bound) * 0x1p-24 : 0; /* the addition */
        bound += quantization_bound(total ? job->config.gather_format : job->config.reduce_format,
                                    largest + bound);
    }
    return bound;
}

void ring_oracle_bound(const ring_job_t *job, double *bound)
{
    const size_t segment_rows = job->config.segment_elems / 64;
    const size_t rows = (job->count + 63) / 64;

    if (1 == job->ranks) {
        for (size_t i = 0; i < job->count; ++i) {
            bound[i] = 0;
        }
        return;
    }
    for (size_t row = 0; row < rows;) {
        size_t shard_row = 0;
        size_t dummy = 0;
        unsigned shard = shard_of_row(job, row, &shard_row);
        size_t in_segment = (row - shard_row) % segment_rows;
        size_t tile_end = row + 1;
        /* A tile ends after block_rows rows, at the end of its segment or of its shard. */
        while (tile_end < rows && 0 != (in_segment + tile_end - row) % job->config.block_rows &&
               shard == shard_of_row(job, tile_end, &dummy)) {
            ++tile_end;
        }
        size_t end = tile_end * 64 < job->count ? tile_end * 64 : job->count;
        for (size_t i = row * 64; i < end; ++i) {
            bound[i] = i < row * 64 + 64 ? lane_bound(job, shard, i, end) : bound[i - 64];
        }
        row = tile_end;
    }
}
