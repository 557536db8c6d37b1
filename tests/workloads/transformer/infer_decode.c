/*
 * Greedy generation: steps of one new character for each text of a batch.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "infer.h"

enum { PROMPT = 64, WARM_STEPS = 8 };

typedef struct batch {
    pass_t pass;
    size_t sequences;
    uint8_t *prompts; /* sequences x PROMPT */
    uint8_t *next;    /* sequences */
    float *logits;    /* sequences x PROMPT x vocabulary */
} batch_t;

static void batch_new(infer_t *infer, batch_t *batch, int sequences)
{
    const size_t rows = (size_t) sequences * PROMPT;

    batch->sequences = (size_t) sequences;
    batch->prompts = malloc(rows);
    batch->next = malloc((size_t) sequences);
    batch->logits = malloc((size_t) sequences * TEXT_VOCABULARY * sizeof(float));
    job_fail_if_any(&infer->job,
                    NULL == batch->prompts || NULL == batch->next || NULL == batch->logits);
    infer_pass_new(infer, &batch->pass, sequences, PROMPT + WARM_STEPS + infer->repeats, rows);
    for (size_t i = 0; i < batch->sequences; i++) {
        const size_t last = infer->text.count - PROMPT;
        memcpy(batch->prompts + i * PROMPT,
               infer->text.characters + (i * (last / batch->sequences)), PROMPT);
    }
}

static void batch_free(batch_t *batch)
{
    pass_free(&batch->pass);
    free(batch->logits);
    free(batch->next);
    free(batch->prompts);
}

static void start(batch_t *batch)
{
    pass_forward(&batch->pass, batch->prompts, PROMPT);
    for (size_t i = 0; i < batch->sequences; i++) {
        pass_logits(&batch->pass, i * PROMPT + PROMPT - 1, 1, batch->logits);
        infer_choose(batch->logits, 1, batch->next + i);
    }
}

static void decode(batch_t *batch, int steps)
{
    for (int step = 0; step < steps; step++) {
        pass_forward(&batch->pass, batch->next, 1);
        pass_logits(&batch->pass, 0, batch->sequences, batch->logits);
        infer_choose(batch->logits, batch->sequences, batch->next);
    }
}

static bool decode_batch(infer_t *infer, int sequences)
{
    job_t *job = &infer->job;
    batch_t batch;

    batch_new(infer, &batch, sequences);
    start(&batch);
    decode(&batch, WARM_STEPS);
    MPI_Barrier(MPI_COMM_WORLD);
    job->sum_seconds = 0;
    const double begin = MPI_Wtime();
    decode(&batch, infer->repeats);
    const double own = MPI_Wtime() - begin;
    const double summing = job_mean(job, job->sum_seconds);
    const double seconds = job_largest(own);
    const bool identical = job_identical(job, batch.logits, batch.sequences * TEXT_VOCABULARY);
    if (0 == job->rank) {
        const size_t bytes = batch.sequences * (size_t) infer->whole.shape.width * sizeof(float);
        printf("decode\t%d\t%zu\t%.1f\t%.4f\t%d\n", sequences, bytes,
               (double) sequences * infer->repeats / seconds, summing / seconds, identical);
        fflush(stdout);
    }
    batch_free(&batch);
    return identical;
}

bool infer_decode(infer_t *infer)
{
    bool right = true;

    if (infer->text.count < 2 * PROMPT) {
        job_fail(&infer->job, JOB_USAGE, "transformer_infer: the text needs %d characters",
                 2 * PROMPT);
    }
    for (size_t i = 0; i < infer->number_count; i++) {
        right = decode_batch(infer, infer->numbers[i]) && right;
    }
    return right;
}
