/*
 * Times of the four primitives on a mesh of ranks, and what the model says of them.
 *
 *   mpirun -n 4 sharding_primitives -m X=2,Y=2 [-s BYTES:BYTES] [-r ROUNDS] [-d DEVICE] [-c RATIO]
 *
 *   -m MESH      axes and how many ranks are on each; together as many as there are ranks
 *   -s A:B       bytes of the array, V of the model, four times as many each time from A to B
 *                (default 1048576:16777216)
 *   -r ROUNDS    calls of each (default 5), behind one that is not timed
 *   -d DEVICE    count what passes over this network device of each node (default: none)
 *   -c RATIO     bytes that a quantized collective sends for each byte (default 1): an allreduce,
 *                reduce-scatter or allgather is predicted for so many of the bytes
 *
 * Prints tab-separated columns, for each primitive, set of axes and size a row.  All groups of a
 * mesh call at the same time.  Times are of the slowest rank, the median of the rounds; wire_mb is
 * what the rank that sends most sends in a call, with the headers of all packets.  Each call's
 * result is checked: exactly where RATIO is 1, to 5 % of the largest number otherwise.
 *
 * Exit status 1: a result was wrong; 2: wrong use.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "layout.h"
#include "options.h"
#include "rates.h"

enum { MAX_ROUNDS = 99, STEP = 4, PATH_BYTES = 128, MAX_DEVICE_BYTES = 32 };

static const double quantized_tolerance = 0.05;
static const double ms_per_second = 1e3;
static const double us_per_second = 1e6;
static const double bytes_per_mb = 1e6;

static const char *const names[SHARD_PRIMITIVES] = {
    [SHARD_ALLGATHER] = "allgather",
    [SHARD_REDUCE_SCATTER] = "reduce-scatter",
    [SHARD_ALLREDUCE] = "allreduce",
    [SHARD_ALL_TO_ALL] = "all-to-all",
};

typedef struct job {
    shard_mesh_t mesh;
    shard_grid_t grid;
    size_t least_bytes;
    size_t most_bytes;
    unsigned rounds;
    const char *device; /* NULL: none */
    double ratio;
    int rank; /* of all */
    bool wrong;
} job_t;

/* One primitive over one set of axes. */
typedef struct call {
    shard_primitive_t primitive;
    MPI_Comm group;
    int rank; /* in the group */
    unsigned ranks;
    size_t elements; /* of the whole array */
    shard_block_t in;
    shard_block_t out;
} call_t;

typedef struct times {
    double seconds; /* of a call */
    double wire_bytes;
    shard_link_t link; /* of the ranks of a group */
} times_t;

/* ---- options ---- */

static void parse_options(job_t *job, int argc, char **argv)
{
    const char *mesh = NULL;
    int option = 0;

    while (-1 != (option = getopt(argc, argv, ":m:s:r:d:c:"))) {
        switch (option) {
        case 'm':
            mesh = optarg;
            break;
        case 's':
            if (2 != sscanf(optarg, "%zu:%zu", &job->least_bytes, &job->most_bytes)) {
                shard_options_refuse("-s: BYTES:BYTES, not %.40s", optarg);
            }
            break;
        case 'r':
            job->rounds = shard_options_count('r', optarg, MAX_ROUNDS);
            break;
        case 'd':
            job->device = optarg;
            break;
        case 'c':
            job->ratio = shard_options_number('c', optarg, false);
            break;
        default:
            shard_options_refuse("-%c: %s; the options are -m -s -r -d -c", optopt,
                                 ':' == option ? "needs a value" : "no such option");
        }
    }
    job->mesh = shard_options_mesh(mesh);
    shard_options_check_ranks(&job->mesh);
    const shard_axes_t all = {.count = job->mesh.axes, .axis = {0, 1, 2}};
    const size_t unit = (size_t) shard_axes_ranks(&job->mesh, &all) * sizeof(float);
    if (job->least_bytes < unit || job->most_bytes < job->least_bytes ||
        job->most_bytes > INT_MAX || 0 != job->least_bytes % unit) {
        shard_options_refuse("-s: from a multiple of %zu bytes up to at most %d", unit, INT_MAX);
    }
}

/* ---- what passes over the wire ---- */

