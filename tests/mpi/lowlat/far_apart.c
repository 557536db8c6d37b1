/*
 * An operation of the program on a type with an extent of 2^40 bytes, on all ranks or on one only,
 * for which there is no memory: where the type has it the call returns MPI_ERR_NO_MEM, elsewhere
 * the sums are right, and so are those of the next call. For coll_lowlat on one node.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#include "config.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include "harness.h"

enum { COUNT = 10, NOBODY = -1, SOMEBODY_NEAR = -2 };

static const MPI_Aint near_extent = sizeof(double);
static const MPI_Aint far_extent = (MPI_Aint) 1 << 40;
/* What a process may map in all: the vector, but not two copies of it in addition. */
static const rlim_t far_limit = (rlim_t) 1 << 44;

#ifdef __SANITIZE_ADDRESS__
static const bool sanitized = true; /* the shadow of the memory alone is more than far_limit */
#else
static const bool sanitized = false;
#endif

static MPI_Aint extent;

static void sum_op(void *in, void *inout, int *count, MPI_Datatype *type)
{
    for (int i = 0; i < *count; i++) {
        *(double *) ((char *) inout + i * extent) += *(double *) ((char *) in + i * extent);
    }
}

/* `far_rank` has the type of huge extent; NOBODY: all have, SOMEBODY_NEAR: none has. */
static void check_sum(MPI_Op op, int far_rank, int count)
{
    const bool far = far_rank == NOBODY || far_rank == world_rank;
    const int wanted = far && count > 1 ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    MPI_Datatype type;

    extent = far ? far_extent : near_extent;
    const size_t bytes = (size_t) (count - 1) * (size_t) extent + sizeof(double);
    unsigned char *vector = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (vector == MAP_FAILED) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Type_create_resized(MPI_DOUBLE, 0, extent, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < count; i++) {
        *(double *) (vector + i * extent) = i + world_rank;
    }
    const int status = MPI_Allreduce(MPI_IN_PLACE, vector, count, type, op, MPI_COMM_WORLD);
    tap_check(status == wanted, "count %d: status %d instead of %d", count, status, wanted);
    for (int i = 0; i < count && status == MPI_SUCCESS; i++) {
        const double expected = (double) i * world_ranks + world_ranks * (world_ranks - 1) / 2;
        const double got = *(double *) (vector + i * extent);
        tap_check(got == expected, "element %d of %d is %g instead of %g", i, count, got, expected);
    }
    munmap(vector, bytes);
    MPI_Type_free(&type);
}

/* Malloc must fail here, also where the system promises more memory than it has. */
static void limit_memory(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_AS, &limit) != 0) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > far_limit) {
        limit.rlim_cur = far_limit;
        setrlimit(RLIMIT_AS, &limit);
    }
}

int main(int argc, char **argv)
{
    MPI_Op op;

    tap_begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Op_create(sum_op, 1, &op);
    if (!sanitized) {
        limit_memory();
        for (int far_rank = NOBODY; far_rank < world_ranks; far_rank++) {
            check_sum(op, far_rank, 1);
            check_sum(op, far_rank, COUNT);
            check_sum(op, SOMEBODY_NEAR, 1000);
        }
    }
    tap_case("no memory for elements that are far from each other");
    MPI_Op_free(&op);
    return tap_end();
}
