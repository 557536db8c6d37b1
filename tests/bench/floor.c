/*
 * A lower bound, found by measuring, for an allreduce of floats between two ranks
 * through shared memory: two threads on two cores, without MPI, and the best of
 * many ways to do it (floor_ways.h). Each stages its vector where the other one
 * reads it, sets a flag, waits for the other's flag, and adds; a call ends when the
 * sum is in the caller's memory.
 *
 *   floor -m 4:4194304 --windows 5 --ping-pong
 *
 * The output has the columns of arc_allreduce --back-to-back, and the way that was
 * the fastest. A window is one measurement of each way, one after the other, another
 * one first in each window; its line is that of the fastest. Of each way:
 *
 *   warm-up | ping-pong | timed calls | ping-pong
 *
 * Its time is that of the slower thread; the ping-pong is the slower one. Before the
 * first window of a size each way makes a few calls whose sums are checked.
 *
 * A bound only in this sense: nothing that was tried here is faster. It has no
 * function calls of MPI, no progress of anything else, and memory of one process.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_values.h"
#include "bounce.h"
#include "floor_ways.h"
#include "seconds.h"

enum {
    PAGE_BYTES = 4096,
    CHECKED_CALLS = 3, /* the third one uses memory of the first one again */
    DATA_PERIOD = 251, /* prime: no piece looks like another one */
    SIZE_COLUMNS = 10,
    FIELD_COLUMNS = 20,
    WAY_COLUMNS = 36,
};

static const double us_per_second = 1e6;

typedef struct floor_options {
    bench_run_t run; /* always back to back */
    unsigned core[FLOOR_SIDES];
    bool ways;
} floor_options_t;

typedef struct counter {
    _Alignas(FLOOR_SPACING_BYTES) uint64_t value;
} counter_t;

/** What both threads see. The arrays of a pair are written by the thread of that side. */
typedef struct job {
    const floor_options_t *options;
    floor_side_t side[FLOOR_SIDES];
    counter_t met[FLOOR_SIDES];
    counter_t bounced[FLOOR_SIDES];
    double us[FLOOR_SIDES][FLOOR_MAX_WAYS]; /* of the present window */
    bool wrong[FLOOR_SIDES];
} job_t;

/** What one thread has. */
typedef struct seat {
    job_t *job;
    floor_end_t end;
    bounce_t bounce;
    floor_way_t ways[FLOOR_MAX_WAYS];
    unsigned way_count;
    double ping_pong_ns[FLOOR_MAX_WAYS];
} seat_t;

/* ---- measuring ---- */

/* Both threads leave when both have come; what either wrote before, the other one can then read. */
static void meet_other_thread(seat_t *seat)
{
    counter_t *met = seat->job->met;
    uint64_t number = met[seat->end.side].value + 1;

    __atomic_store_n(&met[seat->end.side].value, number, __ATOMIC_RELEASE);
    bounce_await(&met[FLOOR_SIDES - 1 - seat->end.side].value, number);
}

static float datum(size_t i, unsigned side, uint64_t call)
{
    return (float) ((i + 3 * side + call) % DATA_PERIOD);
}

static void fill_vector(floor_end_t *end, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        end->in[i] = datum(i, end->side, end->calls);
        end->out[i] = -1;
    }
}

/* Says what is wrong with the sum of call `number`. */
static bool check_sum(const seat_t *seat, const floor_way_t *way, size_t count, uint64_t number)
{
    const floor_end_t *end = &seat->end;

    for (size_t i = 0; i < count; i++) {
        const float sum = datum(i, 0, number) + datum(i, 1, number);

        if (end->out[i] != sum) {
            fprintf(stderr, "floor: wrong sum of %zu bytes, %s, core %u: float %zu is %g, not %g\n",
                    count * sizeof(float), way->name, seat->job->options->core[end->side], i,
                    (double) end->out[i], (double) sum);
            return false;
        }
    }
    return true;
}

/* All ways of one size, with other data in every call; false on both sides if a sum is wrong. */
static bool check_ways(seat_t *seat, size_t count)
{
    bool *wrong = seat->job->wrong;
    bool good = true;

    for (unsigned w = 0; w < seat->way_count && good; w++) {
        for (int call = 0; call < CHECKED_CALLS; call++) {
            const uint64_t number = seat->end.calls;

            fill_vector(&seat->end, count);
            floor_exchange(&seat->end, &seat->ways[w], count);
            if (!wrong[seat->end.side] && !check_sum(seat, &seat->ways[w], count, number)) {
                wrong[seat->end.side] = true;
            }
        }
        meet_other_thread(seat); /* all calls of a way are made, or the other side would wait */
        good = !wrong[0] && !wrong[1];
        meet_other_thread(seat); /* both have looked before either writes again */
    }
    return good;
}