/* Bytes that this node has sent so far; negative where there is no such device. */
static double count_sent(const job_t *job)
{
    char path[PATH_BYTES];
    double bytes = -1;

    snprintf(path, sizeof path, "/sys/class/net/%.*s/statistics/tx_bytes", MAX_DEVICE_BYTES,
             job->device);
    FILE *file = fopen(path, "r");
    if (NULL != file) {
        if (1 != fscanf(file, "%lf", &bytes)) {
            bytes = -1;
        }
        fclose(file);
    }
    return bytes;
}

static void check_device(const job_t *job)
{
    double least = NULL == job->device ? 0 : count_sent(job);

    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    if (least < 0) {
        shard_options_refuse("-d: not every node has a network device %.*s", MAX_DEVICE_BYTES,
                             job->device);
    }
}

/* ---- calls ---- */

/* What a rank has before and behind a primitive, in parts of the array. */
static size_t elements_in(const call_t *call)
{
    const bool part = SHARD_ALLGATHER == call->primitive || SHARD_ALL_TO_ALL == call->primitive;

    return call->elements / (part ? call->ranks : 1);
}

static size_t elements_out(const call_t *call)
{
    const bool part =
        SHARD_REDUCE_SCATTER == call->primitive || SHARD_ALL_TO_ALL == call->primitive;

    return call->elements / (part ? call->ranks : 1);
}

static void run_call(const call_t *call)
{
    const float *in = call->in.value;
    float *out = call->out.value;
    const int count_in = (int) elements_in(call);
    const int count_out = (int) elements_out(call);

    switch (call->primitive) {
    case SHARD_ALLGATHER:
        MPI_Allgather(in, count_in, MPI_FLOAT, out, count_in, MPI_FLOAT, call->group);
        break;
    case SHARD_REDUCE_SCATTER:
        MPI_Reduce_scatter_block(in, out, count_out, MPI_FLOAT, MPI_SUM, call->group);
        break;
    case SHARD_ALLREDUCE:
        MPI_Allreduce(in, out, count_in, MPI_FLOAT, MPI_SUM, call->group);
        break;
    default:
        MPI_Alltoall(in, count_in / (int) call->ranks, MPI_FLOAT, out, count_in / (int) call->ranks,
                     MPI_FLOAT, call->group);
    }
}

/* Rank r of a group has the row r of an endless matrix. */
static float number_of(int rank, size_t place)
{
    shard_block_t one = {1, 1, (float[]){0}};

    shard_block_fill(&one, SHARD_A, (size_t) rank, place);
    return one.value[0];
}

/* What is to be at a place of the result of this rank. */
static double right_at(const call_t *call, size_t place)
{
    const size_t part = call->elements / call->ranks;
    const size_t piece = part / call->ranks; /* of an all-to-all */
    double sum = 0;

    if (SHARD_ALLGATHER == call->primitive) {
        return number_of((int) (place / part), place % part);
    }
    if (SHARD_ALL_TO_ALL == call->primitive) {
        return number_of((int) (place / piece), (size_t) call->rank * piece + place % piece);
    }
    if (SHARD_REDUCE_SCATTER == call->primitive) {
        place += (size_t) call->rank * part;
    }
    for (unsigned rank = 0; rank < call->ranks; ++rank) {
        sum += number_of((int) rank, place);
    }
    return sum;
}

/* The largest error of any rank, in parts of the largest number that can be. */
static double error_of(const call_t *call)
{
    enum { LARGEST = 4 }; /* of shard_block_fill */
    const bool sums = SHARD_ALLREDUCE == call->primitive || SHARD_REDUCE_SCATTER == call->primitive;
    double worst = 0;

    for (size_t place = 0; place < elements_out(call); ++place) {
        const double off = fabs(call->out.value[place] - right_at(call, place));
        worst = isfinite(off) ? fmax(worst, off) : INFINITY;
    }
    return shard_rates_most(worst) / (LARGEST * (sums ? call->ranks : 1));
}

/* In turn with shifts of a long message, so that the rate of the links is that of the same moments.
 */
