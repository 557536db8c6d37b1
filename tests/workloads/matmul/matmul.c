/*
 * Multiplies distributed matrices, C = A B, by the universal one-sided algorithm, and times it.
 *
 *   matmul [-m ROWS] [-k INNER] [-n COLUMNS] [-i CALLS] [-w CALLS] [-e] JOB ...
 *   matmul -v COUNT [-x SEED]
 *
 *   -m -k -n   C has m rows and n columns, and k products are added for an element (default 256)
 *   -i N       timed multiplications of each job (default 10), after
 *   -w N       others that are not timed (default 3)
 *   -e         whole numbers, so that any other sum than the right one is an error (exit status 1)
 *   -v N       N random combinations of shapes, partitionings, replication and stationary matrix,
 * as -e -x SEED    of these (default 1)
 *
 * A JOB is A,B,C,STAYS: a partitioning of each matrix with its replication, as row, col*2, block,
 * cyclic or 32x48@2x1*2, and which matrix stays where it is: A, B or C.
 *
 * Printed are tab-separated lines, with a header; times in milliseconds, medians of the slowest
 * rank. Exit status: 2 and one message for what cannot be.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cost.h"
#include "multiply.h"
#include "options.h"
#include "random_jobs.h"
#include "seconds.h"
#include "spec.h"
#include "values.h"

enum { EXIT_USAGE = 2, MAX_CALLS = 10000, MAX_MESSAGE = 512 };

static const double ms_per_second = 1e3;

typedef struct options {
    size_t dims[DIMS];
    int calls;
    int warm;
    int kind; /* of values */
    long combinations;
    unsigned long seed;
    int first_job; /* in argv */
} options_t;

typedef struct result {
    double times[2]; /* medians in seconds: of the multiplication, and of its reduce_replicas */
    double best;
    double moved_bytes; /* of tiles, in one multiplication, by all ranks */
    double error;
} result_t;

static void say(const world_t *world, const char *message)
{
    if (0 == world->rank) {
        fprintf(stderr, "matmul: %s\n", message);
    }
}

static void abort_without_memory(const world_t *world)
{
    fprintf(stderr, "matmul: rank %d has no memory for its matrices\n", world->rank);
    MPI_Abort(world->comm, EXIT_FAILURE);
}

/* Of the slowest rank in each call: the median, and the least. */
static void summarize(const world_t *world, double *seconds, int calls, double *median,
                      double *best)
{
    MPI_Allreduce(MPI_IN_PLACE, seconds, calls, MPI_DOUBLE, MPI_MAX, world->comm);
    *median = seconds_median(seconds, (size_t) calls);
    *best = seconds[0];
}

static void time_calls(const options_t *options, multiplier_t *multiplier, const world_t *world,
                       result_t *result)
{
    double *total = calloc((size_t) options->calls, sizeof *total);
    double *reduce = calloc((size_t) options->calls, sizeof *reduce);
    double unused = 0;

    if (NULL == total || NULL == reduce) {
        abort_without_memory(world);
    }
    for (int call = -options->warm; call < options->calls; call++) {
        MPI_Barrier(world->comm);
        const double begin = MPI_Wtime();
        const double reducing = multiplier_run(multiplier);
        if (call >= 0) {
            total[call] = MPI_Wtime() - begin;
            reduce[call] = reducing;
        }
    }
    summarize(world, total, options->calls, &result->times[0], &result->best);
    summarize(world, reduce, options->calls, &result->times[1], &unused);
    free(total);
    free(reduce);
}

/* One job: matrices, multiplications, comparison. */
static void run_job(const options_t *options, const job_t *job, world_t *world, result_t *result)
{
    matrix_t matrix[MATRICES];
    multiplier_t multiplier;

    for (int i = 0; i < MATRICES; i++) {
        matrix_new(&matrix[i], &job->problem.layout[i], world);
        if (i != MATRIX_C) {
            values_fill(&matrix[i], i, options->kind);
        }
        matrix_synchronize(&matrix[i]);
    }
    if (!multiplier_init(&multiplier, matrix, &job->problem, job->stationary)) {
        abort_without_memory(world);
    }
    time_calls(options, &multiplier, world, result);
    result->moved_bytes =
        matrix[MATRIX_A].moved_bytes + matrix[MATRIX_B].moved_bytes + matrix[MATRIX_C].moved_bytes;
    result->moved_bytes /= options->calls + options->warm;
    MPI_Allreduce(MPI_IN_PLACE, &result->moved_bytes, 1, MPI_DOUBLE, MPI_SUM, world->comm);
    result->error = values_error(&matrix[MATRIX_C], &job->problem, options->kind);
    if (result->error < 0) {
        abort_without_memory(world);
    }
    multiplier_fini(&multiplier);
    for (int i = 0; i < MATRICES; i++) {
        matrix_free(&matrix[i]);
    }
}

static cost_t predict(const job_t *job, const world_t *world)
{
    cost_t cost = {0};

    if (!cost_predict(&job->problem, job->stationary, &cost)) {
        abort_without_memory(world);
    }
    return cost;
}

