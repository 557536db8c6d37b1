/*
 * Tensor-parallel inference with a model of transformer_train, every rank with its part.
 *
 *   transformer_infer check|prefill -m MODEL -v HELD_OUT
 *
 *   check     logits of a prefill and of steps of decode against those of the whole model
 *   prefill   time to the first character for texts of several lengths, and held-out perplexity
 *
 *   -b LIST   prefill: lengths (default 128,256,512,1024,2048)
 *   -n N      prefill: texts to time (default 32)
 *   -q N      prefill: characters of the held-out text to measure on (default 32768; 0: none)
 *   -r WAY    who adds the residual: apart (default), first, shared; pass.h says what these are
 *   -d X      check: largest difference of a logit, in parts of the largest logit (default 1e-4)
 *
 * Prints lines of tab-separated words: the name of the mode, the batch or length, and
 *
 *   check     largest difference of a logit over the largest logit
 *   prefill   bytes of a sum, median seconds to the first character and in sums, perplexity, share
 *             of the characters foretold
 *
 * then 1 if all ranks have the same bits; prefill also tells the sums of a text. Exit status 1 if
 * ranks differ in a bit, or check found more than -d; 2 if something asked for cannot be.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "infer.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct task {
    const char *name;
    bool (*run)(infer_t *infer);
    const char *numbers;
} task_t;

static const task_t tasks[] = {
    {"check", infer_check, "1,3"},
    {"prefill", infer_prefill, "128,256,512,1024,2048"},
};

static const char *const residuals[] = {
    [PASS_RESIDUAL_APART] = "apart",
    [PASS_RESIDUAL_FIRST] = "first",
    [PASS_RESIDUAL_SHARED] = "shared",
};

void infer_pass_new(infer_t *infer, pass_t *pass, int sequences, int capacity, size_t max_rows)
{
    const bool failed = 0 != pass_new(pass, &infer->part, sequences, capacity, max_rows, false);

    if (failed) {
        fprintf(stderr, "transformer_infer: no memory for %d texts of %d\n", sequences, capacity);
    }
    job_fail_if_any(&infer->job, failed);
    pass->residual = infer->residual;
    pass->sum = job_sum;
    pass->sum_context = &infer->job;
}

void infer_choose(const float *logits, size_t rows, uint8_t *characters)
{
    for (size_t row = 0; row < rows; row++) {
        const float *of_row = logits + row * TEXT_VOCABULARY;
        uint8_t best = 0;
        for (uint8_t i = 1; i < TEXT_VOCABULARY; i++) {
            best = of_row[i] > of_row[best] ? i : best;
        }
        characters[row] = best;
    }
}

static const task_t *find_task(const job_t *job, const char *name)
{
    for (size_t i = 0; NULL != name && i < sizeof(tasks) / sizeof(tasks[0]); i++) {
        if (0 == strcmp(name, tasks[i].name)) {
            return &tasks[i];
        }
    }
    job_fail(job, JOB_USAGE, "transformer_infer: first say check or prefill");
}

static const char *parse_residual(const char *name, void *residual)
{
    for (size_t i = 0; i < sizeof(residuals) / sizeof(residuals[0]); i++) {
        if (0 == strcmp(name, residuals[i])) {
            *(pass_residual_t *) residual = (pass_residual_t) i;
            return NULL;
        }
    }
    return "apart, first or shared";
}

static void read_options(infer_t *infer, const task_t *task, int argc, char **argv,
                         const char **model, const char **text)
{
    const char *numbers = task->numbers;
    const option_row_t rows[] = {
        OPTION('m', *model),
        OPTION('v', *text),
        OPTION('b', numbers),
        OPTION_FROM('n', NULL, infer->repeats, 1, INT_MAX),
        OPTION_FROM('q', NULL, infer->measured, 0, INT_MAX),
        OPTION_BY('r', NULL, parse_residual, &infer->residual),
        OPTION('d', infer->tolerance),
        {.letter = 0},
    };

    job_take_options(&infer->job, "transformer_infer", argc, argv, rows);
    infer->number_count = options_list(numbers, infer->numbers, INFER_MAX_LIST);
    if (NULL == *model || NULL == *text || 0 == infer->number_count) {
        job_fail(&infer->job, JOB_USAGE,
                 "transformer_infer: needs -m MODEL -v HELD_OUT; -b is a list as 1,16");
    }
}

/* False with a line on standard error. */
static bool load_files(infer_t *infer, const char *model, const char *text)
{
    return 0 == model_load(&infer->whole, model) && 0 == text_load(&infer->text, text);
}

static void load(infer_t *infer, const char *model, const char *text)
{
    const job_t *job = &infer->job;
    char fault[160];

    /* Rank 0 first, so that a file that nobody can read is told once. */
    job_fail_if_any(job, 0 == job->rank && !load_files(infer, model, text));
    job_fail_if_any(job, 0 != job->rank && !load_files(infer, model, text));
    if (NULL != model_shape_fault(&infer->whole.shape, job->ranks, fault, sizeof(fault))) {
        job_fail(job, JOB_USAGE, "transformer_infer: %s", fault);
    }
    if (TEXT_VOCABULARY != infer->whole.shape.vocabulary) {
        job_fail(job, JOB_USAGE, "transformer_infer: %s is not for characters", model);
    }
    job_fail_if_any(job, 0 != model_new(&infer->part, &infer->whole.shape, job->rank, job->ranks));
    model_split(&infer->whole, &infer->part);
}

int main(int argc, char **argv)
{
    infer_t infer = {.repeats = 32, .measured = 1 << 15, .tolerance = 1e-4};
    const char *model = NULL;
    const char *text = NULL;

    job_begin(&infer.job, &argc, &argv);
    const task_t *task = find_task(&infer.job, argc > 1 ? argv[1] : NULL);
    read_options(&infer, task, argc - 1, argv + 1, &model, &text);
    load(&infer, model, text);
    job_warm(&infer.job);
    const bool right = task->run(&infer);
    if (!right && 0 == infer.job.rank) {
        fprintf(stderr, "transformer_infer: ranks differ in a bit, or logits by more than %g\n",
                infer.tolerance);
    }
    model_free(&infer.part);
    model_free(&infer.whole);
    text_free(&infer.text);
    MPI_Finalize();
    return right ? EXIT_SUCCESS : JOB_WRONG;
}
