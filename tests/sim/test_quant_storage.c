/*
 * 16-bit floats: the same bits as floats that are widened before the call and rounded after it, by
 * every algorithm, in place or not, with everything that uses the memory they are widened into.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>

#include "unit.h"
#include "quant_job.h"

enum { SEED = 20261121, COUNT = 30011, CALLS = 3 };

static const unsigned ranks_cases[] = {1, 2, 3, 4, 6};
static const size_t short_bytes = (size_t) 2 * COUNT * sizeof(float); /* by doubling */

TEST(only_what_may_be_finite_becomes_so)
{
    static const quant_storage_t fp16 = {.largest = 65504, .overflow = 65520};
    static const struct {
        float before;
        float bound;
        float after;
    } rows[] = {
        {65519, 1000, 65519},        {65520, 0, 65520},          {65520, 1, 65504},
        {-66000, 481, -65504},       {-66000, 480, -66000},      {70000, 4000, 70000},
        {INFINITY, 1e30f, INFINITY}, {-1e30f, INFINITY, -1e30f}, {1, 1e30f, 1},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        float floats[] = {NAN, rows[i].before, 0};
        quant_storage_clamp(&fp16, rows[i].bound, floats, 3);
        assert_true(isnan(floats[0]));
        assert_true(rows[i].after == floats[1]);
        assert_true(0 == floats[2]);
    }
}

/* The result of a job of floats that 16 bits hold, rounded, and of the same one of these. */
static void check_equal(quant_job_t *job)
{
    SCOPED float *result = test_alloc(COUNT * sizeof(float));
    SCOPED uint16_t *expected = test_alloc(COUNT * sizeof(uint16_t));
    SCOPED uint16_t *got = test_alloc(COUNT * sizeof(uint16_t));

    job->storage = &quant_job_bf16;
    SCOPED float **halves = quant_job_draw(job, SEED);
    const quant_outcome_t storage = quant_job_clean(job, CALLS, got);
    job->storage = NULL;
    SCOPED float **floats = quant_job_draw(job, SEED);
    for (unsigned rank = 0; rank < job->ranks; ++rank) {
        quant_job_bf16.half.widen(halves[rank], floats[rank], COUNT);
    }
    const quant_outcome_t plain = quant_job_clean(job, CALLS, result);
    quant_job_bf16.half.narrow(result, expected, COUNT);
    assert_true(plain.bound == storage.bound && plain.messages == storage.messages);
    assert_memory_equal(expected, got, COUNT * sizeof(uint16_t));
}

TEST_OF_ALGOS(halves_are_summed_as_floats_are)
{
    for (size_t r = 0; r < sizeof(ranks_cases) / sizeof(ranks_cases[0]); ++r) {
        for (unsigned variant = 0; variant < 16; ++variant) {
            quant_job_t job = quant_job_new(*state, ranks_cases[r], COUNT, NULL, SEED + variant);
            job.config.storage = true;
            job.mixed_isa = true;
            job.in_place = 0 != (variant & 1);
            job.config.feedback = 0 != (variant & 2);
            job.config.gather_format = 0 != (variant & 4) ? &quant_format_fp32 : &quant_format_int8;
            job.config.doubling_bytes = 0 != (variant & 8) ? short_bytes : 0;
            check_equal(&job);
        }
    }
}
