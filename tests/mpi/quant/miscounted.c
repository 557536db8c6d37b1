/*
 * In an MPI_Allgather one rank sends fewer floats than it says that it receives, which
 * MPI does not allow. That rank gets an error; the others wait for its block, and
 * must not take that of its next call for it: they get an error, too.
 *
 * To be run with coll_arc_timeout.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"

enum { BLOCK = 1 << 17 }; /* of all blocks: from 1 MiB on, quantized by default */

static int gather_blocks(MPI_Comm comm, int send_count)
{
    SCOPED float *in = must_alloc(BLOCK * sizeof *in);
    SCOPED float *out = must_alloc(BLOCK * (size_t) world_ranks * sizeof *out);

    for (int i = 0; i < BLOCK; i++) {
        in[i] = (float) i;
    }
    const int code = MPI_Allgather(in, send_count, MPI_FLOAT, out, BLOCK, MPI_FLOAT, comm);
    return code;
}

int main(int argc, char **argv)
{
    MPI_Comm comm;

    tap_begin(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);

    tap_check(gather_blocks(comm, BLOCK) == MPI_SUCCESS, "it fails");
    tap_case("counts that fit");

    const bool is_wrong = world_rank == world_ranks - 1;
    const int code = gather_blocks(comm, is_wrong ? BLOCK - 1 : BLOCK);
    if (is_wrong) {
        int class = MPI_SUCCESS;

        MPI_Error_class(code, &class);
        tap_check(class == MPI_ERR_COUNT, "code %d, class %d", code, class);
        /* At once, while the others still wait for the call that failed. */
        tap_check(gather_blocks(comm, BLOCK) != MPI_SUCCESS, "the call behind it returns success");
    } else {
        tap_check(code != MPI_SUCCESS, "success without the block of rank %d", world_ranks - 1);
    }
    tap_case("a count that does not fit: no rank takes the next call for this one");
    return tap_end();
}
