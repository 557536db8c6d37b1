/*
 * Steps of tensor-parallel decode, or prefill, of models that no small machine holds: the sums over
 * the ranks are real, what is computed between them is a wait.
 *
 *   -m LIST   models, as 8B,70B (default 8B,70B,405B)
 *   -b LIST   tokens at a time (default 1,4,16,64): decode has one of each text of its batch,
 *             prefill all of a text
 *   -s X      seconds of each measurement (default 0.25)
 *   -g X      GB/s at which an accelerator reads weights (default 1530)
 *   -f X      Tflop/s at which it multiplies large matrices (default 285)
 *   -d X      largest mean square error of a sum over its mean square (default 1e-12)
 *   -t TYPE   float or bf16 (default float)
 *
 * A layer is: wait for the attention, sum, wait for the MLP, sum, as in Megatron-LM; a sum has
 * tokens x width floats, or bf16 numbers in MPI_UINT16_T. accelerator.h says what is waited for.
 *
 * All layers are alike, so only as many run as fit the time. Prints a line for each model and
 * number of tokens: name, tokens, bytes of a sum, seconds of a layer, layers, share of the time in
 * sums, seconds of a sum, waited time over wanted, error (mean square over mean square).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accelerator.h"
#include "draw.h"

enum { MAX_LIST = 16, LEAST_LAYERS = 4, MOST_LAYERS = 100000 };

typedef struct bench {
    job_t job;
    const char *models;
    int batches[MAX_LIST];
    size_t batch_count;
    double seconds;
    accelerator_t accelerator;
    double tolerance;
    const char *type;
    MPI_Datatype datatype;
    size_t bytes; /* of an element */
    void *in;
    void *out;
} bench_t;

static void sum(bench_t *bench, int count)
{
    const double begin = MPI_Wtime();

    MPI_Allreduce(bench->in, bench->out, count, bench->datatype, MPI_SUM, MPI_COMM_WORLD);
    bench->job.sum_seconds += MPI_Wtime() - begin;
}

static void run_layers(bench_t *bench, const big_model_t *model, int count, int layers)
{
    const int tokens = count / model->width;

    for (int layer = 0; layer < layers; layer++) {
        accelerator_attention(&bench->accelerator, model, bench->job.ranks, tokens);
        sum(bench, count);
        accelerator_mlp(&bench->accelerator, model, bench->job.ranks, tokens);
        sum(bench, count);
    }
}

/* ---- numbers ---- */

/* The upper half of a float is a bf16; half of the last place makes cutting a rounding. */
static void put(const bench_t *bench, void *numbers, int i, float number)
{
    uint32_t bits;

    memcpy(&bits, &number, sizeof(bits));
    if (sizeof(uint16_t) == bench->bytes) {
        ((uint16_t *) numbers)[i] = (uint16_t) ((bits + 0x8000) >> 16);
    } else {
        ((float *) numbers)[i] = number;
    }
}

static float get(const bench_t *bench, const void *numbers, int i)
{
    float number;

    if (sizeof(float) == bench->bytes) {
        return ((const float *) numbers)[i];
    }
    const uint32_t bits = (uint32_t) ((const uint16_t *) numbers)[i] << 16;
    memcpy(&number, &bits, sizeof(number));
    return number;
}

/* What a rank contributes: numbers with heavier tails than normal ones, as activations have. */
static float contribution(uint64_t *state)
{
    const double uniform = 2 * draw_uniform(state) - 1;

    return (float) (uniform / (1.1 - fabs(uniform)));
}

static uint64_t seed_of(int rank)
{
    return (uint64_t) (rank + 1) << 40;
}

/* The largest of the ranks' mean square errors, over the mean square of the right sum. */
static double error_of_sum(const bench_t *bench, int count)
{
    double squares = 0;
    double errors = 0;
    uint64_t *states = malloc((size_t) bench->job.ranks * sizeof(uint64_t));

    job_fail_if_any(&bench->job, NULL == states);
    for (int rank = 0; rank < bench->job.ranks; rank++) {
        states[rank] = seed_of(rank);
    }
    for (int i = 0; i < count; i++) {
        double right = 0;
        for (int rank = 0; rank < bench->job.ranks; rank++) {
            right += contribution(&states[rank]);
        }
        squares += right * right;
        const double error = get(bench, bench->out, i) - right;
        errors += error * error;
    }
    free(states);
    return job_largest(errors / squares);
}

static void fill(bench_t *bench, int count)
{
    uint64_t state = seed_of(bench->job.rank);

    for (int i = 0; i < count; i++) {
        put(bench, bench->in, i, contribution(&state));
    }
    memset(bench->out, 0, (size_t) count * bench->bytes);
}

