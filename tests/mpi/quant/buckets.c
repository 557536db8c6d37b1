/*
 * Error feedback for buckets, as a training adds them: several vectors on one communicator, in one
 * order that repeats, of equal and of different lengths.  Each has the same data in every call, so
 * the error of its mean is that of one call, divided by the calls, if it gets back all that it lost
 * and nothing of another vector.
 *
 *   buckets COLLECTIVE TYPE PLACES
 *
 *   COLLECTIVE   allreduce, reduce_scatter
 *   TYPE         float, double, bf16 (in MPI_UINT16_T)
 *   PLACES       fixed: each has buffers of its own.  moving: before each call its buffer goes to
 *                memory that was not in use, and leaves its own to the next bucket, as where a
 *                program binds a name to a new array; in place.  one: all of them pass through the
 *                same buffer, in place.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"
#include "normal.h"
#include "numbers.h"

enum { BUCKETS = 5, MOVING = BUCKETS + 1, STEPS = 24, MOST_BYTES = sizeof(double) };

/* Of one block; the first three differ by nothing but where they are. */
static const int block_elems[BUCKETS] = {20001, 20001, 20001, 7040, 30011};

static bool scatters;
static numbers_t numbers;

typedef struct bucket {
    size_t elems; /* that are sent */
    size_t first; /* of the result */
    size_t count; /* of the result */
    float *own;
    double *exact; /* of all that are sent */
    double *running;
    double once; /* mean square of the error of the first call */
} bucket_t;

static bucket_t bucket_new(int number)
{
    enum { RANKS_MOST = 1000 };
    const size_t count = (size_t) block_elems[number];
    bucket_t bucket = {
        .elems = scatters ? count * (size_t) world_ranks : count,
        .first = scatters ? count * (size_t) world_rank : 0,
        .count = count,
    };
    SCOPED float *drawn = must_alloc((bucket.elems + 1) * sizeof *drawn);

    bucket.own = must_alloc(bucket.elems * sizeof *bucket.own);
    bucket.exact = must_alloc(bucket.elems * sizeof *bucket.exact);
    bucket.running = must_alloc(count * sizeof *bucket.running);
    memset(bucket.exact, 0, bucket.elems * sizeof *bucket.exact);
    memset(bucket.running, 0, count * sizeof *bucket.running);
    for (int r = 0; r < world_ranks; r++) {
        draw_normal(drawn, number * RANKS_MOST + r, bucket.elems);
        for (size_t i = 0; i < bucket.elems; i++) {
            const float value = numbers_value(drawn[i]);
            bucket.exact[i] += (double) value;
            if (r == world_rank) {
                bucket.own[i] = value;
            }
        }
    }
    return bucket;
}

static void bucket_free(bucket_t *bucket)
{
    free(bucket->own);
    free(bucket->exact);
    free(bucket->running);
}

static double mean_square_error(const bucket_t *bucket, int calls)
{
    double squares = 0;

    for (size_t i = 0; i < bucket->count; i++) {
        const double error = bucket->running[i] / calls - bucket->exact[bucket->first + i];
        squares += error * error;
    }
    return squares / (double) bucket->count;
}

/* Once more the sum of the same numbers, from `send` to `receive`, which may be the same. */
static void sum_once(bucket_t *bucket, void *send, void *receive)
{
    const void *from = send == receive ? MPI_IN_PLACE : send;

    for (size_t i = 0; i < bucket->elems; i++) {
        numbers_write(&numbers, send, i, bucket->own[i]);
    }
    if (scatters) {
        MPI_Reduce_scatter_block(from, receive, (int) bucket->count, numbers.type, MPI_SUM,
                                 MPI_COMM_WORLD);
    } else {
        MPI_Allreduce(from, receive, (int) bucket->count, numbers.type, MPI_SUM, MPI_COMM_WORLD);
    }
    for (size_t i = 0; i < bucket->count; i++) {
        bucket->running[i] += numbers_read(&numbers, receive, i);
    }
}

static void run_steps(bucket_t *buckets, const char *places)
{
    const bool fixed = 0 == strcmp(places, "fixed");
    void *memory[2 * MOVING];
    int held[BUCKETS];
    int spare = BUCKETS;

    for (int i = 0; i < 2 * MOVING; i++) {
        memory[i] =
            must_alloc(MOST_BYTES * (size_t) world_ranks * (size_t) block_elems[BUCKETS - 1]);
    }
    for (int b = 0; b < BUCKETS; b++) {
        held[b] = b;
    }
    for (int step = 1; step <= STEPS; step++) {
        for (int b = 0; b < BUCKETS; b++) {
            const int before = held[b];
            if (0 == strcmp(places, "moving")) {
                held[b] = spare;
                spare = before;
            } else if (!fixed) {
                held[b] = 0;
            }
            sum_once(&buckets[b], memory[held[b]], memory[held[b] + (fixed ? MOVING : 0)]);
            if (1 == step) {
                buckets[b].once = mean_square_error(&buckets[b], 1);
            }
        }
    }
    for (int i = 0; i < 2 * MOVING; i++) {
        free(memory[i]);
    }
}

static void check_all(const char *places)
{
    /* The sums, of numbers of variance 1, are rounded to bf16, of which nothing is carried. */
    const double rounded = MPI_UINT16_T == numbers.type ? 4e-6 * world_ranks : 0;
    bucket_t buckets[BUCKETS];

    for (int b = 0; b < BUCKETS; b++) {
        buckets[b] = bucket_new(b);
    }
    run_steps(buckets, places);
    for (int b = 0; b < BUCKETS; b++) {
        const double mean = mean_square_error(&buckets[b], STEPS);
        tap_check(buckets[b].once > 1e-6, "nothing is quantized");
        tap_check(mean < 3 * buckets[b].once / (STEPS * STEPS) + rounded, "%g, of one call %g",
                  mean, buckets[b].once);
        tap_case("bucket %d: the mean of %d calls has the error of one, divided by the calls", b,
                 (int) STEPS);
        bucket_free(&buckets[b]);
    }
}

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv);
    if (argc != 4) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    scatters = 0 == strcmp(argv[1], "reduce_scatter");
    numbers = numbers_named(argv[2]);
    check_all(argv[3]);
    return tap_end();
}