static double measure_distance(seat_t *seat)
{
    meet_other_thread(seat);
    const double ns = seat->job->options->run.ping_pong ? bounce_nanoseconds(&seat->bounce) : 0;
    meet_other_thread(seat);
    return ns;
}

/* One way, one window. */
static void measure_window(seat_t *seat, unsigned w, size_t count)
{
    const floor_options_t *options = seat->job->options;
    const int iterations = bench_iterations(&options->run, count * sizeof(float));
    const int warmup = bench_warmup(&options->run, count * sizeof(float));

    for (int i = 0; i < warmup; i++) {
        floor_exchange(&seat->end, &seat->ways[w], count);
    }
    const double before_ns = measure_distance(seat);
    const double start = seconds_now();
    for (int i = 0; i < iterations; i++) {
        floor_exchange(&seat->end, &seat->ways[w], count);
    }
    seat->job->us[seat->end.side][w] = (seconds_now() - start) / iterations * us_per_second;
    const double after_ns = measure_distance(seat);
    seat->ping_pong_ns[w] = before_ns > after_ns ? before_ns : after_ns;
}

/* ---- output ---- */

static double slower_us(const job_t *job, unsigned w)
{
    return job->us[0][w] > job->us[1][w] ? job->us[0][w] : job->us[1][w];
}

static void print_header(const floor_options_t *options)
{
    printf("# ARC floor of an allreduce through shared memory, back to back, float sum, cores %u"
           " and %u\n",
           options->core[0], options->core[1]);
    printf("%-*s%*s%*s", SIZE_COLUMNS, "# Size", FIELD_COLUMNS, "Avg Latency(us)", WAY_COLUMNS,
           "Way");
    if (options->run.ping_pong) {
        printf("%*s", FIELD_COLUMNS, "Ping-pong(ns)");
    }
    printf("\n");
    fflush(stdout);
}

static void print_line(const seat_t *seat, unsigned w, size_t count)
{
    printf("%-*zu%*.3f%*s", SIZE_COLUMNS, count * sizeof(float), FIELD_COLUMNS,
           slower_us(seat->job, w), WAY_COLUMNS, seat->ways[w].name);
    if (seat->job->options->run.ping_pong) {
        printf("%*.1f", FIELD_COLUMNS, seat->ping_pong_ns[w]);
    }
    printf("\n");
}

/* Of the present window; thread 0. */
static void print_window(const seat_t *seat, size_t count)
{
    unsigned fastest = 0;

    for (unsigned w = 0; w < seat->way_count; w++) {
        if (seat->job->options->ways) {
            print_line(seat, w, count);
        }
        if (slower_us(seat->job, w) < slower_us(seat->job, fastest)) {
            fastest = w;
        }
    }
    if (!seat->job->options->ways) {
        print_line(seat, fastest, count);
    }
    fflush(stdout);
}

/* ---- the threads ---- */

/* The pages of a thread come from the memory near its core: whoever writes first gets them there.
 */
static void touch_memory(seat_t *seat)
{
    const size_t bytes = seat->job->options->run.max_bytes;

    memset(seat->end.in, 0, bytes);
    memset(seat->end.out, 0, bytes);
    for (unsigned buffer_set = 0; buffer_set < FLOOR_BUFFER_SETS; buffer_set++) {
        memset(seat->end.own->arena[buffer_set], 0, bytes);
    }
}

static void *run_side(void *argument)
{
    seat_t *seat = argument;
    const floor_options_t *options = seat->job->options;
    size_t bytes = options->run.min_bytes < sizeof(float) ? sizeof(float) : options->run.min_bytes;

    touch_memory(seat);
    for (; bytes <= options->run.max_bytes; bytes *= 2) {
        const size_t count = bytes / sizeof(float);

        seat->way_count = floor_ways_list(seat->end.kernels, count, seat->ways);
        if (!check_ways(seat, count)) {
            break;
        }
        for (int window = 0; window < options->run.windows; window++) {
            for (unsigned w = 0; w < seat->way_count; w++) {
                measure_window(seat, ((unsigned) window + w) % seat->way_count, count);
            }
            if (seat->end.side == 0) {
                print_window(seat, count);
            }
            meet_other_thread(seat); /* the next window writes where thread 0 has just read */
        }
    }
    return NULL;
}