static times_t time_call(const job_t *job, const call_t *call)
{
    double seconds[MAX_ROUNDS + 1];
    double shift_seconds[MAX_ROUNDS + 1];
    shard_block_t message[2];
    double sent = 0;
    times_t times = {0};

    shard_rates_messages_new(message);
    const double none_seconds = shard_rates_message(call->group, message);
    for (unsigned round = 0; round <= job->rounds; ++round) {
        shift_seconds[round] = shard_rates_shift(call->group, message, SHARD_LONG_FLOATS);
        const double before = NULL == job->device ? 0 : count_sent(job);
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        run_call(call);
        seconds[round] = shard_rates_most(MPI_Wtime() - begin);
        sent += NULL == job->device || 0 == round ? 0 : count_sent(job) - before;
    }
    shard_rates_messages_free(message);
    times.link = shard_rates_link(none_seconds, shard_rates_median(shift_seconds + 1, job->rounds));
    times.seconds = shard_rates_median(seconds + 1, job->rounds);
    times.wire_bytes = shard_rates_most(sent / job->rounds);
    return times;
}

static void print_row(const job_t *job, const call_t *call, const shard_axes_t *axes,
                      const times_t *times, double error)
{
    const double ratio = SHARD_ALL_TO_ALL == call->primitive ? 1 : job->ratio;
    const double bytes = ratio * (double) call->elements * sizeof(float);
    const shard_network_t network = {.topology = SHARD_SWITCH,
                                     .link = {times->link, times->link, times->link}};
    char text[SHARD_MAX_AXES + 1];

    shard_axes_print(&job->mesh, axes, text);
    printf("%s\t%s\t%zu\t%.1f\t%.1f\t%.3f\t", names[call->primitive], text,
           call->elements * sizeof(float), times->link.bytes_per_second / bytes_per_mb,
           times->link.message_seconds * us_per_second,
           shard_sent_bytes(call->primitive, call->ranks, bytes) / bytes_per_mb);
    NULL == job->device ? printf("-") : printf("%.3f", times->wire_bytes / bytes_per_mb);
    printf("\t%.3f\t%.3f\t%.2g\n",
           ms_per_second *
               shard_primitive_seconds(&network, &job->mesh, call->primitive, axes, bytes),
           ms_per_second * times->seconds, error);
    fflush(stdout);
}

static void run_size(job_t *job, call_t call, const shard_axes_t *axes, size_t bytes)
{
    call.elements = bytes / sizeof(float);
    call.in = shard_block_new(1, elements_in(&call));
    call.out = shard_block_new(1, elements_out(&call));
    shard_block_fill(&call.in, SHARD_A, (size_t) call.rank, 0);
    shard_block_fill(&call.out, SHARD_B, 0, 0);
    const times_t times = time_call(job, &call);
    const double error = error_of(&call);
    job->wrong |= error > (1 == job->ratio ? 0 : quantized_tolerance);
    if (0 == job->rank) {
        print_row(job, &call, axes, &times, error);
    }
    shard_block_free(&call.in);
    shard_block_free(&call.out);
}

/* The axes of a set of bits. */
static shard_axes_t axes_of(const shard_mesh_t *mesh, unsigned set)
{
    shard_axes_t axes = {0};

    for (unsigned axis = 0; axis < mesh->axes; ++axis) {
        if (0 != (set & 1U << axis)) {
            shard_axes_append(&axes, axis);
        }
    }
    return axes;
}

static void run_set(job_t *job, unsigned set)
{
    const shard_axes_t axes = axes_of(&job->mesh, set);
    call_t call = {.group = job->grid.group[set], .ranks = shard_axes_ranks(&job->mesh, &axes)};

    MPI_Comm_rank(call.group, &call.rank);
    for (call.primitive = 0; call.primitive < SHARD_PRIMITIVES; ++call.primitive) {
        for (size_t bytes = job->least_bytes; bytes <= job->most_bytes; bytes *= STEP) {
            run_size(job, call, &axes, bytes);
        }
    }
}

int main(int argc, char **argv)
{
    static job_t job = {.least_bytes = 1 << 20, .most_bytes = 16 << 20, .rounds = 5, .ratio = 1};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    parse_options(&job, argc, argv);
    check_device(&job);
    shard_grid_init(&job.grid, &job.mesh);
    if (0 == job.rank) {
        printf("primitive\taxes\tbytes\tmb_per_second\tmessage_us\tsent_mb\twire_mb"
               "\tpredicted_ms\tms\terror\n");
    }
    for (unsigned set = 1; set < 1U << job.mesh.axes; ++set) {
        run_set(&job, set);
    }
    shard_grid_fini(&job.grid);
    if (job.wrong && 0 == job.rank) {
        fprintf(stderr, "sharding_primitives: a result is wrong\n");
    }
    MPI_Finalize();
    return job.wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
