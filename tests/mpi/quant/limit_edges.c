/*
 * What a limit of the error, and 16-bit floats, meet seldom.  With coll_quant_target_rel 1e-2 no
 * finite element of a result is farther from the exact sum than that part of the largest one:
 *
 *   -f    with coll_quant_error_feedback 1, where the call before left more than numbers, now
 *         smaller, are allowed to be off
 *   -n    where an element is a NaN, and the others are smaller than before
 *   -m    where one rank has no memory to keep what is sent, and the call stays exact
 *
 * And of 16-bit floats, without a limit, with coll_quant_verify_every 2 and coll_quant_types fp16:
 *
 *   -v    a call that is verified has the bits of the same call that is not, also where a sum is
 *         the largest finite number, and another one a NaN
 *
 * And with coll_quant_types bf16, where one rank has no memory to widen all numbers:
 *
 *   -w    a sum that is quantized needs none: the second call, which is not verified then, is as
 *         good as the first
 *   -p    calls are passed down, for which it does need it.  No other rank can know: that rank gets
 *         an MPI error, its buffer is as it was, and nothing was sent.  Nor is a later call of it
 *         taken for that one
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "calls.h"
#include "footprint.h"
#include "harness.h"

enum {
    ELEMS = 65536,
    LARGE_ELEMS = 1 << 24,
    LARGEST_HALF = 0x7bff, /* 65504 */
    NAN_HALF = 0x7e00,
    ONE_HALF = 0x3c00,
    WIDE_ELEMS = 1 << 23, /* 32 MiB when widened */
    UNTOUCHED = 0x4711,
};

static const double limit = 1e-2;
static bool has_nan;

static float normals[ELEMS];
static double exact[ELEMS]; /* sums of the normals */
static float numbers[ELEMS];
static float result[ELEMS];

static void draw_all(void)
{
    for (int rank = 0; rank < world_ranks; rank++) {
        draw_normals(rank, 0, ELEMS, normals);
        for (size_t i = 0; i < ELEMS; i++) {
            exact[i] += (double) normals[i];
        }
    }
    draw_normals(world_rank, 0, ELEMS, normals);
}

/* The sum of numbers `factor`, a power of two, times as large as the normals. */
static void check_sum(const char *what, float factor)
{
    double worst = 0;
    double largest = 0;

    for (size_t i = 0; i < ELEMS; i++) {
        numbers[i] = factor * normals[i];
    }
    if (has_nan && world_rank == 0) {
        numbers[0] = NAN;
    }
    MPI_Allreduce(numbers, result, ELEMS, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    tap_check(!has_nan || isnan(result[0]), "%s: a NaN has become %g", what, (double) result[0]);
    for (size_t i = has_nan; i < ELEMS; i++) {
        worst = fmax(worst, fabs((double) result[i] - (double) factor * exact[i]));
        largest = fmax(largest, fabs((double) factor * exact[i]));
        tap_check(isfinite(result[i]), "%s: element %zu is %g", what, i, (double) result[i]);
    }
    tap_check(worst <= limit * largest, "%s: error %g of %g", what, worst, largest);
}

static void check_feedback(void)
{
    static float zeros[ELEMS];
    static float other[ELEMS];

    check_sum("first", 1);
    check_sum("second", 1);
    /* From now on a sum of this length is expected to be 0. */
    MPI_Allreduce(zeros, other, ELEMS, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    for (int call = 0; call < 4; call++) {
        check_sum("eighth", 0x1p-3f);
    }
    tap_case("what larger numbers left does not exceed the limit of smaller ones");
}

static void check_nan(void)
{
    check_sum("first", 1);
    check_sum("second", 1);
    has_nan = true;
    check_sum("beside a NaN", 0x1p-10f);
    check_sum("again", 0x1p-10f);
    tap_case("finite elements beside a NaN keep the limit");
}

static void draw_small(int rank, size_t first, size_t count, float *out)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = (float) (rank + (int) ((first + i) % 1000));
    }
}

static void check_memory(void)
{
    call_t call = call_of(ALLREDUCE, draw_small, LARGE_ELEMS);

    call.in_place = true;
    for (int number = 0; number < 3; number++) {
        call.is_short = number == 0;
        const errors_t errors = call_run(&call, NULL);
        tap_check(errors.worst <= (number == 0 ? 0 : limit * errors.largest), "call %d: error %g",
                  number, errors.worst);
    }
    tap_case("a call that has no memory to be made again is exact");
}

