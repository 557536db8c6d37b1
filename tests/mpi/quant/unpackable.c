/*
 * In an MPI_Allgather one rank has a derived type, and no memory to pack it. No other
 * rank can know. That rank gets an MPI error and its buffer is as it was; the others get
 * an error after their time limit; and no call after that, of whatever data, is taken
 * for the one that failed, on any rank.
 *
 *   -c   that rank has memory, but sends fewer floats than it says that it receives, which MPI
 *        does not allow
 *
 * To be run with coll_arc_timeout.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "footprint.h"
#include "harness.h"

enum {
    ELEMS = 1 << 23, /* of all blocks: 32 MiB to pack */
    UNTOUCHED = -1,
    RANGE = 1000,
};

static bool miscounts; /* -c */

/* Block r has r + 1 + shift + i % 1000. One call; its code, and if it is right. */
static int gather_blocks(MPI_Comm comm, float *out, int block, MPI_Datatype type, int shift)
{
    SCOPED float *in = must_alloc((size_t) block * sizeof *in);

    for (int i = 0; i < block; i++) {
        in[i] = (float) (world_rank + 1 + shift + i % RANGE);
    }
    const bool is_wrong = world_rank == world_ranks - 1 && shift < 0;
    const int sent = is_wrong && miscounts ? block - 1 : block;
    if (is_wrong && !miscounts) {
        shortage_begin(SHORTAGE_BYTES);
    }
    const int code = MPI_Allgather(in, sent, MPI_FLOAT, out, block, type, comm);
    shortage_end();
    return code;
}

static void check_values(const float *out, int block, int stride, int shift, const char *what)
{
    for (int i = 0; i < block * world_ranks; i++) {
        const double exact = i / block + 1 + shift + i % block % RANGE;

        /* Half a step of 8 bits is less than a hundredth of the largest number. */
        tap_check(out[i * stride] > (float) exact - 0.01f * RANGE &&
                      out[i * stride] < (float) exact + 0.01f * RANGE,
                  "%s: element %d is %g, not %g", what, i, (double) out[i * stride], exact);
    }
}

/* All three collectives of the component. */
static void check_broken(MPI_Comm comm, float *data, int block)
{
    SCOPED float *results = must_alloc((size_t) block * (size_t) world_ranks * sizeof *results);

    tap_check(gather_blocks(comm, results, block, MPI_FLOAT, 1) != MPI_SUCCESS,
              "an allgather returns success");
    tap_check(MPI_Reduce_scatter_block(data, results, block, MPI_FLOAT, MPI_SUM, comm) !=
                  MPI_SUCCESS,
              "a reduce_scatter_block returns success");
    tap_check(MPI_Allreduce(data, results, block, MPI_FLOAT, MPI_SUM, comm) != MPI_SUCCESS,
              "an allreduce returns success");
}

int main(int argc, char **argv)
{
    MPI_Datatype wide;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('c', miscounts));
    MPI_Comm comm = dup_of(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Type_create_resized(MPI_FLOAT, 0, 2 * sizeof(float), &wide);
    MPI_Type_commit(&wide);

    const int block = ELEMS / world_ranks;
    const size_t places = 2 * (size_t) block * (size_t) world_ranks;
    const bool is_wide = world_rank == world_ranks - 1;
    MPI_Datatype type = is_wide ? wide : MPI_FLOAT;
    const int stride = is_wide ? 2 : 1;
    SCOPED float *out = must_alloc(places * sizeof *out);

    MPI_Barrier(MPI_COMM_WORLD);
    tap_check(gather_blocks(comm, out, block, type, 0) == MPI_SUCCESS, "it fails with memory");
    check_values(out, block, stride, 0, "with memory");
    tap_case("a type that is packed on one rank");

    for (size_t i = 0; i < places; i++) {
        out[i] = UNTOUCHED;
    }
    const int code = gather_blocks(comm, out, block, type, -1);
    if (is_wide) {
        int class = MPI_SUCCESS;

        MPI_Error_class(code, &class);
        tap_check(class == (miscounts ? MPI_ERR_COUNT : MPI_ERR_NO_MEM), "code %d, class %d", code,
                  class);
        for (size_t i = 0; i < places; i++) {
            tap_check(out[i] == UNTOUCHED, "place %zu was written", i);
        }
        /* At once, while the others still wait for the call that failed. */
        check_broken(comm, out, block);
    } else {
        tap_check(code != MPI_SUCCESS, "success without the block of rank %d", world_ranks - 1);
    }
    tap_case("%s: an error on all ranks, and nothing written on that one",
             miscounts ? "a count that does not fit" : "no memory to pack");
    check_broken(comm, out, block);
    tap_case("later calls on the communicator return an error");

    /* The time limit of the next call must not run while others still wait for theirs. */
    MPI_Barrier(MPI_COMM_WORLD);
    tap_check(gather_blocks(MPI_COMM_WORLD, out, block, type, 2) == MPI_SUCCESS, "it fails");
    check_values(out, block, stride, 2, "another communicator");
    tap_case("another communicator is as good as before");
    MPI_Type_free(&wide);
    return tap_end();
}