/* As many layers as take the time of a measurement, by rank 0's clock. */
static int layers_for(bench_t *bench, const big_model_t *model, int count)
{
    const double begin = MPI_Wtime();
    int layers = 0;

    run_layers(bench, model, count, LEAST_LAYERS);
    const double fit = LEAST_LAYERS * bench->seconds / (MPI_Wtime() - begin);
    layers = fit > MOST_LAYERS ? MOST_LAYERS : fit > LEAST_LAYERS ? (int) fit : LEAST_LAYERS;
    MPI_Bcast(&layers, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return layers;
}

static bool measure(bench_t *bench, const big_model_t *model, int batch)
{
    job_t *job = &bench->job;
    const int count = batch * model->width;

    fill(bench, count);
    run_layers(bench, model, count, LEAST_LAYERS); /* first touch, connections */
    const int layers = layers_for(bench, model, count);
    bench->accelerator.waited = 0;
    bench->accelerator.wanted = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    job->sum_seconds = 0;
    const double begin = MPI_Wtime();
    run_layers(bench, model, count, layers);
    const double own = MPI_Wtime() - begin;
    const double summing = job_mean(job, job->sum_seconds);
    const double seconds = job_largest(own);
    const double waited = job_mean(job, bench->accelerator.waited / bench->accelerator.wanted);
    const double error = error_of_sum(bench, count);
    const bool identical =
        job_identical(job, bench->out, (size_t) count * bench->bytes / sizeof(float));
    if (0 == job->rank) {
        printf("layer\t%s\t%d\t%zu\t%.7f\t%d\t%.4f\t%.7f\t%.3f\t%.2e\n", model->name, batch,
               (size_t) count * bench->bytes, seconds / layers, model->layers, summing / seconds,
               summing / (2 * layers), waited, error);
        fflush(stdout);
    }
    return identical && error <= bench->tolerance;
}

static size_t read_models(const bench_t *bench, const big_model_t **models)
{
    char list[64];
    size_t count = 0;

    snprintf(list, sizeof(list), "%s", bench->models);
    for (char *name = strtok(list, ","); NULL != name && count < MAX_LIST;
         name = strtok(NULL, ",")) {
        models[count++] = accelerator_model(&bench->job, name);
    }
    return count;
}

static void read_options(bench_t *bench, int argc, char **argv)
{
    enum { MOST_TOKENS = 4096 };
    const char *batches = "1,4,16,64";
    const option_row_t rows[] = {
        OPTION('m', bench->models),
        OPTION('b', batches),
        OPTION_FROM('s', NULL, bench->seconds, 1e-6, 1e6),
        OPTION_FROM('g', NULL, bench->accelerator.gigabytes_per_second, 1e-6, 1e12),
        OPTION_FROM('f', NULL, bench->accelerator.teraflops, 1e-6, 1e12),
        OPTION('d', bench->tolerance),
        OPTION('t', bench->type),
        {.letter = 0},
    };

    job_take_options(&bench->job, "transformer_decode", argc, argv, rows);
    bench->batch_count = options_list(batches, bench->batches, MAX_LIST);
    if (0 == bench->batch_count) {
        job_fail(&bench->job, JOB_USAGE, "transformer_decode: -b is a list as 1,16");
    }
    const bool is_bf16 = 0 == strcmp(bench->type, "bf16");
    if (!is_bf16 && 0 != strcmp(bench->type, "float")) {
        job_fail(&bench->job, JOB_USAGE, "transformer_decode: -t is float or bf16");
    }
    bench->datatype = is_bf16 ? MPI_UINT16_T : MPI_FLOAT;
    bench->bytes = is_bf16 ? sizeof(uint16_t) : sizeof(float);
    for (size_t i = 0; i < bench->batch_count; i++) {
        if (bench->batches[i] > MOST_TOKENS) {
            job_fail(&bench->job, JOB_USAGE, "transformer_decode: -b %d: at most %d",
                     bench->batches[i], MOST_TOKENS);
        }
    }
}

static void allocate(bench_t *bench, const big_model_t **models, size_t model_count)
{
    size_t most = 0;

    for (size_t i = 0; i < model_count; i++) {
        for (size_t j = 0; j < bench->batch_count; j++) {
            const size_t count = (size_t) bench->batches[j] * (size_t) models[i]->width;
            most = count > most ? count : most;
        }
    }
    bench->in = malloc(most * bench->bytes);
    bench->out = malloc(most * bench->bytes);
    job_fail_if_any(&bench->job, NULL == bench->in || NULL == bench->out);
}

int main(int argc, char **argv)
{
    bench_t bench = {.models = "8B,70B,405B",
                     .seconds = 0.25,
                     .accelerator = ACCELERATOR_A100,
                     .type = "float",
                     .tolerance = 1e-12};
    const big_model_t *models[MAX_LIST];
    bool right = true;

    job_begin(&bench.job, &argc, &argv);
    read_options(&bench, argc, argv);
    const size_t model_count = read_models(&bench, models);
    allocate(&bench, models, model_count);
    accelerator_calibrate(&bench.accelerator);
    job_warm(&bench.job);
    for (size_t i = 0; i < model_count; i++) {
        for (size_t j = 0; j < bench.batch_count; j++) {
            right = measure(&bench, models[i], bench.batches[j]) && right;
        }
    }
    free(bench.out);
    free(bench.in);
    MPI_Finalize();
    return right ? EXIT_SUCCESS : JOB_WRONG;
}
