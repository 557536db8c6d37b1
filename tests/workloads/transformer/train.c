/*
 * Trains a character model: every rank has the whole model and a part of each batch, gradients are
 * added by one MPI_Allreduce a step, and every rank takes the same step of Adam.
 *
 *   -t FILE  text to learn from            -v FILE  text to measure on (held out)
 *   -o FILE  where the model goes          -n N     steps (default 1200)
 *   -w N     width (144)                   -l N     layers (3)
 *   -a N     heads (12)                    -u N     hidden units of an MLP (576)
 *   -c N     characters of a sequence (256)
 *   -b N     sequences of a batch, of all ranks together (4)
 *   -r X     largest rate of learning (0.003): rises for a twentieth of the steps, then falls as a
 *            cosine to a twentieth
 *   -s N     seed (1)                      -i FILE  go on from this model, with its shape
 *
 * The sequences of a batch do not depend on the number of ranks. Prints lines of: step, loss of the
 * batch in nats, and at the end the held-out perplexity and share of characters foretold.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "held_out.h"
#include "job.h"
#include "pass.h"
#include "text.h"

enum { LINES = 20, HELD_OUT_CHARACTERS = 1 << 15 };

static const double adam_first = 0.9; /* Kingma, Ba 2015, algorithm 1, with beta2 for short runs */
static const double adam_second = 0.98;
static const double adam_epsilon = 1e-8;
static const double largest_norm = 1; /* of a gradient; a longer one is cut to it */

typedef struct settings {
    const char *text;
    const char *held_out;
    const char *out;
    const char *begin; /* NULL: weights are drawn */
    model_shape_t shape;
    int steps;
    int context;
    int batch;
    double rate;
    uint64_t seed;
} settings_t;

typedef struct training {
    job_t job;
    settings_t settings;
    text_t text;
    text_t held_out;
    model_t model;
    model_t gradient;
    model_t first_moment;
    model_t second_moment;
    pass_t pass;
    int sequences; /* of this rank's part of a batch */
    float *logits;
    float *scratch;
    uint8_t *characters;
    uint8_t *came;
} training_t;

static settings_t read_settings(const job_t *job, int argc, char **argv)
{
    settings_t settings = {
        .shape = {TEXT_VOCABULARY, 144, 3, 12, 576},
        .steps = 1200,
        .context = 256,
        .batch = 4,
        .rate = 0.003,
        .seed = 1,
    };
    const option_row_t rows[] = {
        OPTION('t', settings.text),
        OPTION('v', settings.held_out),
        OPTION('o', settings.out),
        OPTION('i', settings.begin),
        OPTION_FROM('n', NULL, settings.steps, 1, INT_MAX),
        OPTION('w', settings.shape.width),
        OPTION('l', settings.shape.layers),
        OPTION('a', settings.shape.heads),
        OPTION('u', settings.shape.hidden),
        OPTION_FROM('c', NULL, settings.context, 1, 1 << 16),
        OPTION_FROM('b', NULL, settings.batch, 1, 1 << 16),
        OPTION_FROM('r', NULL, settings.rate, 1e-9, 1),
        OPTION('s', settings.seed),
        {.letter = 0},
    };

    job_take_options(job, "transformer_train", argc, argv, rows);
    return settings;
}

static void check_settings(const job_t *job, const settings_t *settings)
{
    char text[160];

    if (NULL == settings->text || NULL == settings->held_out || NULL == settings->out) {
        job_fail(job, JOB_USAGE, "transformer_train: needs -t TEXT -v HELD_OUT -o MODEL");
    }
    if (settings->batch % job->ranks != 0) {
        job_fail(job, JOB_USAGE,
                 "transformer_train: %d ranks cannot share a batch of %d: use -b %d", job->ranks,
                 settings->batch, (settings->batch / job->ranks + 1) * job->ranks);
    }
    if (NULL != model_shape_fault(&settings->shape, 1, text, sizeof(text))) {
        job_fail(job, JOB_USAGE, "transformer_train: %s", text);
    }
}

/* False with a line on standard error. */
static bool load_texts(training_t *training)
{
    const settings_t *settings = &training->settings;
    const size_t least = (size_t) settings->context + 1;

    if (0 != text_load(&training->text, settings->text) ||
        0 != text_load(&training->held_out, settings->held_out)) {
        return false;
    }
    if (training->text.count < least || training->held_out.count < least) {
        fprintf(stderr, "transformer_train: texts need %zu characters for -c %d\n", least,
                settings->context);
        return false;
    }
    return true;
}