/* All numbers are those of rank 0, the largest ones, which int8 cannot have exactly. */
static void check_verified(void)
{
    static uint16_t send[ELEMS];
    static uint16_t receive[2][ELEMS];

    for (size_t i = 0; i < ELEMS; i++) {
        send[i] = world_rank > 0 ? 0 : i % 3 == 0 ? ONE_HALF : LARGEST_HALF;
    }
    send[0] = world_rank == 0 ? NAN_HALF : 0;
    for (int call = 0; call < 2; call++) {
        MPI_Allreduce(send, receive[call], ELEMS, MPI_UINT16_T, MPI_SUM, MPI_COMM_WORLD);
    }
    for (size_t i = 1; i < ELEMS; i++) {
        /* In the segment of the NaN it need not be finite. */
        tap_check(i < ELEMS / 2 || (receive[0][i] & 0x7fff) <= LARGEST_HALF, "element %zu is %#x",
                  i, receive[0][i]);
        tap_check(receive[1][i] == receive[0][i], "element %zu is %#x, verified %#x", i,
                  receive[0][i], receive[1][i]);
    }
    tap_check((receive[0][0] & 0x7fff) > 0x7c00 && (receive[1][0] & 0x7fff) > 0x7c00,
              "a NaN is %#x, verified %#x", receive[0][0], receive[1][0]);
    tap_case("a call that is verified has the bits of one that is not");
}

/* ---- 16-bit floats that cannot be widened ---- */

static void draw_ones(int rank, size_t first, size_t count, float *out)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = 1;
    }
}

static void check_ones(const char *what, MPI_Comm comm, bool is_short)
{
    call_t call = call_of(ALLREDUCE, draw_ones, WIDE_ELEMS);

    call.comm = comm;
    call.numbers = numbers_named("bf16");
    call.is_short = is_short;
    tap_check(call_run(&call, NULL).off == 0, "%s: it is not exact", what);
    tap_case("%s: a sum of ones", what);
}

/* The last rank is alone with its calls: the others would wait for it. */
static void check_refused(MPI_Comm comm)
{
    SCOPED uint16_t *in = must_alloc(WIDE_ELEMS * sizeof *in);
    SCOPED uint16_t *out = must_alloc(WIDE_ELEMS * sizeof *out);
    int class = MPI_SUCCESS;

    for (size_t i = 0; i < WIDE_ELEMS; i++) {
        in[i] = out[i] = UNTOUCHED;
    }
    if (world_rank == world_ranks - 1) {
        shortage_begin(SHORTAGE_BYTES);
        MPI_Error_class(MPI_Allreduce(in, out, WIDE_ELEMS, MPI_UINT16_T, MPI_SUM, comm), &class);
        shortage_end();
        tap_check(class == MPI_ERR_NO_MEM, "class %d", class);
        tap_check(memcmp(in, out, WIDE_ELEMS * sizeof *in) == 0, "it is written");
        tap_check(MPI_Allreduce(in, out, WIDE_ELEMS, MPI_UINT16_T, MPI_SUM, comm) != MPI_SUCCESS,
                  "a later call returns success");
    }
    tap_case("no memory to widen: errors on that rank, and nothing written there");
}

static void check_widened(bool passed_down)
{
    MPI_Comm comm = dup_of(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    check_ones("with memory", comm, false);
    if (passed_down) {
        check_refused(comm);
    } else {
        check_ones("without memory to widen all", comm, true);
    }
    check_ones("on another communicator", MPI_COMM_WORLD, false);
}

int main(int argc, char **argv)
{
    bool feedback = false;
    bool nan_beside = false;
    bool memory = false;
    bool verified = false;
    bool widened = false;
    bool passed_down = false;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('f', feedback), OPTION('n', nan_beside), OPTION('m', memory),
                 OPTION('v', verified), OPTION('w', widened), OPTION('p', passed_down));
    draw_all();
    if (feedback) {
        check_feedback();
    }
    if (nan_beside) {
        check_nan();
    }
    if (memory) {
        check_memory();
    }
    if (verified) {
        check_verified();
    }
    if (widened || passed_down) {
        check_widened(passed_down);
    }
    return tap_end();
}
