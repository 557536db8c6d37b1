/*
 * A program with coll_quant_target_abs or coll_quant_target_rel: no element of any result is
 * farther from the exact sum than that, and all ranks have the same bits; for numbers of all
 * sizes, in place and not, and sizes that change from call to call.
 *
 *   -a X    coll_quant_target_abs is X
 *   -r X    coll_quant_target_rel is X
 *   -d      doubles
 *   -q      some call is to be quantized
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"
#include "normal.h"

/* Of each kind of numbers so many calls; the last ones of all have small numbers. */
enum { OF_KIND = 12, KINDS = 4, CALLS = OF_KIND * KINDS, SMALL_CALLS = 6, LENGTHS = 3 };

static const int lengths[LENGTHS] = {65536, 70001, 200000};

static bool is_double;
static double most_absolute;
static double most_relative;
static bool was_quantized;

/* What the numbers of call `call` are: element i of a normal vector times this. */
static double factor_at(int call, int rank, size_t i)
{
    const double size = call >= CALLS - SMALL_CALLS ? 1e-2 : 1;

    switch (call / OF_KIND) {
    case 0:
        return size;
    case 1: /* one in a thousand is large */
        return 0 == (i + (size_t) rank) % 1009 ? 100 * size : size;
    case 2: /* tensors next to each other */
        return 0 == i / 512 % 2 ? size : 1e-3 * size;
    default: /* most are zeros */
        return 0 == i % 20 ? size : 0;
    }
}

static void make_part(int call, int rank, size_t elems, double *part)
{
    SCOPED float *normal = must_alloc((elems + 1) * sizeof(float));

    draw_normal(normal, rank, elems);
    for (size_t i = 0; i < elems; i++) {
        const double value = (double) normal[i] * factor_at(call, rank, i);
        part[i] = is_double ? value : (double) (float) value;
    }
}

static void *store(const double *part, size_t elems)
{
    void *memory = must_alloc(elems * sizeof(double));
    double *doubles = memory;
    float *floats = memory;

    for (size_t i = 0; i < elems; i++) {
        if (is_double) {
            doubles[i] = part[i];
        } else {
            floats[i] = (float) part[i];
        }
    }
    return memory;
}

static double value_at(const void *memory, size_t i)
{
    return is_double ? ((const double *) memory)[i] : (double) ((const float *) memory)[i];
}

static void check_result(int call, const void *result, const double *sum, size_t elems)
{
    double largest = 0;
    double error = 0;

    for (size_t i = 0; i < elems; i++) {
        largest = fmax(largest, fabs(sum[i]));
        error = fmax(error, fabs(value_at(result, i) - sum[i]));
    }
    /* A sum of floats is off by less than this. */
    was_quantized |= error > largest * 1e-5;
    if (most_absolute > 0) {
        tap_check(error <= most_absolute, "call %d: error %g, allowed %g", call, error,
                  most_absolute);
    }
    if (most_relative > 0) {
        tap_check(error <= most_relative * largest, "call %d: error %g of %g, allowed %g", call,
                  error, largest, most_relative * largest);
    }
}

static void run_call(int call)
{
    const size_t elems = (size_t) lengths[call % LENGTHS];
    const size_t bytes = elems * (is_double ? sizeof(double) : sizeof(float));
    const bool in_place = 1 == call / LENGTHS % 2;
    SCOPED double *part = must_alloc(elems * sizeof(double));
    SCOPED double *sum = must_alloc(elems * sizeof(double));

    memset(sum, 0, elems * sizeof(double));
    for (int rank = 0; rank < world_ranks; rank++) {
        make_part(call, rank, elems, part);
        for (size_t i = 0; i < elems; i++) {
            sum[i] += part[i];
        }
    }
    make_part(call, world_rank, elems, part);
    void *send = store(part, elems);
    void *sent = store(part, elems);
    void *receive = in_place ? send : must_alloc(bytes);
    MPI_Allreduce(in_place ? MPI_IN_PLACE : send, receive, (int) elems,
                  is_double ? MPI_DOUBLE : MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    check_result(call, receive, sum, elems);
    tap_check_same(receive, bytes, MPI_COMM_WORLD);
    tap_check(in_place || 0 == memcmp(send, sent, bytes), "call %d: send has changed", call);
    if (!in_place) {
        free(receive);
    }
    free(sent);
    free(send);
}

int main(int argc, char **argv)
{
    bool wants_quantized = false;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('a', most_absolute), OPTION('r', most_relative), OPTION('d', is_double),
                 OPTION('q', wants_quantized));
    for (int call = 0; call < CALLS; call++) {
        run_call(call);
    }
    tap_case("no element is off by more than is allowed, on all ranks with the same bits");
    tap_check(was_quantized || !wants_quantized, "all %d calls were exact", CALLS);
    tap_case("%s", wants_quantized ? "some call was quantized" : "that is all");
    return tap_end();
}