/* Exit status. */
static int run_jobs(const options_t *options, char **jobs, world_t *world)
{
    char message[MAX_MESSAGE];
    job_t job;
    int status = EXIT_SUCCESS;

    for (char **text = jobs; *text != NULL; text++) {
        if (!job_parse(*text, options->dims, (size_t) world->ranks, &job, message,
                       sizeof message)) {
            say(world, message);
            return EXIT_USAGE;
        }
    }
    if (0 == world->rank) {
        printf("job\tstays\tms\tbest_ms\treduce_ms\ttile_bytes\treduce_bytes\terror\n");
    }
    for (char **text = jobs; *text != NULL; text++) {
        result_t result;
        if (!job_parse(*text, options->dims, (size_t) world->ranks, &job, message,
                       sizeof message)) {
            return EXIT_USAGE;
        }
        const cost_t cost = predict(&job, world);
        run_job(options, &job, world, &result);
        if (0 == world->rank) {
            printf("%s\t%c\t%.4f\t%.4f\t%.4f\t%.0f\t%.0f\t%.3g\n", *text, "ABC"[job.stationary],
                   result.times[0] * ms_per_second, result.best * ms_per_second,
                   result.times[1] * ms_per_second, result.moved_bytes, cost.reduce_bytes,
                   result.error);
            fflush(stdout);
        }
        if (options->kind == VALUES_WHOLE && result.error != 0) {
            say(world, "wrong sums");
            status = EXIT_FAILURE;
        }
        if (result.moved_bytes != cost.tile_bytes) {
            say(world, "other bytes were moved than the lists of products have");
            status = EXIT_FAILURE;
        }
    }
    return status;
}

/* Random combinations; exit status. */
static int verify(const options_t *given, world_t *world)
{
    options_t options = *given;
    random_job_t random;
    char message[MAX_MESSAGE];
    long wrong = 0;

    options.calls = 1;
    options.warm = 1; /* a second multiplication begins where the first has left C */
    options.kind = VALUES_WHOLE;
    random_job_seed(&random, options.seed);
    for (long i = 0; i < options.combinations; i++) {
        result_t result;
        job_t job;
        random_job_next(&random, (size_t) world->ranks);
        if (!job_parse(random.text, random.dims, (size_t) world->ranks, &job, message,
                       sizeof message)) {
            say(world, message);
            return EXIT_FAILURE;
        }
        const cost_t cost = predict(&job, world);
        run_job(&options, &job, world, &result);
        if (result.error != 0 || result.moved_bytes != cost.tile_bytes) {
            wrong++;
            snprintf(message, sizeof message, "wrong by %g: -m %zu -k %zu -n %zu -e %s",
                     result.error, random.dims[DIM_M], random.dims[DIM_K], random.dims[DIM_N],
                     random.text);
            say(world, message);
        }
    }
    if (0 == world->rank) {
        printf("%ld of %ld combinations right on %d ranks, seed %lu\n",
               options.combinations - wrong, options.combinations, world->ranks, options.seed);
    }
    return wrong > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* NULL, or what is wrong. */
static const char *parse_options(int argc, char **argv, options_t *options)
{
    enum { MAX_SIDE = 1 << 20 };
    bool whole = false;
    const option_row_t rows[] = {
        OPTION_FROM('m', NULL, options->dims[DIM_M], 1, MAX_SIDE),
        OPTION_FROM('k', NULL, options->dims[DIM_K], 1, MAX_SIDE),
        OPTION_FROM('n', NULL, options->dims[DIM_N], 1, MAX_SIDE),
        OPTION_FROM('i', NULL, options->calls, 1, MAX_CALLS),
        OPTION_FROM('w', NULL, options->warm, 0, MAX_CALLS),
        OPTION('e', whole),
        OPTION_FROM('v', NULL, options->combinations, 1, MAX_SIDE),
        OPTION_FROM('x', NULL, options->seed, 0, MAX_SIDE),
        {.letter = 0},
    };
    const char *wrong = options_take(argc, argv, rows);

    options->kind = whole ? VALUES_WHOLE : options->kind;
    options->first_job = optind;
    return wrong != NULL ? wrong
           : (optind < argc) == (options->combinations > 0)
               ? "use either -v COUNT or jobs, as row,col,block*2,C"
               : NULL;
}

int main(int argc, char **argv)
{
    options_t options = {
        .dims = {256, 256, 256}, .calls = 10, .warm = 3, .kind = VALUES_UNIFORM, .seed = 1};
    world_t world;
    int status = EXIT_USAGE;

    MPI_Init(&argc, &argv);
    world_init(&world, MPI_COMM_WORLD);
    const char *wrong = parse_options(argc, argv, &options);
    if (wrong != NULL) {
        say(&world, wrong);
    } else if (options.combinations > 0) {
        status = verify(&options, &world);
    } else {
        status = run_jobs(&options, argv + options.first_job, &world);
    }
    world_fini(&world);
    MPI_Finalize();
    return status;
}
