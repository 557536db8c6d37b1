/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "accelerator.h"

#include <math.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>

#include "seconds.h"

enum {
    PROBES = 50,
    KEY_VALUE_WIDTH = 1024, /* 8 heads of 128 share keys and values in all three models */
    WEIGHT_BYTES = 2
};

/* Llama 3.1, its technical report, table 3. */
static const big_model_t big_models[] = {
    {"8B", 4096, 14336, 32},
    {"70B", 8192, 28672, 80},
    {"405B", 16384, 53248, 126},
};

const big_model_t *accelerator_model(const job_t *job, const char *name)
{
    for (size_t i = 0; i < sizeof(big_models) / sizeof(big_models[0]); i++) {
        if (0 == strcmp(name, big_models[i].name)) {
            return &big_models[i];
        }
    }
    job_fail(job, JOB_USAGE, "no model %s: 8B, 70B or 405B", name);
}

static void sleep_for(double seconds)
{
    const struct timespec interval = {(time_t) seconds, (long) ((seconds - floor(seconds)) * 1e9)};

    clock_nanosleep(CLOCK_MONOTONIC, 0, &interval, NULL);
}

void accelerator_calibrate(accelerator_t *accelerator)
{
    const double asked = 1e-4;
    double late[PROBES];

    prctl(PR_SET_TIMERSLACK, 1UL); /* ns; 50 us otherwise */
    for (int i = 0; i < PROBES; i++) {
        const double begin = MPI_Wtime();
        sleep_for(asked);
        late[i] = MPI_Wtime() - begin - asked;
    }
    accelerator->late_seconds = seconds_median(late, PROBES);
}

static void wait_for(accelerator_t *accelerator, double seconds)
{
    const double begin = MPI_Wtime();

    if (seconds > 2 * accelerator->late_seconds) {
        sleep_for(seconds - 2 * accelerator->late_seconds);
    }
    while (MPI_Wtime() - begin < seconds) {
        sched_yield();
    }
    accelerator->waited += MPI_Wtime() - begin;
    accelerator->wanted += seconds;
}

/* The products of `tokens` with these weights. */
static void multiply(accelerator_t *accelerator, double weights, int ranks, int tokens)
{
    const double own = weights / ranks;

    wait_for(accelerator, fmax(own * WEIGHT_BYTES / accelerator->gigabytes_per_second / 1e9,
                               2 * own * tokens / accelerator->teraflops / 1e12));
}

void accelerator_attention(accelerator_t *accelerator, const big_model_t *model, int ranks,
                           int tokens)
{
    const double width = model->width;

    multiply(accelerator, 2 * (width * width + width * KEY_VALUE_WIDTH), ranks, tokens);
}

void accelerator_mlp(accelerator_t *accelerator, const big_model_t *model, int ranks, int tokens)
{
    multiply(accelerator, 3.0 * model->width * model->hidden, ranks, tokens);
}
