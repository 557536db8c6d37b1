/*
 * Multiplies sharded matrices by every strategy there is, and compares the times with the model's.
 *
 *   mpirun -n 4 sharding -m X=2,Y=2 -s I=1024,J=512,K=256 "A[I_X,J] B[J,K_Y] -> C[I_X,K_Y]" ...
 *
 *   -m MESH      axes and how many ranks are on each; together as many as there are ranks
 *   -s SHAPE     extents of the dimensions of all products; again for further shapes
 *   -r ROUNDS    how often each strategy runs (default 3), behind one run that is not timed
 *   -e ERROR     what a result may be off by, relative to the largest one (default 0: float sums of
 *                these whole numbers are exact; other values are for quantized sums)
 *   -t TOPOLOGY  switch (default) or torus: the model's network
 *   -b BYTES     per second, of a link in each direction (default: measured along each axis)
 *   -l SECONDS   of a message without bytes (default: measured)
 *   -f FLOPS     per second, of a rank (default: measured)
 *   -p           only predict; with -b, -l and -f for any mesh, whatever the ranks are
 *
 * Prints tab-separated columns, for each product and shape a row for each strategy, the one with
 * the least predicted time first.  Times are of the slowest rank; all ranks wait for each other
 * before and behind the multiplication.  cross_I tells the extent of I at which a strategy and the
 * first one change places if the others stay; "-": never.
 *
 * Each result is compared with that of one gemm on rank 0, and with that of the first strategy.
 * Exit status 1: one was wrong; 2: wrong use.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layout.h"
#include "options.h"
#include "rates.h"

enum { MAX_SHAPES = 16, MAX_ROUNDS = 99 };

static const double ms_per_second = 1e3;
static const double us_per_second = 1e6;
static const double bytes_per_mb = 1e6;

typedef struct job {
    shard_mesh_t mesh;
    const char *shapes[MAX_SHAPES];
    unsigned shape_count;
    shard_network_t network;
    unsigned rounds;
    double tolerance;
    bool predict;
    bool given_links; /* rates of the user */
    bool given_flops;
    bool has_grid; /* there are ranks to run on */
    shard_grid_t grid;
    int rank;
    double worst; /* error of all results */
} job_t;

typedef struct times {
    double communication_seconds;
    double compute_seconds;
    double error;            /* of the result, relative to the largest number of it */
    double error_from_first; /* compared with what the first strategy made */
} times_t;

/* ---- options ---- */

static void set_links(job_t *job, double bytes_per_second, double message_seconds)
{
    for (unsigned axis = 0; axis < SHARD_MAX_AXES; ++axis) {
        job->network.link[axis] = (shard_link_t){bytes_per_second, message_seconds, false};
    }
}

static void parse_topology(job_t *job, const char *text)
{
    if (0 != strcmp(text, "switch") && 0 != strcmp(text, "torus")) {
        shard_options_refuse("-t: switch or torus, not %.40s", text);
    }
    job->network.topology = 0 == strcmp(text, "torus") ? SHARD_TORUS : SHARD_SWITCH;
}

static void parse_options(job_t *job, int argc, char **argv)
{
    const char *mesh = NULL;
    double bytes_per_second = 0;
    double message_seconds = -1;
    int option = 0;

    while (-1 != (option = getopt(argc, argv, ":m:s:r:e:t:b:l:f:p"))) {
        switch (option) {
        case 'm':
            mesh = optarg;
            break;
        case 's':
            if (MAX_SHAPES == job->shape_count) {
                shard_options_refuse("-s: at most %d shapes", MAX_SHAPES);
            }
            job->shapes[job->shape_count++] = optarg;
            break;
        case 'r':
            job->rounds = shard_options_count('r', optarg, MAX_ROUNDS);
            break;
        case 'e':
            job->tolerance = shard_options_number('e', optarg, true);
            break;
        case 't':
            parse_topology(job, optarg);
            break;
        case 'b':
            bytes_per_second = shard_options_number('b', optarg, false);
            break;
        case 'l':
            message_seconds = shard_options_number('l', optarg, true);
            break;
        case 'f':
            job->network.flops_per_second = shard_options_number('f', optarg, false);
            job->given_flops = true;
            break;
        case 'p':
            job->predict = true;
            break;
        default:
            shard_options_refuse("-%c: %s; the options are -m -s -r -e -t -b -l -f -p", optopt,
                                 ':' == option ? "needs a value" : "no such option");
        }
    }
    job->mesh = shard_options_mesh(mesh);
    job->given_links = bytes_per_second > 0;
    if (job->given_links != (message_seconds >= 0)) {
        shard_options_refuse("-b and -l go together");
    }
    set_links(job, bytes_per_second, message_seconds);
    if (0 == job->shape_count) {
        shard_options_refuse("which shape? as -s I=1024,J=512,K=256");
    }
    if (optind == argc) {
        shard_options_refuse("which product? as \"A[I_X,J] B[J,K] -> C[I_X,K]\"");
    }
}

