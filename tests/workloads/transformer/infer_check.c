/*
 * A split model against the whole one, which every rank also computes by itself, without sums.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "infer.h"

enum {
    PROMPT = 160, /* more than a block of queries */
    STEPS = 16
};

/* Logits of a prefill of each sequence, then of steps that go on with the text. */
static void compute(pass_t *pass, const text_t *text, float *logits)
{
    const size_t sequences = (size_t) pass->sequences;
    uint8_t *prompts = malloc(sequences * PROMPT);
    uint8_t *next = malloc(sequences);

    if (NULL == prompts || NULL == next) {
        fprintf(stderr, "transformer_infer: no memory\n");
        MPI_Abort(MPI_COMM_WORLD, JOB_USAGE);
        abort();
    }
    for (size_t i = 0; i < sequences; i++) {
        memcpy(prompts + i * PROMPT, text->characters + i * (PROMPT + STEPS), PROMPT);
    }
    pass_forward(pass, prompts, PROMPT);
    pass_logits(pass, 0, sequences * PROMPT, logits);
    logits += sequences * PROMPT * TEXT_VOCABULARY;
    for (size_t step = 0; step < STEPS; step++) {
        for (size_t i = 0; i < sequences; i++) {
            next[i] = text->characters[i * (PROMPT + STEPS) + PROMPT + step];
        }
        pass_forward(pass, next, 1);
        pass_logits(pass, 0, sequences, logits);
        logits += sequences * TEXT_VOCABULARY;
    }
    free(next);
    free(prompts);
}

static double largest_difference(const float *a, const float *b, size_t count)
{
    double difference = 0;
    double largest = 0;

    for (size_t i = 0; i < count; i++) {
        const double off = fabs((double) a[i] - (double) b[i]);
        /* The negation makes a NaN count as a difference. */
        difference = !(off <= difference) ? off : difference;
        largest = fmax(largest, fabs((double) b[i]));
    }
    return difference / largest;
}

static bool check_batch(infer_t *infer, int sequences)
{
    const size_t count = (size_t) sequences * (PROMPT + STEPS) * TEXT_VOCABULARY;
    const size_t rows = (size_t) sequences * PROMPT;
    float *split = calloc(count, sizeof(float));
    float *alone = calloc(count, sizeof(float));
    pass_t pass;
    pass_t whole;

    job_fail_if_any(&infer->job, NULL == split || NULL == alone ||
                                     0 != pass_new(&whole, &infer->whole, sequences, PROMPT + STEPS,
                                                   rows, false));
    infer_pass_new(infer, &pass, sequences, PROMPT + STEPS, rows);
    compute(&whole, &infer->text, alone);
    compute(&pass, &infer->text, split);
    const double off = job_largest(largest_difference(split, alone, count));
    const bool identical = job_identical(&infer->job, split, count);
    if (0 == infer->job.rank) {
        printf("check\t%d\t%.3e\t%d\n", sequences, off, identical);
    }
    pass_free(&pass);
    pass_free(&whole);
    free(alone);
    free(split);
    return identical && off <= infer->tolerance;
}

bool infer_check(infer_t *infer)
{
    bool right = true;

    for (size_t i = 0; i < infer->number_count; i++) {
        const size_t needed = (size_t) infer->numbers[i] * (PROMPT + STEPS);
        if (infer->text.count < needed) {
            job_fail(&infer->job, JOB_USAGE, "transformer_infer: -b %d needs %zu characters",
                     infer->numbers[i], needed);
        }
        right = check_batch(infer, infer->numbers[i]) && right;
    }
    return right;
}
