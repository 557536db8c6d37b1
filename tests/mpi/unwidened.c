/*
 * A sum of 16-bit floats for which one rank has no memory to widen them. No other rank can know.
 * That rank gets an MPI error and its buffer is as it was; the others get an error after their
 * time limit; and no call after that is taken for the one that failed, on any rank.
 *
 * To be run with coll_quant_timeout, coll_quant_uint16_as bf16 and coll_quant_verify_every, for
 * which all numbers are widened at once.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "shortage.h"

enum {
    ELEMS = 1 << 23,        /* 32 MiB when widened */
    SLACK_BYTES = 24 << 20, /* less than that */
    BF16_SHIFT = 16,        /* bf16 is the upper half of a float */
    UNTOUCHED = 0x4711,
};

static uint16_t bf16_of(float value)
{
    uint32_t bits = 0;

    memcpy(&bits, &value, sizeof bits);
    return (uint16_t) (bits >> BF16_SHIFT);
}

static void fill(uint16_t *data, uint16_t value)
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

static int sum(MPI_Comm comm, const uint16_t *in, uint16_t *out)
{
    return MPI_Allreduce(in, out, ELEMS, MPI_UINT16_T, MPI_SUM, comm);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    int rank = 0;
    int ranks = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    tap_start();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    uint16_t *in = must_alloc(ELEMS * sizeof *in);
    uint16_t *out = must_alloc(ELEMS * sizeof *out);

    fill(in, bf16_of(1));
    tap_check(sum(comm, in, out) == MPI_SUCCESS, "it fails with memory");
    check_all(out, bf16_of((float) ranks), "with memory");
    tap_case("a sum of ones");

    fill(out, UNTOUCHED);
    const bool is_short = rank == ranks - 1;
    if (is_short) {
        shortage_begin(SLACK_BYTES);
    }
    const int code = sum(comm, in, out);
    shortage_end();
    if (is_short) {
        int class = MPI_SUCCESS;

        MPI_Error_class(code, &class);
        tap_check(class == MPI_ERR_NO_MEM, "code %d, class %d", code, class);
        check_all(out, UNTOUCHED, "without memory");
    } else {
        tap_check(code != MPI_SUCCESS, "success without rank %d", ranks - 1);
    }
    tap_case("no memory to widen: an error on all ranks, and nothing written on that one");
    tap_check(sum(comm, in, out) != MPI_SUCCESS, "a later call returns success");
    tap_case("later calls on the communicator return an error");
    tap_check(sum(MPI_COMM_WORLD, in, out) == MPI_SUCCESS, "it fails");
    check_all(out, bf16_of((float) ranks), "another communicator");
    tap_case("another communicator is as good as before");
    free(in);
    free(out);
    tap_finish();
    MPI_Finalize();
    return EXIT_SUCCESS;
}
