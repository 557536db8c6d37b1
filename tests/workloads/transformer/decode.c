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
 *
 * A layer is: wait for the attention, sum, wait for the MLP, sum, as in Megatron-LM; a sum has
 * tokens x width floats. A wait is the larger of two times: the bytes of the rank's part of the
 * weights, two for each, over -g, which bounds decode whatever the batch; and two operations for
 * each of these weights and each token, over -f, which bounds prefill. The defaults are what table
 * 4 of the NVRAR paper (Singhania et al.) gives for an A100: with 8192 x 57344 weights the product
 * of decode, 32 tokens, in 0.614 ms, that of prefill, 32768 tokens, in 108.033 ms. Products of
 * tokens with each other are not counted. The wait sleeps, because on an accelerator the processor
 * would be free, and was calibrated before: how late the system wakes a process is taken off, and
 * the rest of the time spun away.
 *
 * All layers are alike, so only as many run as fit the time. Prints a line for each model and
 * number of tokens: name, tokens, bytes of a sum, seconds of a layer, layers, share of the time in
 * sums, seconds of a sum, waited time over wanted, error (mean square over mean square).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "draw.h"
#include "job.h"
#include "seconds.h"

enum {
    MAX_LIST = 16,
    LEAST_LAYERS = 4,
    MOST_LAYERS = 100000,
    PROBES = 50,
    KEY_VALUE_WIDTH = 1024, /* 8 heads of 128 share keys and values in all three models */
    WEIGHT_BYTES = 2
};

typedef struct big_model {
    const char *name;
    int width;
    int hidden; /* of an MLP of three matrices */
    int layers;
} big_model_t;

/* Llama 3.1, its technical report, table 3. */
static const big_model_t big_models[] = {
    {"8B", 4096, 14336, 32},
    {"70B", 8192, 28672, 80},
    {"405B", 16384, 53248, 126},
};

typedef struct bench {
    job_t job;
    const char *models;
    int batches[MAX_LIST];
    size_t batch_count;
    double seconds;
    double gigabytes_per_second;
    double teraflops;
    double tolerance;
    double late_seconds; /* by which a sleep ends later than asked */
    float *in;
    float *out;
    double waited;
    double wanted;
} bench_t;

static void sleep_for(double seconds)
{
    const struct timespec interval = {(time_t) seconds, (long) ((seconds - floor(seconds)) * 1e9)};

    clock_nanosleep(CLOCK_MONOTONIC, 0, &interval, NULL);
}

static double measure_lateness(void)
{
    const double asked = 1e-4;
    double late[PROBES];

    prctl(PR_SET_TIMERSLACK, 1UL); /* ns; 50 us otherwise */
    for (int i = 0; i < PROBES; i++) {
        const double begin = MPI_Wtime();
        sleep_for(asked);
        late[i] = MPI_Wtime() - begin - asked;
    }
    return seconds_median(late, PROBES);
}

static void wait_for(bench_t *bench, double seconds)
{
    const double begin = MPI_Wtime();

    if (seconds > 2 * bench->late_seconds) {
        sleep_for(seconds - 2 * bench->late_seconds);
    }
    while (MPI_Wtime() - begin < seconds) {
        sched_yield();
    }
    bench->waited += MPI_Wtime() - begin;
    bench->wanted += seconds;
}

