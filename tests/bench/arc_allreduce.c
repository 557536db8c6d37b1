/*
 * Latency of MPI_Allreduce, in the output format of the OSU micro-benchmarks; with
 * --collective of MPI_Reduce_scatter_block or MPI_Allgather.
 *
 * Three ways to time a call:
 *
 *   per call      time around each call, a barrier between calls outside of the
 *                 time; the average over the ranks: what osu_allreduce prints
 *   back to back  one time around all calls without barriers, divided by their
 *                 number, of the slowest rank: what a program sees that calls
 *                 again at once; drift between ranks is part of it
 *   shuffled      time around each call without barriers, the calls of all sizes
 *                 mixed: what a program sees whose calls differ; the average
 *                 over the ranks
 *
 * The usual loop calls with the same buffers, sizes and unchanged data, on ranks
 * that a barrier has just lined up, and does nothing else, which flatters an
 * implementation. --alternate-buffers, --shuffle, --alter, --skew and --compute
 * take these comforts away one by one. In back-to-back mode the changing of data
 * and the delay are part of the time; --in-place writes the input anew for each
 * call, or the sums would grow without bound. With --compute the times of the
 * calls alone are added up in every mode. A time around a single call has a reading
 * of the clock in it, a back-to-back one has not.
 *
 * A window is one measurement: of one size, or of all of them when shuffled.
 *
 *   fill | warm-up | ping-pong | timed calls | ping-pong | print
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "bench_options.h"
#include "bench_values.h"
#include "ping_pong.h"

enum {
    MAX_SIZES = 31, /* doubled from 1 byte up to INT_MAX */
    SIZE_COLUMNS = 10,
    FIELD_COLUMNS = 20,
    BUFFERS = 2,
    PAGE_BYTES = 4096,
};

static const double us_per_second = 1e6;

/** One message size, and what its calls of one window added up to. */
typedef struct size_run {
    size_t count; /* elements of the vector: a multiple of the ranks if it has blocks */
    int iterations;
    int warmup;
    double seconds;
    uint64_t errors;
} size_run_t;

typedef struct bench {
    const options_t *options;
    int rank;
    int ranks;
    void *send[BUFFERS];
    void *receive[BUFFERS];
    unsigned calls; /* shifts the data with --alter */
    uint64_t random;
    ping_pong_t ping_pong;
    size_run_t sizes[MAX_SIZES];
    unsigned size_count;
} bench_t;

static void *alloc_buffer(size_t bytes)
{
    void *memory = NULL;

    if (posix_memalign(&memory, PAGE_BYTES, bytes) != 0) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    memset(memory, 0, bytes);
    return memory;
}

/* From 0 to below `limit`. */
static double draw_number(uint64_t *random, double limit)
{
    const uint64_t multiplier = UINT64_C(6364136223846793005);
    const double scale = 1.0 / (double) (UINT64_C(1) << 53);

    *random = *random * multiplier + UINT64_C(1442695040888963407);
    return limit * (double) (*random >> 11) * scale;
}

/* Spin, not sleep: a sleeping rank would wake late by tens of microseconds. */
static void spin_for(double us)
{
    double end = MPI_Wtime() + us / us_per_second;

    while (MPI_Wtime() < end) {
    }
}

static unsigned buffer_of_call(const bench_t *bench, unsigned number)
{
    return bench->options->alternate_buffers ? number % BUFFERS : 0;
}

/* What a program does between its calls. */
static void prepare_call(bench_t *bench, size_t count)
{
    const options_t *options = bench->options;
    unsigned which = buffer_of_call(bench, bench->calls);

    if (options->alter || options->in_place) {
        unsigned shift = (unsigned) bench->rank + (options->alter ? bench->calls : 0);

        options->type->fill(options->in_place ? bench->receive[which] : bench->send[which], count,
                            shift);
    }
    if (options->compute_us > 0) {
        spin_for(options->compute_us);
    }
    if (options->skew_us > 0) {
        spin_for(draw_number(&bench->random, options->skew_us));
    }
}

