/*
 * A limit for the error of every element (quant_fit.h): no algorithm exceeds it, whatever the
 * numbers; no message takes more bits than it has to.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>

#include "unit.h"
#include "quant_fit.h"
#include "quant_job.h"

enum { SEED = 20261122, COUNT = 30011 };

/* ---- numbers ---- */

enum {
    NORMAL,
    OUTLIERS,
    MIXED,
    SPARSE,
    DENORMAL,
    ZERO,
    CANCELLING,
    POSITIVE,
    HUGE_HERE_AND_THERE,
    KINDS,
};

/* About the largest of each kind. */
static const double sizes[KINDS] = {4, 400, 4, 4, 4 * 0x1p-126, 1, 7000, 4, 4};

/* What becomes of a normal number at its place. */
static float number_of(unsigned kind, float x, size_t i, unsigned rank)
{
    switch (kind) {
    case OUTLIERS:
        return 0 == (i + rank) % 1009 ? x * 100 : x;
    case MIXED: /* tensors of 512, large and small */
        return 0 == i / 512 % 2 ? x : x * 1e-3f;
    case SPARSE:
        return 0 == (i + 7 * rank) % 20 ? x : 0;
    case DENORMAL:
        return 0 == i % 3 ? x * 0x1p-140f : x * 0x1p-126f;
    case ZERO:
        return 0 == i % 2 ? 0.0f : -0.0f;
    case CANCELLING: /* but for a little */
        return (0 == rank % 2 ? 1000.0f : -1000.0f) * (float) (1 + i % 7) + x;
    case POSITIVE: /* sums grow as fast as they can */
        return fabsf(x);
    case HUGE_HERE_AND_THERE: /* beyond what is coded */
        return 1 == rank && 0 == i % 4999 ? 0x1p100f : x;
    default:
        return x;
    }
}

static float **inputs_of(unsigned kind, unsigned ranks)
{
    float **inputs = quant_inputs_new(ranks, COUNT, SEED);

    for (unsigned rank = 0; rank < ranks; ++rank) {
        for (size_t i = 0; i < COUNT; ++i) {
            inputs[rank][i] = number_of(kind, inputs[rank][i], i, rank);
        }
    }
    return inputs;
}

static quant_job_t job_of(const quant_algo_t *algo, unsigned ranks, float **inputs, double most)
{
    quant_job_t job = quant_job_new(algo, ranks, COUNT, inputs, SEED);

    job.config.reduce_format = &quant_format_int16;
    job.config.gather_format = &quant_format_int16;
    job.config.bounded = true;
    job.config.coarsest = &quant_format_int4;
    job.bound_max = most;
    job.mixed_isa = true;
    return job;
}

/* What float additions may lose of a sum, whoever adds. */
static double lost_by_floats(const quant_job_t *job)
{
    double largest = 0;

    for (size_t i = 0; i < COUNT; ++i) {
        double sum = 0;
        for (unsigned rank = 0; rank < job->ranks; ++rank) {
            sum += fabs((double) job->inputs[rank][i]);
        }
        largest = fmax(largest, sum);
    }
    return job->ranks * largest * 0x1p-23;
}

TEST_OF_ALGOS(no_element_is_off_by_more_than_the_limit)
{
    static const unsigned ranks_of[] = {2, 3, 4, 8, 13};
    static const double parts[] = {1, 0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-8}; /* of the size */
    const quant_algo_t *algo = *state;
    SCOPED float *result = test_alloc(COUNT * sizeof(float));
    unsigned coded = 0;
    unsigned exact = 0;

    for (size_t r = 0; r < sizeof ranks_of / sizeof ranks_of[0]; ++r) {
        for (unsigned k = 0; k < KINDS; ++k) {
            SCOPED float **inputs = inputs_of(k, ranks_of[r]);
            for (size_t p = 0; p < sizeof parts / sizeof parts[0]; ++p) {
                const double most = sizes[k] * parts[p];
                const quant_job_t job = job_of(algo, ranks_of[r], inputs, most);
                const quant_errors_t errors = quant_job_errors(&job, 2, result);
                const quant_outcome_t outcome = errors.outcome;
                const double error = errors.worst;
                const double floats = lost_by_floats(&job);
                if ((double) outcome.bound > most || error > most) {
                    /* Where the sums themselves may be off by so much. */
                    assert_true(most < floats * ranks_of[r]);
                    assert_true(error <= most + floats);
                }
                coded += 0 == outcome.exact_elems;
                exact += COUNT == outcome.exact_elems;
            }
        }
    }
    /* Both happened: the limits are neither so wide nor so narrow that nothing was shown. */
    assert_true(coded > 50 && exact > 5);
}

/* An element that is not finite is so in the result, and all others keep the limit. */
TEST_OF_ALGOS(numbers_that_are_not_finite_leave_others_alone)
{
    enum { RANKS = 5, EVERY = 9973 };
    SCOPED float **inputs = inputs_of(NORMAL, RANKS);
    SCOPED float *result = test_alloc(COUNT * sizeof(float));
    SCOPED double *sum = test_alloc(COUNT * sizeof(double));
    const double most = 0.05;

    for (size_t i = 0; i < COUNT; i += EVERY) {
        inputs[1][i] = 0 == i / EVERY % 2 ? INFINITY : NAN;
    }
    const quant_job_t job = job_of(*state, RANKS, inputs, most);
    const quant_outcome_t outcome = quant_job_run(&job, 1, result);
    assert_true(outcome.finished && outcome.ok && outcome.intact);
    quant_oracle_exact(&job, sum);
    for (size_t i = 0; i < COUNT; ++i) {
        if (isfinite(sum[i])) {
            assert_true(fabs((double) result[i] - sum[i]) <= most);
        } else {
            assert_true(isnan(sum[i]) ? isnan(result[i]) : result[i] > 0 && isinf(result[i]));
        }
    }
}

