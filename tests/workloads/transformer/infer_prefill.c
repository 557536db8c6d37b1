/*
 * Prefill: time to the first character, the part of it that is sums over the ranks, and how well
 * the model foretells held-out text when all its sums are made in this way.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "held_out.h"
#include "infer.h"
#include "seconds.h"

enum { WARM_TEXTS = 3, MAX_TEXTS = 1024 };

typedef struct times {
    double first; /* seconds to the first character, the slowest rank's */
    double sums;  /* seconds of it in sums over the ranks, mean over these */
} times_t;

static times_t time_text(infer_t *infer, pass_t *pass, const uint8_t *characters, float *logits)
{
    job_t *job = &infer->job;
    uint8_t first = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    job->sum_seconds = 0;
    pass->past = 0;
    const double begin = MPI_Wtime();
    pass_forward(pass, characters, pass->capacity);
    pass_logits(pass, (size_t) pass->capacity - 1, 1, logits);
    infer_choose(logits, 1, &first);
    const double own = MPI_Wtime() - begin;
    const double sums = job->sum_seconds;
    return (times_t){.first = job_largest(own), .sums = job_mean(job, sums)};
}

static times_t time_texts(infer_t *infer, pass_t *pass, float *logits)
{
    static double first[MAX_TEXTS];
    static double sums[MAX_TEXTS];
    const size_t windows = held_out_windows(&infer->text, pass->capacity);
    const int repeats = infer->repeats < MAX_TEXTS ? infer->repeats : MAX_TEXTS;

    for (int i = -WARM_TEXTS; i < repeats; i++) {
        const size_t window = (size_t) (i + WARM_TEXTS) % windows;
        const times_t times = time_text(
            infer, pass, infer->text.characters + window * (size_t) pass->capacity, logits);
        if (i >= 0) {
            first[i] = times.first;
            sums[i] = times.sums;
        }
    }
    return (times_t){.first = seconds_median(first, (size_t) repeats),
                     .sums = seconds_median(sums, (size_t) repeats)};
}

static bool prefill(infer_t *infer, int length)
{
    const size_t there = held_out_windows(&infer->text, length);
    const size_t wanted = ((size_t) infer->measured + (size_t) length - 1) / (size_t) length;
    float *logits = calloc((size_t) length * TEXT_VOCABULARY, sizeof(float));
    pass_t pass;

    if (0 == there || length > HELD_OUT_MOST) {
        job_fail(&infer->job, JOB_USAGE,
                 "transformer_infer: the text has less than %d characters, or they are above %d",
                 length + 1, HELD_OUT_MOST);
    }
    job_fail_if_any(&infer->job, NULL == logits);
    infer_pass_new(infer, &pass, 1, length, (size_t) length);
    const times_t times = time_texts(infer, &pass, logits);
    const held_out_t quality =
        held_out_measure(&pass, &infer->text, 0, 1, there < wanted ? there : wanted, logits);
    const bool identical = job_identical(&infer->job, logits, (size_t) length * TEXT_VOCABULARY);
    if (0 == infer->job.rank) {
        const size_t bytes = (size_t) length * (size_t) infer->whole.shape.width * sizeof(float);
        printf("prefill\t%d\t%zu\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f\t%d\t%d\n", length, bytes,
               times.first, times.sums, exp(quality.loss / (double) quality.count),
               (double) quality.hits / (double) quality.count,
               (double) quality.near / (double) quality.count,
               (double) quality.words_right / (double) quality.words, identical,
               2 * infer->whole.shape.layers);
        fflush(stdout);
    }
    pass_free(&pass);
    free(logits);
    return identical;
}

bool infer_prefill(infer_t *infer)
{
    bool right = true;

    for (size_t i = 0; i < infer->number_count; i++) {
        right = prefill(infer, infer->numbers[i]) && right;
    }
    return right;
}