static void call_collective(bench_t *bench, size_t count)
{
    const options_t *options = bench->options;
    unsigned which = buffer_of_call(bench, bench->calls);
    const void *send = options->in_place ? MPI_IN_PLACE : bench->send[which];
    MPI_Datatype type = options->type->handle;
    int block = (int) (count / (size_t) bench->ranks);

    if (options->barrier) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (options->collective == ALLGATHER) {
        MPI_Allgather(send, block, type, bench->receive[which], block, type, MPI_COMM_WORLD);
    } else if (options->collective == REDUCE_SCATTER_BLOCK) {
        MPI_Reduce_scatter_block(send, bench->receive[which], block, type, options->op->handle,
                                 MPI_COMM_WORLD);
    } else {
        MPI_Allreduce(send, bench->receive[which], (int) count, type, options->op->handle,
                      MPI_COMM_WORLD);
    }
    bench->calls++;
}

/* Returns the seconds spent in the call alone. */
static double timed_call(bench_t *bench, size_t count)
{
    prepare_call(bench, count);
    double start = MPI_Wtime();
    call_collective(bench, count);
    return MPI_Wtime() - start;
}

/* So that a call that writes nothing does not pass for one that writes the same again. */
static void clear_results(bench_t *bench, size_t count)
{
    for (int b = 0; b < BUFFERS; b++) {
        memset(bench->receive[b], 0, count * bench->options->type->elem_bytes);
    }
}

/* Compare the result of the last call; the data repeat after DATA_PERIOD elements. */
static void check_result(bench_t *bench, size_run_t *size)
{
    const options_t *options = bench->options;
    unsigned last = bench->calls - 1;
    const void *receive = bench->receive[buffer_of_call(bench, last)];
    const size_t block = size->count / (size_t) bench->ranks;
    const bool scatters = options->collective == REDUCE_SCATTER_BLOCK;
    const size_t first = scatters ? block * (size_t) bench->rank : 0;
    const size_t end = scatters ? first + block : size->count;
    double expected[DATA_PERIOD];

    for (unsigned i = 0; i < DATA_PERIOD; i++) {
        for (unsigned rank = 0; rank < (unsigned) bench->ranks; rank++) {
            unsigned shift = rank + (options->alter ? last : 0);
            double value = (i + shift) % DATA_PERIOD + 1;

            expected[i] = rank == 0 ? value : options->op->combine(expected[i], value);
        }
    }
    for (size_t i = first; i < end; i++) {
        double exact = expected[i % DATA_PERIOD];

        if (options->collective == ALLGATHER) {
            /* In place the own block is filled like the others: from its place on. */
            size_t from = options->in_place ? i : i % block;
            unsigned shift = (unsigned) (i / block) + (options->alter ? last : 0);

            exact = (double) ((from + shift) % DATA_PERIOD + 1);
        }
        size->errors += options->type->get(receive, i - first) != exact;
    }
    clear_results(bench, size->count);
}

