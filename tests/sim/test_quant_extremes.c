/*
 * Sums near the largest float: quantizing makes none infinite that a sum of floats would not, and
 * none finite that has to be infinite.  By every algorithm, in every format.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <float.h>
#include <math.h>

#include "unit.h"
#include "quant_job.h"

enum { SEED = 20261207, RANKS = 5, COUNT = 12007, STRETCH = 500, KINDS = 4 };

/* What the ranks have in an element, by its kind; `lead` is one of the ranks. */
static float part_of(unsigned kind, bool leads, double share)
{
    switch (kind) {
    case 0: /* the largest float, and numbers that it absorbs: each is coded where it is alone */
        return leads ? FLT_MAX : (float) ((share - 0.5) * 0x1p95);
    case 1: /* parts of a sum a little below it, each of them below 2^127 */
        return (float) (share / RANKS * (double) FLT_MAX);
    case 2: /* around the limit of the formats */
        return (float) ((share - 0.5) * 0x1p97);
    default: /* too large for a float, in whatever order they are added */
        return leads ? FLT_MAX : 0x1p104f;
    }
}

static void fill_inputs(float **inputs)
{
    test_random_t random = test_random_of(SEED, 0);

    for (size_t i = 0; i < COUNT; ++i) {
        const unsigned lead = (unsigned) test_random_below(&random, RANKS);
        for (unsigned rank = 0; rank < RANKS; ++rank) {
            inputs[rank][i] =
                part_of((unsigned) (i / STRETCH % KINDS), rank == lead, test_random_unit(&random));
        }
    }
}

static void check_sums(const quant_job_t *job)
{
    SCOPED float *result = test_alloc(COUNT * sizeof(float));
    SCOPED double *sum = test_alloc(COUNT * sizeof(double));

    (void) quant_job_clean(job, 1, result);
    quant_oracle_sum(job, sum);
    for (size_t i = 0; i < COUNT; ++i) {
        const bool finite = KINDS - 1 != i / STRETCH % KINDS;
        if (finite != (bool) isfinite(result[i])) {
            fail_msg("%s: element %zu is %g, its sum %.9g", job->config.reduce_format->name, i,
                     (double) result[i], sum[i]);
        }
        /* Each addition may lose half a unit in the last place, all encodings together another. */
        assert_true(!finite || fabs((double) result[i] - sum[i]) < RANKS * 0x1p103);
    }
}

static void finite_sums_stay_finite_and_others_become_infinite(void **state)
{
    SCOPED float **inputs = quant_inputs_new(RANKS, COUNT, SEED);
    const quant_format_t *format = NULL;

    fill_inputs(inputs);
    for (size_t f = 0; NULL != (format = quant_format_at(f)); ++f) {
        quant_job_t job = quant_job_new(*state, RANKS, COUNT, inputs, SEED);

        job.mixed_isa = true;
        job.config.block_rows = QUANT_BLOCK_ROWS_MIN;
        job.config.reduce_format = format;
        job.config.gather_format = format;
        check_sums(&job);
    }
}

int main(void)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(finite_sums_stay_finite_and_others_become_infinite)};

    quant_job_add(UNIT_TESTS(each));
    return unit_run("extremes");
}