/* Drawn or loaded; false with a line on standard error. */
static bool begin_model(training_t *training)
{
    const settings_t *settings = &training->settings;

    if (NULL != settings->begin) {
        if (0 != model_load(&training->model, settings->begin)) {
            return false;
        }
        if (TEXT_VOCABULARY != training->model.shape.vocabulary) {
            fprintf(stderr, "transformer_train: %s is not for characters\n", settings->begin);
            return false;
        }
        return true;
    }
    if (0 != model_new(&training->model, &settings->shape, 0, 1)) {
        fprintf(stderr, "transformer_train: no memory for the model\n");
        return false;
    }
    model_draw(&training->model, settings->seed);
    return true;
}

static bool allocate(training_t *training)
{
    const settings_t *settings = &training->settings;
    const size_t rows = (size_t) training->sequences * (size_t) settings->context;

    const model_shape_t *shape = &training->model.shape;

    if (0 != model_new(&training->gradient, shape, 0, 1) ||
        0 != model_new(&training->first_moment, shape, 0, 1) ||
        0 != model_new(&training->second_moment, shape, 0, 1) ||
        0 != pass_new(&training->pass, &training->model, training->sequences, settings->context,
                      rows, true)) {
        fprintf(stderr, "transformer_train: no memory for the model\n");
        return false;
    }
    training->pass.residual = PASS_RESIDUAL_FIRST;
    training->logits = calloc(rows * TEXT_VOCABULARY, sizeof(float));
    training->scratch = calloc(pass_backward_floats(&training->pass), sizeof(float));
    training->characters = calloc(rows, 1);
    training->came = calloc(rows, 1);
    return NULL != training->logits && NULL != training->scratch && NULL != training->characters &&
           NULL != training->came;
}

/* Whether the model can be written: an hour later is no time to learn that it cannot. */
static bool can_save(const training_t *training)
{
    const char *path = training->settings.out;
    FILE *file = 0 == training->job.rank ? fopen(path, "ab") : NULL;

    if (NULL != file) {
        fclose(file);
    } else if (0 == training->job.rank) {
        perror(path);
        return false;
    }
    return true;
}

/* False with a line on standard error. */
static bool prepare(training_t *training)
{
    return load_texts(training) && begin_model(training) && allocate(training) &&
           can_save(training);
}

static void release(training_t *training)
{
    free(training->came);
    free(training->characters);
    free(training->scratch);
    free(training->logits);
    pass_free(&training->pass);
    model_free(&training->second_moment);
    model_free(&training->first_moment);
    model_free(&training->gradient);
    model_free(&training->model);
    text_free(&training->held_out);
    text_free(&training->text);
}

/* Windows of the text for this rank's part of a batch. */
static void draw_batch(training_t *training, int step)
{
    const size_t context = (size_t) training->settings.context;

    for (int i = 0; i < training->sequences; i++) {
        const uint64_t number = (uint64_t) step * (uint64_t) training->settings.batch +
                                (uint64_t) (training->job.rank * training->sequences + i);
        uint64_t state = training->settings.seed + (number << 20);
        const size_t begin = draw_bits(&state) % (training->text.count - context);
        memcpy(training->characters + (size_t) i * context, training->text.characters + begin,
               context);
        memcpy(training->came + (size_t) i * context, training->text.characters + begin + 1,
               context);
    }
}

static double rate_of(const settings_t *settings, int step)
{
    const double warm = settings->steps / 20.0 + 1;
    const double lowest = 0.05;
    const double done = (double) step / settings->steps;

    if (step < warm) {
        return settings->rate * (step + 1) / warm;
    }
    return settings->rate * (lowest + (1 - lowest) * (1 + cos(M_PI * done)) / 2);
}