static void run_per_call(bench_t *bench, size_run_t *size)
{
    for (int i = 0; i < size->iterations; i++) {
        size->seconds += timed_call(bench, size->count);
        if (bench->options->validate) {
            check_result(bench, size);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void run_back_to_back(bench_t *bench, size_run_t *size)
{
    double start = MPI_Wtime();

    for (int i = 0; i < size->iterations; i++) {
        if (bench->options->compute_us > 0) {
            size->seconds += timed_call(bench, size->count);
        } else {
            /* No clock in here: to read it may take a third of a short call. */
            prepare_call(bench, size->count);
            call_collective(bench, size->count);
        }
    }
    if (bench->options->compute_us == 0) {
        size->seconds = MPI_Wtime() - start;
    }
    if (bench->options->validate) {
        check_result(bench, size);
    }
}

/*
 * The calls of all sizes, mixed. There are as many rounds as the most frequent size has calls; each
 * round goes through the sizes in a new random order, and a size with fewer calls takes part in
 * its share of the rounds, evenly spread. The order follows from the command line alone: the same
 * on all ranks.
 */
static void run_shuffled(bench_t *bench, size_run_t *sizes, unsigned size_count, bool warming_up)
{
    unsigned order[MAX_SIZES];
    uint64_t random = 1;
    int rounds = 0;

    for (unsigned s = 0; s < size_count; s++) {
        int calls = warming_up ? sizes[s].warmup : sizes[s].iterations;

        rounds = calls > rounds ? calls : rounds;
        order[s] = s;
    }
    for (int64_t round = 0; round < rounds; round++) {
        for (unsigned left = size_count; left > 0; left--) {
            unsigned drawn = (unsigned) draw_number(&random, left);
            unsigned at = order[drawn];
            int calls = warming_up ? sizes[at].warmup : sizes[at].iterations;

            order[drawn] = order[left - 1];
            order[left - 1] = at;
            if ((round + 1) * calls / rounds == round * calls / rounds) {
                continue;
            }
            double seconds = timed_call(bench, sizes[at].count);
            if (!warming_up) {
                sizes[at].seconds += seconds;
                if (bench->options->validate) {
                    check_result(bench, &sizes[at]);
                }
            }
        }
    }
}

static const char *metric_name(const options_t *options)
{
    if (options->shuffle) {
        return "shuffled";
    }
    return options->run.back_to_back ? "back to back" : "per call";
}

static void print_header(const options_t *options)
{
    printf("# ARC MPI %s Latency Test, %s, %s %s\n",
           options->collective == ALLREDUCE ? "Allreduce" : options_collective(options),
           metric_name(options), options->type->name, options->op->name);
    printf("%-*s%*s", SIZE_COLUMNS, "# Size", FIELD_COLUMNS, "Avg Latency(us)");
    if (options->validate) {
        printf("%*s", FIELD_COLUMNS, "Validation");
    }
    if (options->run.ping_pong) {
        printf("%*s", FIELD_COLUMNS, "Ping-pong(ns)");
    }
    printf("\n");
    fflush(stdout);
}

/* Collective: the times of all ranks become one line. Returns the number of wrong elements. */
static uint64_t print_line(const bench_t *bench, const size_run_t *size, double ping_pong_ns)
{
    const options_t *options = bench->options;
    double latency_us = size->seconds / size->iterations * us_per_second;
    double highest_us;
    double total_us;
    uint64_t errors = 0;

    MPI_Reduce(&latency_us, &highest_us, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&latency_us, &total_us, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&size->errors, &errors, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (bench->rank != 0) {
        return 0;
    }
    printf("%-*zu%*.3f", SIZE_COLUMNS, size->count * options->type->elem_bytes, FIELD_COLUMNS,
           options->run.back_to_back ? highest_us : total_us / bench->ranks);
    if (options->validate) {
        printf("%*s", FIELD_COLUMNS, errors == 0 ? "Pass" : "Fail");
    }
    if (options->run.ping_pong && ping_pong_ns > 0) {
        printf("%*.1f", FIELD_COLUMNS, ping_pong_ns);
    } else if (options->run.ping_pong) {
        printf("%*s", FIELD_COLUMNS, "-");
    }
    printf("\n");
    fflush(stdout);
    return errors;
}

/* Collective; 0 when it was not asked for or makes no sense. */
static double measure_distance(bench_t *bench)
{
    double ns = bench->options->run.ping_pong ? ping_pong_nanoseconds(&bench->ping_pong) : 0;

    MPI_Barrier(MPI_COMM_WORLD);
    return ns;
}

/* One size, or several shuffled ones, the largest last. Returns the number of wrong elements. */
static uint64_t run_window(bench_t *bench, size_run_t *sizes, unsigned size_count)
{
    const options_t *options = bench->options;
    size_t largest_count = sizes[size_count - 1].count;
    uint64_t errors = 0;

    for (int b = 0; b < BUFFERS; b++) {
        options->type->fill(bench->send[b], largest_count, (unsigned) bench->rank);
    }
    for (unsigned s = 0; s < size_count; s++) {
        sizes[s].seconds = 0;
        sizes[s].errors = 0;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    run_shuffled(bench, sizes, size_count, true);
    if (options->validate) {
        clear_results(bench, largest_count);
    }
    double before_ns = measure_distance(bench);
    if (options->shuffle) {
        run_shuffled(bench, sizes, size_count, false);
    } else if (options->run.back_to_back) {
        run_back_to_back(bench, sizes);
    } else {
        run_per_call(bench, sizes);
    }
    double after_ns = measure_distance(bench);
    for (unsigned s = 0; s < size_count; s++) {
        errors += print_line(bench, &sizes[s], before_ns > after_ns ? before_ns : after_ns);
    }
    return errors;
}

static void list_sizes(bench_t *bench)
{
    const options_t *options = bench->options;
    size_t elem_bytes = options->type->elem_bytes;
    size_t least_bytes =
        elem_bytes * (options->collective == ALLREDUCE ? 1 : (size_t) bench->ranks);
    size_t bytes = options->run.min_bytes < least_bytes ? least_bytes : options->run.min_bytes;

    for (; bytes <= options->run.max_bytes; bytes *= 2) {
        size_run_t *size = &bench->sizes[bench->size_count++];

        *size = (size_run_t){.count = bytes / elem_bytes,
                             .iterations = bench_iterations(&options->run, bytes),
                             .warmup = bench_warmup(&options->run, bytes)};
        if (options->collective != ALLREDUCE) {
            size->count -= size->count % (size_t) bench->ranks;
        }
    }
}

/* All windows of all sizes. Returns the number of wrong elements. */
static uint64_t run_all(bench_t *bench)
{
    unsigned together = bench->options->shuffle ? bench->size_count : 1;
    uint64_t errors = 0;

    for (unsigned s = 0; s < bench->size_count; s += together) {
        for (int window = 0; window < bench->options->run.windows; window++) {
            errors += run_window(bench, &bench->sizes[s], together);
        }
    }
    return errors;
}

/* A byte to and from each other rank, so that there are connections, as in many programs. */
static void greet(const bench_t *bench)
{
    for (int i = 1; i < bench->ranks; i++) {
        char byte = 0;
        MPI_Sendrecv_replace(&byte, 1, MPI_CHAR, (bench->rank + i) % bench->ranks, 0,
                             (bench->rank - i + bench->ranks) % bench->ranks, 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    options_t options;
    bench_t bench = {.options = &options};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &bench.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench.ranks);
    bench.random = (uint64_t) bench.rank + 1;
    options = options_default(bench.rank == 0);
    if (!options_parse(&options, argc, argv)) {
        MPI_Finalize();
        return options.run.help || bench.rank != 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    list_sizes(&bench);
    if (options.greet) {
        greet(&bench);
    }
    for (int b = 0; b < BUFFERS; b++) {
        bench.send[b] = alloc_buffer(options.run.max_bytes);
        bench.receive[b] = alloc_buffer(options.run.max_bytes);
    }
    if (options.run.ping_pong) {
        ping_pong_init(&bench.ping_pong);
    }
    if (bench.rank == 0) {
        print_header(&options);
    }
    uint64_t errors = run_all(&bench);
    if (options.run.ping_pong) {
        ping_pong_fini(&bench.ping_pong);
    }
    for (int b = 0; b < BUFFERS; b++) {
        free(bench.send[b]);
        free(bench.receive[b]);
    }
    MPI_Finalize();
    return bench.rank == 0 && errors > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