/* ---- running a strategy ---- */

/* Seconds of the slowest rank since all began; all begin anew. */
static double lap(double *begin)
{
    const double seconds = shard_rates_most(MPI_Wtime() - *begin);

    MPI_Barrier(MPI_COMM_WORLD);
    *begin = MPI_Wtime();
    return seconds;
}

static void run_steps(const shard_grid_t *grid, const shard_steps_t *steps, shard_block_t *block)
{
    for (unsigned i = 0; i < steps->count; ++i) {
        shard_block_step(grid, &steps->step[i], block);
    }
}

/* Returns C, of this rank. */
static shard_block_t run_once(const shard_grid_t *grid, const shard_problem_t *problem,
                              const shard_strategy_t *strategy, double *communication_seconds,
                              double *compute_seconds)
{
    const shard_layout_t *layout = problem->product.layout;
    shard_block_t a = shard_grid_block(grid, problem, SHARD_A, &layout[SHARD_A]);
    shard_block_t b = shard_grid_block(grid, problem, SHARD_B, &layout[SHARD_B]);
    double begin = 0;

    (void) lap(&begin);
    run_steps(grid, &strategy->steps[SHARD_A], &a);
    run_steps(grid, &strategy->steps[SHARD_B], &b);
    *communication_seconds = lap(&begin);
    shard_block_t c = shard_block_multiply(&a, &b);
    *compute_seconds = lap(&begin);
    run_steps(grid, &strategy->steps[SHARD_C], &c);
    *communication_seconds += lap(&begin);
    shard_block_free(&b);
    shard_block_free(&a);
    return c;
}

/* ---- what is right ---- */

/* All of C by one gemm on rank 0, for all ranks. */
static shard_block_t multiply_alone(const job_t *job, const shard_problem_t *problem)
{
    const size_t *extent = problem->shape.extent;
    shard_block_t c = shard_block_new(extent[SHARD_I], extent[SHARD_K]);

    if (0 == job->rank) {
        shard_block_t a = shard_block_new(extent[SHARD_I], extent[SHARD_J]);
        shard_block_t b = shard_block_new(extent[SHARD_J], extent[SHARD_K]);
        shard_block_fill(&a, SHARD_A, 0, 0);
        shard_block_fill(&b, SHARD_B, 0, 0);
        shard_block_free(&c);
        c = shard_block_multiply(&a, &b);
        shard_block_free(&a);
        shard_block_free(&b);
    }
    MPI_Bcast(c.value, (int) (c.rows * c.columns), MPI_FLOAT, 0, job->grid.all);
    return c;
}

/* The part of the whole of C that this rank is to have. */
static shard_block_t own_part(const job_t *job, const shard_problem_t *problem,
                              const shard_block_t *whole)
{
    const shard_layout_t *layout = &problem->product.layout[SHARD_C];
    const size_t row = shard_grid_part(&job->grid, &layout->cut[0]);
    const size_t column = shard_grid_part(&job->grid, &layout->cut[1]);
    shard_block_t part =
        shard_block_new(shard_local_extent(&problem->mesh, &problem->shape, SHARD_C, layout, 0),
                        shard_local_extent(&problem->mesh, &problem->shape, SHARD_C, layout, 1));

    for (size_t i = 0; i < part.rows; ++i) {
        memcpy(part.value + i * part.columns,
               whole->value + (row * part.rows + i) * whole->columns + column * part.columns,
               part.columns * sizeof(float));
    }
    return part;
}