static void sum(bench_t *bench, int count)
{
    const double begin = MPI_Wtime();

    MPI_Allreduce(bench->in, bench->out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    bench->job.sum_seconds += MPI_Wtime() - begin;
}

/* Seconds that an accelerator takes for its part of the products of `tokens` with these weights. */
static double product_seconds(const bench_t *bench, double weights, int tokens)
{
    const double own = weights / bench->job.ranks;

    return fmax(own * WEIGHT_BYTES / bench->gigabytes_per_second / 1e9,
                2 * own * tokens / bench->teraflops / 1e12);
}

static void run_layers(bench_t *bench, const big_model_t *model, int count, int layers)
{
    const double width = model->width;
    const int tokens = count / model->width;
    const double attention =
        product_seconds(bench, 2 * (width * width + width * KEY_VALUE_WIDTH), tokens);
    const double mlp = product_seconds(bench, 3 * width * model->hidden, tokens);

    for (int layer = 0; layer < layers; layer++) {
        wait_for(bench, attention);
        sum(bench, count);
        wait_for(bench, mlp);
        sum(bench, count);
    }
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
        errors += (bench->out[i] - right) * (bench->out[i] - right);
    }
    free(states);
    return job_largest(errors / squares);
}

static void fill(bench_t *bench, int count)
{
    uint64_t state = seed_of(bench->job.rank);

    for (int i = 0; i < count; i++) {
        bench->in[i] = contribution(&state);
    }
    memset(bench->out, 0, (size_t) count * sizeof(float));
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
    bench->waited = 0;
    bench->wanted = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    job->sum_seconds = 0;
    const double begin = MPI_Wtime();
    run_layers(bench, model, count, layers);
    const double own = MPI_Wtime() - begin;
    const double summing = job_mean(job, job->sum_seconds);
    const double seconds = job_largest(own);
    const double waited = job_mean(job, bench->waited / bench->wanted);
    const double error = error_of_sum(bench, count);
    const bool identical = job_identical(job, bench->out, (size_t) count);
    if (0 == job->rank) {
        printf("layer\t%s\t%d\t%zu\t%.7f\t%d\t%.4f\t%.7f\t%.3f\t%.2e\n", model->name, batch,
               (size_t) count * sizeof(float), seconds / layers, model->layers, summing / seconds,
               summing / (2 * layers), waited, error);
        fflush(stdout);
    }
    return identical && error <= bench->tolerance;
}

static const big_model_t *find_model(const bench_t *bench, const char *name)
{
    for (size_t i = 0; i < sizeof(big_models) / sizeof(big_models[0]); i++) {
        if (0 == strcmp(name, big_models[i].name)) {
            return &big_models[i];
        }
    }
    job_fail(&bench->job, JOB_USAGE, "transformer_decode: no model %s: 8B, 70B or 405B", name);
}

static size_t read_models(const bench_t *bench, const big_model_t **models)
{
    char list[64];
    size_t count = 0;

    snprintf(list, sizeof(list), "%s", bench->models);
    for (char *name = strtok(list, ","); NULL != name && count < MAX_LIST;
         name = strtok(NULL, ",")) {
        models[count++] = find_model(bench, name);
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
        OPTION_FROM('g', NULL, bench->gigabytes_per_second, 1e-6, 1e12),
        OPTION_FROM('f', NULL, bench->teraflops, 1e-6, 1e12),
        OPTION('d', bench->tolerance),
        {.letter = 0},
    };

    job_take_options(&bench->job, "transformer_decode", argc, argv, rows);
    bench->batch_count = options_list(batches, bench->batches, MAX_LIST);
    if (0 == bench->batch_count) {
        job_fail(&bench->job, JOB_USAGE, "transformer_decode: -b is a list as 1,16");
    }
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
    bench->in = malloc(most * sizeof(float));
    bench->out = malloc(most * sizeof(float));
    job_fail_if_any(&bench->job, NULL == bench->in || NULL == bench->out);
}

int main(int argc, char **argv)
{
    bench_t bench = {.models = "8B,70B,405B",
                     .seconds = 0.25,
                     .gigabytes_per_second = 1530,
                     .teraflops = 285,
                     .tolerance = 1e-12};
    const big_model_t *models[MAX_LIST];
    bool right = true;

    job_begin(&bench.job, &argc, &argv);
    read_options(&bench, argc, argv);
    const size_t model_count = read_models(&bench, models);
    allocate(&bench, models, model_count);
    bench.late_seconds = measure_lateness();
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
