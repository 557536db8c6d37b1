/*
 * A program with coll_quant_target_abs or coll_quant_target_rel: no element of any result is
 * farther from the exact sum than that, and all ranks have the same bits; for numbers of all
 * sizes, in place and not, and sizes that change from call to call.
 *
 *   -a X    coll_quant_target_abs is X
 *   -r X    coll_quant_target_rel is X
 *   -d      doubles
 *   -l N    N lengths in turn
 *   -q      some call is to be quantized
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "calls.h"
#include "harness.h"

/* Of each kind of numbers so many calls; the last ones of all have small numbers. */
enum { OF_KIND = 12, KINDS = 4, CALLS = OF_KIND * KINDS, SMALL_CALLS = 6, LENGTHS = 3 };

static const size_t lengths[LENGTHS] = {65536, 70001, 200000};
static int many_lengths;

static double most_absolute;
static double most_relative;
static bool was_quantized;
static int running; /* the number of the call */

/* What the numbers of the call are: element i of a normal vector times this. */
static float factor_at(int rank, size_t i)
{
    const float size = running >= CALLS - SMALL_CALLS ? 1e-2f : 1;

    switch (running / OF_KIND) {
    case 0:
        return size;
    case 1: /* one in a thousand is large */
        return 0 == (i + (size_t) rank) % 1009 ? 100 * size : size;
    case 2: /* tensors next to each other */
        return 0 == i / 512 % 2 ? size : 1e-3f * size;
    default: /* most are zeros */
        return 0 == i % 20 ? size : 0;
    }
}

static void draw(int rank, size_t first, size_t count, float *out)
{
    draw_normals(rank, first, count, out);
    for (size_t i = 0; i < count; i++) {
        out[i] *= factor_at(rank, first + i);
    }
}

static void run_call(const char *type)
{
    const size_t elems = many_lengths == 0 ? lengths[running % LENGTHS]
                                           : lengths[0] + (size_t) (running % many_lengths);
    call_t call = call_of(ALLREDUCE, draw, elems);

    call.numbers = numbers_named(type);
    call.in_place = 1 == running / LENGTHS % 2;
    const errors_t errors = call_run(&call, NULL);
    /* A sum of floats is off by less than this. */
    was_quantized |= errors.worst > errors.largest * 1e-5;
    tap_check(0 == most_absolute || errors.worst <= most_absolute, "call %d: error %g, allowed %g",
              running, errors.worst, most_absolute);
    tap_check(0 == most_relative || errors.worst <= most_relative * errors.largest,
              "call %d: error %g of %g, allowed %g", running, errors.worst, errors.largest,
              most_relative * errors.largest);
}

int main(int argc, char **argv)
{
    bool wants_quantized = false;
    bool is_double = false;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('a', most_absolute), OPTION('r', most_relative), OPTION('d', is_double),
                 OPTION('l', many_lengths), OPTION('q', wants_quantized));
    for (running = 0; running < CALLS; running++) {
        run_call(is_double ? "double" : "float");
    }
    tap_case("no element is off by more than is allowed, on all ranks with the same bits");
    if (wants_quantized) {
        tap_check(was_quantized, "all %d calls were exact", CALLS);
        tap_case("some call was quantized");
    }
    return tap_end();
}