static void take_step(training_t *training, int step)
{
    float *gradient = training->gradient.values;
    float *first = training->first_moment.values;
    float *second = training->second_moment.values;
    const size_t count = training->model.count;
    const double first_bias = 1 - pow(adam_first, step + 1);
    const double second_bias = 1 - pow(adam_second, step + 1);
    const float rate = (float) (rate_of(&training->settings, step) / first_bias);
    const float root_bias = (float) (1 / sqrt(second_bias));
    double squares = 0;

    for (size_t i = 0; i < count; i++) {
        squares += (double) gradient[i] * (double) gradient[i];
    }
    /* The gradient is a sum over the ranks, of means. */
    const double norm = sqrt(squares) / training->job.ranks;
    const float scale =
        (float) ((norm > largest_norm ? largest_norm / norm : 1) / training->job.ranks);
    for (size_t i = 0; i < count; i++) {
        const float g = gradient[i] * scale;
        first[i] += (float) (1 - adam_first) * (g - first[i]);
        second[i] += (float) (1 - adam_second) * (g * g - second[i]);
        training->model.values[i] -=
            rate * first[i] / (sqrtf(second[i]) * root_bias + (float) adam_epsilon);
    }
}

/* One batch; the mean loss over all ranks. */
static double train_step(training_t *training, int step)
{
    const size_t rows = training->pass.max_rows;

    draw_batch(training, step);
    memset(training->gradient.values, 0, training->gradient.count * sizeof(float));
    training->pass.past = 0;
    pass_forward(&training->pass, training->characters, training->settings.context);
    pass_logits(&training->pass, 0, rows, training->logits);
    const double loss =
        pass_loss(training->logits, training->came, rows, TEXT_VOCABULARY, NULL) / (double) rows;
    pass_backward(&training->pass, training->characters, training->logits, &training->gradient,
                  training->scratch);
    job_sum(&training->job, training->gradient.values, training->gradient.count);
    take_step(training, step);
    return job_mean(&training->job, loss);
}

static void train(training_t *training)
{
    const int steps = training->settings.steps;
    const int interval = steps < LINES ? 1 : steps / LINES;
    double sum = 0;

    for (int step = 0; step < steps; step++) {
        sum += train_step(training, step);
        if (0 == (step + 1) % interval) {
            if (0 == training->job.rank) {
                printf("step\t%d\t%.4f\n", step + 1, sum / interval);
                fflush(stdout);
            }
            sum = 0;
        }
    }
}

/* Each rank takes its windows; false without memory. */
static bool measure(training_t *training)
{
    const int context = training->settings.context;
    const size_t there = held_out_windows(&training->held_out, context);
    const size_t wanted = HELD_OUT_CHARACTERS / (size_t) context + 1;
    const size_t windows = there < wanted ? there : wanted;
    double sums[3];
    pass_t pass;

    if (0 != pass_new(&pass, &training->model, 1, context, (size_t) context, false)) {
        return false;
    }
    const held_out_t part =
        held_out_measure(&pass, &training->held_out, (size_t) training->job.rank,
                         (size_t) training->job.ranks, windows, training->logits);
    pass_free(&pass);
    sums[0] = part.loss;
    sums[1] = (double) part.hits;
    sums[2] = (double) part.count;
    MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (0 == training->job.rank) {
        printf("held_out\tperplexity\t%.5f\n", exp(sums[0] / sums[2]));
        printf("held_out\taccuracy\t%.5f\n", sums[1] / sums[2]);
        printf("held_out\tcharacters\t%.0f\n", sums[2]);
    }
    return true;
}

int main(int argc, char **argv)
{
    training_t training;

    memset(&training, 0, sizeof(training));
    job_begin(&training.job, &argc, &argv);
    training.settings = read_settings(&training.job, argc, argv);
    check_settings(&training.job, &training.settings);
    training.sequences = training.settings.batch / training.job.ranks;
    /* Rank 0 first, so that a file that nobody can read is told once. */
    job_fail_if_any(&training.job, 0 == training.job.rank && !prepare(&training));
    job_fail_if_any(&training.job, 0 != training.job.rank && !prepare(&training));
    const double begin = MPI_Wtime();
    train(&training);
    const bool identical =
        job_identical(&training.job, training.model.values, training.model.count);
    job_fail_if_any(&training.job, !measure(&training));
    if (0 == training.job.rank) {
        printf("training\tweights\t%zu\n", training.model.count);
        printf("training\tseconds\t%.1f\n", MPI_Wtime() - begin);
        printf("training\tidentical\t%d\n", identical);
    }
    job_fail_if_any(&training.job, 0 == training.job.rank &&
                                       0 != model_save(&training.model, training.settings.out));
    release(&training);
    MPI_Finalize();
    return identical ? EXIT_SUCCESS : JOB_WRONG;
}
