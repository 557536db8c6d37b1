/*
 * MPI_Allreduce, MPI_Reduce_scatter_block and MPI_Allgather of every test program, and of the
 * benchmark.  Where the environment says so they are nonblocking calls, or persistent requests,
 * each with a wait at once: so every test of the blocking ones is one of these, too.
 *
 *   ARC_DEFERRED   nonblocking
 *                  persistent: a request for each call, started twice
 *                  kept: a request for all allreduces of the same arguments
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "persistent.h"

typedef enum how { UNKNOWN, BLOCKING, NONBLOCKING, PERSISTENT, KEPT } how_t;

static how_t how(void)
{
    static how_t known;

    if (UNKNOWN == known) {
        const char *said = getenv("ARC_DEFERRED");

        known = NULL == said                       ? BLOCKING
                : 0 == strcmp(said, "nonblocking") ? NONBLOCKING
                : 0 == strcmp(said, "persistent")  ? PERSISTENT
                : 0 == strcmp(said, "kept")        ? KEPT
                                                   : (abort(), BLOCKING);
    }
    return known;
}

/* The request for these arguments, which is made when they are met first; they are never freed. */
static MPI_Request *kept_request(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,
                                 MPI_Comm comm)
{
    enum { KEPT_MOST = 128 };
    static struct kept {
        const void *in;
        void *out;
        int count;
        MPI_Datatype type;
        MPI_Op op;
        MPI_Comm comm;
        MPI_Request request;
    } all[KEPT_MOST], *last = all;
    static int used;

    for (int i = -1; i < used; i++) {
        struct kept *kept = i < 0 ? last : &all[i];

        if (in == kept->in && out == kept->out && count == kept->count && type == kept->type &&
            op == kept->op && comm == kept->comm) {
            last = kept;
            return &kept->request;
        }
    }
    if (KEPT_MOST == used) {
        abort();
    }
    struct kept *made = &all[used++];
    *made = (struct kept){in, out, count, type, op, comm, MPI_REQUEST_NULL};
    (void) persistent_allreduce_init(in, out, count, type, op, comm, &made->request);
    return &made->request;
}

/* What a start returned, and the wait for it. */
static int finish(int status, MPI_Request *request)
{
    return MPI_SUCCESS == status ? MPI_Wait(request, MPI_STATUS_IGNORE) : status;
}

/* Twice where the summands are still there: the second time gives the same. */
static int run_persistent(int status, MPI_Request *request, bool again)
{
    for (int start = 0; start < (again ? 2 : 1) && MPI_SUCCESS == status; start++) {
        status = MPI_Start(request);
        if (MPI_SUCCESS == status) {
            status = MPI_Wait(request, MPI_STATUS_IGNORE);
        }
    }
    if (MPI_REQUEST_NULL != *request) {
        const int freed = MPI_Request_free(request);
        status = MPI_SUCCESS == status ? freed : status;
    }
    return status;
}

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;

    switch (how()) {
    case NONBLOCKING:
        return nonblocking_allreduce(in, out, count, type, op, comm);
    case PERSISTENT:
        return run_persistent(persistent_allreduce_init(in, out, count, type, op, comm, &request),
                              &request, MPI_IN_PLACE != in);
    case KEPT: {
        MPI_Request *kept = kept_request(in, out, count, type, op, comm);

        return finish(MPI_Start(kept), kept);
    }
    default:
        return PMPI_Allreduce(in, out, count, type, op, comm);
    }
}

int MPI_Reduce_scatter_block(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;

    switch (how()) {
    case NONBLOCKING:
        return finish(MPI_Ireduce_scatter_block(in, out, count, type, op, comm, &request),
                      &request);
    case PERSISTENT:
        return run_persistent(
            persistent_reduce_scatter_block_init(in, out, count, type, op, comm, &request),
            &request, MPI_IN_PLACE != in);
    default:
        return PMPI_Reduce_scatter_block(in, out, count, type, op, comm);
    }
}

int MPI_Allgather(const void *in, int in_count, MPI_Datatype in_type, void *out, int out_count,
                  MPI_Datatype out_type, MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;

    switch (how()) {
    case NONBLOCKING:
        return finish(
            MPI_Iallgather(in, in_count, in_type, out, out_count, out_type, comm, &request),
            &request);
    case PERSISTENT:
        return run_persistent(persistent_allgather_init(in, in_count, in_type, out, out_count,
                                                        out_type, comm, &request),
                              &request, MPI_IN_PLACE != in);
    default:
        return PMPI_Allgather(in, in_count, in_type, out, out_count, out_type, comm);
    }
}