/* The largest difference on any rank, relative to the largest right number; NaN counts as infinite.
 */
static double error_of(const shard_block_t *block, const shard_block_t *right)
{
    double difference = 0;
    double largest = 0;

    for (size_t i = 0; i < right->rows * right->columns; ++i) {
        const double off = fabs((double) block->value[i] - right->value[i]);
        difference = isfinite(off) ? fmax(difference, off) : INFINITY;
        largest = fmax(largest, fabs((double) right->value[i]));
    }
    difference = shard_rates_most(difference); /* the largest of all ranks */
    largest = shard_rates_most(largest);
    return difference > 0 ? difference / largest : 0;
}

/* ---- a product ---- */

static times_t time_strategy(const job_t *job, const shard_problem_t *problem,
                             const shard_strategy_t *strategy, const shard_block_t *right,
                             shard_block_t *first)
{
    double communication_seconds[MAX_ROUNDS + 1];
    double compute_seconds[MAX_ROUNDS + 1];
    times_t times = {0};

    for (unsigned round = 0; round <= job->rounds; ++round) {
        shard_block_t c = run_once(&job->grid, problem, strategy, &communication_seconds[round],
                                   &compute_seconds[round]);
        times.error = fmax(times.error, error_of(&c, right));
        if (NULL == first->value) {
            *first = c;
            continue;
        }
        times.error_from_first = fmax(times.error_from_first, error_of(&c, first));
        shard_block_free(&c);
    }
    times.communication_seconds = shard_rates_median(communication_seconds + 1, job->rounds);
    times.compute_seconds = shard_rates_median(compute_seconds + 1, job->rounds);
    return times;
}

static void print_columns(const job_t *job)
{
    if (0 == job->rank) {
        printf("product\tshape\tstrategy\tsent_mb\tpredicted_comm_ms\tpredicted_ms\tcomm_ms\tms"
               "\terror\tcross_I\tcross_J\tcross_K\n");
    }
}

static void print_rates(const job_t *job)
{
    const shard_network_t *network = &job->network;

    if (0 != job->rank) {
        return;
    }
    printf("# %s, %.3g flop/s of a rank; links:",
           SHARD_TORUS == network->topology ? "torus" : "switch", network->flops_per_second);
    for (unsigned axis = 0; axis < job->mesh.axes; ++axis) {
        printf(" %c %.4g MB/s %.3g us", job->mesh.name[axis],
               network->link[axis].bytes_per_second / bytes_per_mb,
               network->link[axis].message_seconds * us_per_second);
    }
    printf("\n");
}

static void print_row(const shard_problem_t *problem, const char *shape,
                      const shard_strategy_t *strategy, const shard_strategy_t *first,
                      const times_t *times)
{
    const shard_cost_t cost = shard_strategy_cost(problem, strategy);
    char text[SHARD_STRATEGY_TEXT_BYTES];

    for (unsigned m = 0; m < SHARD_MATRICES; ++m) {
        shard_matrix_print(&problem->mesh, &problem->product, m, &problem->product.layout[m], text);
        printf("%s%s", SHARD_A == m ? "" : SHARD_B == m ? " " : " -> ", text);
    }
    shard_strategy_print(problem, strategy, text);
    printf("\t%s\t%s\t%.3f\t%.3f\t%.3f", shape, text, cost.sent_bytes / bytes_per_mb,
           cost.communication_seconds * ms_per_second, cost.seconds * ms_per_second);
    if (NULL == times) {
        printf("\t-\t-\t-");
    } else {
        printf("\t%.3f\t%.3f\t%.2g", times->communication_seconds * ms_per_second,
               (times->communication_seconds + times->compute_seconds) * ms_per_second,
               fmax(times->error, times->error_from_first));
    }
    for (shard_dimension_t d = SHARD_I; d <= SHARD_K; ++d) {
        const size_t extent =
            shard_strategy_crossover(problem, first, strategy, d, SHARD_MAX_EXTENT);
        extent > 0 ? printf("\t%zu", extent) : printf("\t-");
    }
    printf("\n");
    fflush(stdout);
}

