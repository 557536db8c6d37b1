/*
 * A sum of 16-bit floats for which one rank has no memory to widen them all.  Where it is quantized
 * it needs none: the second call, which is not verified then, is as good as the first.
 *
 *   -p   calls are passed down, for which it does need it.  No other rank can know: that rank gets
 *        an MPI error, its buffer is as it was, and nothing was sent.  Nor is a later call of it
 *        taken for that one
 *
 * To be run with coll_quant_types bf16.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"
#include "numbers.h"
#include "shortage.h"

enum {
    ELEMS = 1 << 23,        /* 32 MiB when widened */
    SLACK_BYTES = 24 << 20, /* less than that */
    UNTOUCHED = 0x4711,
};

static uint16_t bf16_of(float value)
{
    const numbers_t numbers = numbers_named("bf16");
    uint16_t written = 0;

    numbers_write(&numbers, &written, 0, value);
    return written;
}

static void fill_vector(uint16_t *data, uint16_t value)
{
    for (size_t i = 0; i < ELEMS; i++) {
        data[i] = value;
    }
}

static void check_all(const uint16_t *data, uint16_t value, const char *what)
{
    for (size_t i = 0; i < ELEMS; i++) {
        tap_check(data[i] == value, "%s: element %zu is %#x, not %#x", what, i, data[i], value);
    }
}

static int sum_vector(MPI_Comm comm, const uint16_t *in, uint16_t *out)
{
    return MPI_Allreduce(in, out, ELEMS, MPI_UINT16_T, MPI_SUM, comm);
}

/* The last rank is alone with its call: the others would wait for it. */
static void check_refused(MPI_Comm comm, const uint16_t *in, uint16_t *out)
{
    if (world_rank == world_ranks - 1) {
        int class = MPI_SUCCESS;

        fill_vector(out, UNTOUCHED);
        shortage_begin(SLACK_BYTES);
        MPI_Error_class(sum_vector(comm, in, out), &class);
        shortage_end();
        tap_check(class == MPI_ERR_NO_MEM, "class %d", class);
        check_all(out, UNTOUCHED, "without memory");
        tap_check(sum_vector(comm, in, out) != MPI_SUCCESS, "a later call returns success");
    }
    tap_case("no memory to widen: errors on that rank, and nothing written there");
}

static void check_served(MPI_Comm comm, const uint16_t *in, uint16_t *out)
{
    fill_vector(out, UNTOUCHED);
    if (world_rank == world_ranks - 1) {
        shortage_begin(SLACK_BYTES);
    }
    tap_check(sum_vector(comm, in, out) == MPI_SUCCESS, "it fails without memory to widen all");
    shortage_end();
    check_all(out, bf16_of((float) world_ranks), "without memory to widen all");
    tap_case("a sum without memory to widen all");
}

int main(int argc, char **argv)
{
    MPI_Comm comm;

    tap_begin(&argc, &argv);
    bool passed_down = false;
    TAKE_OPTIONS(OPTION('p', passed_down));
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    SCOPED uint16_t *in = must_alloc(ELEMS * sizeof *in);
    SCOPED uint16_t *out = must_alloc(ELEMS * sizeof *out);

    fill_vector(in, bf16_of(1));
    tap_check(sum_vector(comm, in, out) == MPI_SUCCESS, "it fails with memory");
    check_all(out, bf16_of((float) world_ranks), "with memory");
    tap_case("a sum of ones");

    (passed_down ? check_refused : check_served)(comm, in, out);
    tap_check(sum_vector(MPI_COMM_WORLD, in, out) == MPI_SUCCESS, "it fails");
    check_all(out, bf16_of((float) world_ranks), "another communicator");
    tap_case("another communicator is as good as before");
    return tap_end();
}