static float *alloc_vector(size_t bytes)
{
    void *memory = NULL;

    if (posix_memalign(&memory, PAGE_BYTES, bytes) != 0) {
        fprintf(stderr, "floor: no memory for %zu bytes\n", bytes);
        exit(EXIT_FAILURE);
    }
    return memory;
}

static void take_seat(seat_t *seat, job_t *job, unsigned side)
{
    const size_t bytes = job->options->run.max_bytes;
    floor_side_t *own = &job->side[side];

    *seat = (seat_t){.job = job, .bounce = {.side = side}};
    for (unsigned s = 0; s < FLOOR_SIDES; s++) {
        seat->bounce.counter[s] = &job->bounced[s].value;
    }
    for (unsigned buffer_set = 0; buffer_set < FLOOR_BUFFER_SETS; buffer_set++) {
        own->arena[buffer_set] = alloc_vector(bytes);
    }
    seat->end = (floor_end_t){.side = side,
                              .kernels = floor_kernels(),
                              .own = own,
                              .other = &job->side[FLOOR_SIDES - 1 - side],
                              .in = own->in = alloc_vector(bytes),
                              .out = own->out = alloc_vector(bytes)};
}

static void leave_seat(seat_t *seat)
{
    for (unsigned buffer_set = 0; buffer_set < FLOOR_BUFFER_SETS; buffer_set++) {
        free(seat->end.own->arena[buffer_set]);
    }
    free(seat->end.in);
    free(seat->end.out);
}

/* Ends the program if that is not possible: the other thread would wait for ever. */
static pthread_t start_on(unsigned core, seat_t *seat)
{
    pthread_t thread;
    pthread_attr_t attributes;
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(core, &set);
    if (pthread_attr_init(&attributes) != 0 ||
        pthread_attr_setaffinity_np(&attributes, sizeof set, &set) != 0 ||
        pthread_create(&thread, &attributes, run_side, seat) != 0) {
        fprintf(stderr, "floor: no thread can run on core %u\n", core);
        exit(EXIT_FAILURE);
    }
    (void) pthread_attr_destroy(&attributes);
    return thread;
}

/* ---- the command line ---- */

static const char usage_text[] =
    "usage: floor [options]\n" BENCH_RUN_USAGE
    "      --ways                    a line for each way, not for the fastest alone\n"
    "      --back-to-back            accepted, as the time is always back to back\n";

/* The first ones that we may use: how many, two at most. */
static unsigned choose_cores(unsigned core[FLOOR_SIDES])
{
    cpu_set_t allowed;
    unsigned found = 0;

    CPU_ZERO(&allowed);
    (void) sched_getaffinity(0, sizeof allowed, &allowed);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE && found < FLOOR_SIDES; cpu++) {
        core[found] = cpu;
        found += CPU_ISSET(cpu, &allowed) ? 1 : 0;
    }
    return found;
}

/* False when the command line is wrong or asks for help; then it has been said. */
static bool parse_options(floor_options_t *options, int argc, char **argv)
{
    const option_row_t rows[] = {
        BENCH_RUN_ROWS(options->run), OPTION_NAMED("ways", options->ways), {.letter = 0}};

    *options = (floor_options_t){.run = BENCH_RUN_DEFAULT};
    const unsigned cores = choose_cores(options->core);
    const char *wrong = options_take(argc, argv, rows);
    if (wrong == NULL && options->run.help) {
        fputs(usage_text, stdout);
        return false;
    }
    wrong = wrong != NULL                            ? wrong
            : optind < argc                          ? BENCH_NO_OPERANDS
            : options->run.max_bytes < sizeof(float) ? "-m: must be at least one float"
            : cores < FLOOR_SIDES ? "two cores are needed, and this process may use only one"
                                  : NULL;
    if (wrong != NULL) {
        fprintf(stderr, "floor: %s\n", wrong);
    }
    return wrong == NULL;
}

int main(int argc, char **argv)
{
    static job_t job;
    static seat_t seats[FLOOR_SIDES];
    pthread_t threads[FLOOR_SIDES];
    floor_options_t options;

    if (!parse_options(&options, argc, argv)) {
        return options.run.help ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    job.options = &options;
    for (unsigned side = 0; side < FLOOR_SIDES; side++) {
        take_seat(&seats[side], &job, side);
    }
    print_header(&options);
    for (unsigned side = 0; side < FLOOR_SIDES; side++) {
        threads[side] = start_on(options.core[side], &seats[side]);
    }
    for (unsigned side = 0; side < FLOOR_SIDES; side++) {
        (void) pthread_join(threads[side], NULL);
        leave_seat(&seats[side]);
    }
    return job.wrong[0] || job.wrong[1] ? EXIT_FAILURE : EXIT_SUCCESS;
}
