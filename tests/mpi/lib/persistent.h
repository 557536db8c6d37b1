/*
 * The persistent collectives of MPI 4, or those of Open MPI 4.1's extension, without info objects.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_TESTS_MPI_PERSISTENT_H
#define ARC_TESTS_MPI_PERSISTENT_H

#include <mpi.h>

/** What the call is called here.  Open MPI 5.0 has those of MPI 4 and says that it is MPI 3.1. */
#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
#define PERSISTENT_CALL(name) MPI_##name
#else
#include <mpi-ext.h>
#define PERSISTENT_CALL(name) MPIX_##name
#endif

/** A nonblocking sum that is waited for at once. */
static inline int nonblocking_allreduce(const void *in, void *out, int count, MPI_Datatype type,
                                        MPI_Op op, MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;
    const int status = MPI_Iallreduce(in, out, count, type, op, comm, &request);

    return MPI_SUCCESS == status ? MPI_Wait(&request, MPI_STATUS_IGNORE) : status;
}

static inline int persistent_allreduce_init(const void *in, void *out, int count, MPI_Datatype type,
                                            MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return PERSISTENT_CALL(Allreduce_init)(in, out, count, type, op, comm, MPI_INFO_NULL, request);
}

static inline int persistent_reduce_scatter_block_init(const void *in, void *out, int count,
                                                       MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                                                       MPI_Request *request)
{
    return PERSISTENT_CALL(Reduce_scatter_block_init)(in, out, count, type, op, comm, MPI_INFO_NULL,
                                                      request);
}

static inline int persistent_allgather_init(const void *in, int in_count, MPI_Datatype in_type,
                                            void *out, int out_count, MPI_Datatype out_type,
                                            MPI_Comm comm, MPI_Request *request)
{
    return PERSISTENT_CALL(Allgather_init)(in, in_count, in_type, out, out_count, out_type, comm,
                                           MPI_INFO_NULL, request);
}

#endif
