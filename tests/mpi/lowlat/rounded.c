/*
 * The error of sums of 16-bit floats, against sums in double precision of the same numbers, which
 * are normally distributed. No element is farther off than
 *
 *   ((1 + u)^R (1 + 2^-24)^(P-1) - 1) (|x0| + |x1| + ...) + R q / 2
 *
 * with P ranks, R roundings of an element on its way to 16 bits (u: half a unit in the last
 * place, relative; q: the least number), and P - 1 additions of floats. What is rounded on the
 * way shows in the mean: each rounding adds about as much as the first one, so that the
 * normalized mean square error, NMSE, tells how often partial sums were rounded.
 *
 * With -e the numbers are evenly distributed from 0 to 32, which gives the mean absolute errors of
 * "Latency-optimal allreduce and cuda graph optimization", section "Numerical accuracy".
 *
 *   -f TYPE   bf16 or fp16, in MPI_UINT16_T
 *   -n        in Open MPI's own type of fp16
 *   -r R      roundings
 *   -l N      elements
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "calls.h"
#include "half_oracle.h"
#include "harness.h"
#include "numbers.h"

enum {
    ELEMENTS = 100000,
    CALLS = 2, /* each algorithm sets up in one */
    EVEN_LIMIT = 32,
};

static const half_format_t *half;
static bool even;

static double part(int of_rank, int i)
{
    float drawn;

    draw_normals(of_rank, (size_t) i, 1, &drawn);
    return half_number(
        half,
        half_round(half, even ? EVEN_LIMIT * erfc(-(double) drawn / sqrt(2)) / 2 : (double) drawn));
}

static double bound(double magnitudes, int roundings)
{
    const double unit = ldexp(1, -half->fraction_bits - 1);
    const double least = ldexp(1, 1 - half->bias - half->fraction_bits);
    const double growth = pow(1 + unit, roundings) * pow(1 + ldexp(1, -24), world_ranks - 1) - 1;

    return growth * magnitudes + roundings * least / 2;
}

/** Compare; tell the NMSE, the largest error of its bound's, the mean absolute error. */
static void check_sums(const uint16_t *sums, int count, int roundings)
{
    double error_squares = 0;
    double once_squares = 0;
    double squares = 0;
    double largest = 0;
    double mean = 0;
    double once_mean = 0;
    double stepwise_mean = 0;

    for (int i = 0; i < count; i++) {
        double exact = 0;
        double magnitudes = 0;
        double stepwise = 0; /* rounded after each addition, in the order of the ranks */

        for (int r = 0; r < world_ranks; r++) {
            exact += part(r, i);
            magnitudes += fabs(part(r, i));
            stepwise = half_number(half, half_round(half, stepwise + part(r, i)));
        }
        const double error = half_number(half, sums[i]) - exact;
        const double once = half_number(half, half_round(half, exact)) - exact;
        error_squares += error * error;
        once_squares += once * once;
        squares += exact * exact;
        mean += fabs(error) / count;
        once_mean += fabs(once) / count;
        stepwise_mean += fabs(stepwise - exact) / count;
        largest = fmax(largest, fabs(error) / bound(magnitudes, roundings));
        tap_check(fabs(error) <= bound(magnitudes, roundings), "element %d is off by %g, bound %g",
                  i, error, bound(magnitudes, roundings));
    }
    tap_note("%s, %d ranks, %d roundings: NMSE %.3g, rounded once %.3g, worst error/bound %.2f",
             half->name, world_ranks, roundings, error_squares / squares, once_squares / squares,
             largest);
    tap_note("mean error %.7f, rounded once %.7f, at each addition %.7f", mean, once_mean,
             stepwise_mean);
    /* One rounding and float additions; or more, of partial sums that are smaller. */
    const double ratio = error_squares / once_squares;
    tap_check(roundings > 1 ? ratio > 1.2 && ratio < roundings + 1 : ratio < 1.01,
              "%.3f times the error of one rounding", ratio);
    tap_case("%s: sums are within the bound of %d roundings", half->name, roundings);
}

int main(int argc, char **argv)
{
    const char *half_name = "";
    int count = ELEMENTS;
    int roundings = 1;
    bool native = false;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('f', half_name), OPTION('r', roundings), OPTION('l', count),
                 OPTION('e', even), OPTION('n', native));
    half = half_by_name(half_name);
    const MPI_Datatype type = native ? half_native_type() : MPI_UINT16_T;
    if (half == NULL || count < 1 || MPI_DATATYPE_NULL == type) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    SCOPED uint16_t *send = must_alloc((size_t) count * sizeof *send);
    SCOPED uint16_t *receive = must_alloc((size_t) count * sizeof *receive);
    for (int i = 0; i < count; i++) {
        send[i] = half_round(half, part(world_rank, i));
    }
    for (int call = 0; call < CALLS; call++) {
        MPI_Allreduce(send, receive, count, type, MPI_SUM, MPI_COMM_WORLD);
    }
    check_sums(receive, count, roundings);
    return tap_end();
}