/* Each call with what the one before has left. */
TEST_OF_ALGOS(error_feedback_keeps_the_limit)
{
    enum { RANKS = 6, CALLS = 5 };
    static const double limits[] = {1, 0.1, 1e-2, 1e-3};
    SCOPED float **inputs = inputs_of(NORMAL, RANKS);
    SCOPED float *result = test_alloc(COUNT * sizeof(float));

    for (size_t l = 0; l < sizeof limits / sizeof limits[0]; ++l) {
        for (unsigned calls = 1; calls <= CALLS; ++calls) {
            quant_job_t job = job_of(*state, RANKS, inputs, limits[l]);
            job.config.feedback = true;
            const quant_outcome_t outcome = quant_job_errors(&job, calls, result).outcome;
            assert_true((double) outcome.bound <= limits[l]);
            /* The last one has totals that int16 may be too coarse for. */
            assert_true(0 == outcome.exact_elems || limits[l] < 1e-2);
        }
    }
}

/* A named format is taken or none; the one of a message is not known before. */
TEST_OF_ALGOS(what_is_named_is_coded_or_exact)
{
    enum { RANKS = 3 };
    SCOPED float **inputs = inputs_of(NORMAL, RANKS);
    SCOPED float *result = test_alloc(COUNT * sizeof(float));
    quant_job_t job = job_of(*state, RANKS, inputs, 0.2);

    job.config.coarsest = NULL;
    job.config.reduce_format = job.config.gather_format = &quant_format_int8;
    quant_outcome_t outcome = quant_job_clean(&job, 1, result);
    assert_int_equal(0, outcome.exact_elems);
    assert_true(outcome.bound > 0.02f && (double) outcome.bound <= job.bound_max);
    job.bound_max = 1e-3;
    outcome = quant_job_clean(&job, 1, result);
    assert_int_equal(COUNT, outcome.exact_elems);
    assert_true((double) outcome.bound <= job.bound_max);
}

/* ---- one message ---- */

/* The bound in a message of the numbers in a format. */
static double bound_in(quant_wire_segment_t segment, const quant_format_t *format,
                       const float *numbers, float error, void *message)
{
    segment.codec.format = format;
    (void) quant_wire_pack(&segment, numbers, error, message);
    return (double) quant_wire_bound(message);
}

/* For each limit the format found is tight: with fewer bits the limit is exceeded. */
TEST(a_message_takes_the_fewest_bits_that_do)
{
    enum { ELEMS = 3 * 4096 + 17 };
    const float error = 1e-3f;
    quant_kernels_t kernels = quant_kernels_select(ARC_ISA_SCALAR);
    quant_wire_segment_t segment = {
        .codec = {.kernels = &kernels,
                  .format = &quant_format_int16,
                  .block_rows = 64,
                  .elems = ELEMS,
                  .tile = test_alloc(quant_tile_elems(64) * sizeof(float))},
        .any_scaled = true,
    };
    SCOPED uint8_t *message = test_alloc(quant_wire_bytes_max(&quant_format_int16, ELEMS, 64));
    SCOPED uint8_t *other = test_alloc(quant_wire_bytes_max(&quant_format_int16, ELEMS, 64));
    SCOPED float **numbers = quant_inputs_new(1, ELEMS, SEED);
    unsigned seen[QUANT_CODES] = {0};
    unsigned taken = 0;

    for (double most = 2; most > 1e-3; most = (double) error + (most - (double) error) * 0.8) {
        const quant_fit_t fit = {&quant_floats, .most = most, .coarsest = &quant_format_int4};
        const size_t bytes = quant_fit_pack(&fit, &segment, numbers[0], error, false, message);
        const quant_format_t *found = quant_wire_format(message);
        const quant_format_t *format = NULL;

        assert_int_equal(ARC_OK, quant_wire_check(&segment, message, bytes));
        assert_true((double) quant_wire_bound(message) <= most);
        for (size_t f = 0; NULL != (format = quant_format_at(f)); ++f) {
            if (format->scaled && format->bits < found->bits) {
                assert_true(bound_in(segment, format, numbers[0], error, other) > most);
            }
        }
        taken += 0 == seen[found->code]++;
        if (found->exact) {
            break;
        }
    }
    /* int4 to int14, int16, fp32 */
    assert_int_equal(13, taken);
    free(segment.codec.tile);
}

/* Without permission another format than the one agreed on is refused, as ever. */
TEST(only_who_expects_any_format_takes_it)
{
    enum { ELEMS = 4096 };
    quant_kernels_t kernels = quant_kernels_select(ARC_ISA_SCALAR);
    quant_wire_segment_t segment = {
        .codec = {
            .kernels = &kernels, .format = &quant_format_int6, .block_rows = 64, .elems = ELEMS}};
    SCOPED uint8_t *message = test_alloc(quant_wire_bytes_max(&quant_format_int16, ELEMS, 64));
    SCOPED float **numbers = quant_inputs_new(1, ELEMS, SEED);

    const size_t bytes = quant_wire_pack(&segment, numbers[0], 0, message);
    segment.codec.format = &quant_format_int16;
    assert_int_equal(ARC_ERR_PROTOCOL, quant_wire_check(&segment, message, bytes));
    segment.any_scaled = true;
    assert_int_equal(ARC_OK, quant_wire_check(&segment, message, bytes));
    segment.codec.format = &quant_format_bf16;
    const size_t longer = quant_wire_pack(&segment, numbers[0], 0, message);
    segment.codec.format = &quant_format_int16;
    assert_int_equal(ARC_ERR_PROTOCOL, quant_wire_check(&segment, message, longer));
}