/* MPI counts with ints, and rank 0 has whole matrices. */
static void check_counts(const shard_problem_t *problem)
{
    const size_t *extent = problem->shape.extent;

    for (unsigned m = 0; m < SHARD_MATRICES; ++m) {
        if (extent[shard_dimension_of[m][0]] * extent[shard_dimension_of[m][1]] > INT_MAX) {
            shard_options_refuse("%c has more than %d elements; take smaller extents",
                                 problem->product.matrix[m], INT_MAX);
        }
    }
}

static shard_problem_t make_problem(const job_t *job, const char *product, const char *shape)
{
    shard_problem_t problem = {
        .network = job->network, .mesh = job->mesh, .element_bytes = sizeof(float)};
    char error[SHARD_ERROR_BYTES];

    if (!shard_product_parse(product, &job->mesh, &problem.product, error) ||
        !shard_shape_parse(shape, &job->mesh, &problem.product, &problem.shape, error)) {
        shard_options_refuse("%s", error);
    }
    if (!job->predict) {
        check_counts(&problem);
    }
    return problem;
}

static void run_problem(job_t *job, const shard_problem_t *problem, const char *shape)
{
    static shard_strategy_t strategies[SHARD_MAX_STRATEGIES];
    const unsigned count = shard_strategies_find(problem, strategies);
    shard_block_t right = {0};
    shard_block_t first = {0};

    if (!job->predict) {
        shard_block_t whole = multiply_alone(job, problem);
        right = own_part(job, problem, &whole);
        shard_block_free(&whole);
    }
    for (unsigned s = 0; s < count; ++s) {
        times_t times = {0};
        if (!job->predict) {
            times = time_strategy(job, problem, &strategies[s], &right, &first);
            job->worst = fmax(job->worst, times.error);
            job->worst = fmax(job->worst, times.error_from_first);
        }
        if (0 == job->rank) {
            print_row(problem, shape, &strategies[s], &strategies[0], job->predict ? NULL : &times);
        }
    }
    shard_block_free(&first);
    shard_block_free(&right);
}

/* ---- the program ---- */

static void make_grid(job_t *job)
{
    job->has_grid = !job->predict || !job->given_links || !job->given_flops;
    if (job->has_grid) {
        shard_options_check_ranks(&job->mesh);
        shard_grid_init(&job->grid, &job->mesh);
    }
}

/* Before each product, as other users of the machine come and go. */
static void measure_rates(job_t *job)
{
    if (!job->given_links) {
        shard_rates_measure_links(&job->grid, &job->network);
    }
    if (!job->given_flops) {
        shard_rates_measure_flops(&job->network);
    }
    print_rates(job);
}

int main(int argc, char **argv)
{
    static job_t job = {.rounds = 3, .network = {.topology = SHARD_SWITCH}};

    /* Blocks come from memory that has been used before: no page faults are timed. */
    mallopt(M_MMAP_THRESHOLD, INT_MAX);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    parse_options(&job, argc, argv);
    /* All that may be refused, before anything is measured. */
    for (int product = optind; product < argc; ++product) {
        for (unsigned shape = 0; shape < job.shape_count; ++shape) {
            (void) make_problem(&job, argv[product], job.shapes[shape]);
        }
    }
    make_grid(&job);
    print_columns(&job);
    for (int product = optind; product < argc; ++product) {
        for (unsigned shape = 0; shape < job.shape_count; ++shape) {
            measure_rates(&job);
            const shard_problem_t problem = make_problem(&job, argv[product], job.shapes[shape]);
            run_problem(&job, &problem, job.shapes[shape]);
        }
    }
    if (job.has_grid) {
        shard_grid_fini(&job.grid);
    }
    const bool wrong = job.worst > job.tolerance;
    if (wrong && 0 == job.rank) {
        fprintf(stderr, "sharding: a result is off by %.3g of the largest number, more than %.3g\n",
                job.worst, job.tolerance);
    }
    MPI_Finalize();
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
