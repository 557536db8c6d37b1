/*
 * A network that takes puts and answers none, as behind a firewall: the ranks find that out and use
 * messages, and from then on nothing may be asked of UCX any more.  It would end the process, when
 * it gives the connections up, in whatever call drives or closes them.
 *
 * The network is UCX over shared memory, to be run on declared nodes with
 * coll_lowlat_nodes_transport puts, but for a few functions, which the component gets from the
 * dlsym() of this program.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "config.h"

#include <dlfcn.h>

#include "harness.h"

enum { ELEMS = 3000, SUMS = 500, UCX_IN_PROGRESS = 1 };

static bool is_given_up; /* the first sum has come to its end, by messages */
static int unanswered;   /* the request of all puts */

static int (*real_check_status)(void *request);
static void (*real_free)(void *request);
static unsigned (*real_progress)(void *worker);

static void must_not(const char *what)
{
    fprintf(stderr, "unanswered: after the ranks gave it up, UCX had to %s\n", what);
    abort();
}

/* Their arguments are of no interest. */
static void *put(void)
{
    if (is_given_up) {
        must_not("put");
    }
    return &unanswered;
}

static void *flush(void)
{
    must_not("flush");
    return NULL;
}

static void *end(void)
{
    must_not("close what it has");
    return NULL;
}

static int check_status(void *request)
{
    return request == &unanswered ? UCX_IN_PROGRESS : real_check_status(request);
}

static void free_request(void *request)
{
    if (request != &unanswered) {
        real_free(request);
    }
}

static unsigned progress(void *worker)
{
    if (is_given_up) {
        must_not("go on");
    }
    return real_progress(worker);
}

/* The dynamic linker finds this one before its own (-export-dynamic). */
__attribute__((visibility("default"))) void *dlsym(void *handle, const char *name)
{
    static const struct {
        const char *name;
        void *ours;
        void *real; /* where its address goes */
    } functions[] = {
        {"ucp_put_nbx", (void *) put, NULL},
        {"ucp_ep_flush_nbx", (void *) flush, NULL},
        {"ucp_ep_close_nbx", (void *) end, NULL},
        {"ucp_worker_destroy", (void *) end, NULL},
        {"ucp_request_check_status", (void *) check_status, &real_check_status},
        {"ucp_request_free", (void *) free_request, &real_free},
        {"ucp_worker_progress", (void *) progress, &real_progress},
    };
    static void *(*real_dlsym)(void *, const char *);

    if (real_dlsym == NULL) {
        void *found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
        memcpy(&real_dlsym, &found, sizeof real_dlsym);
    }
    void *found = real_dlsym(handle, name);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (found != NULL && strcmp(functions[i].name, name) == 0) {
            if (functions[i].real != NULL) {
                memcpy(functions[i].real, &found, sizeof found);
            }
            return functions[i].ours;
        }
    }
    return found;
}

static void sum(MPI_Comm comm)
{
    static int data[ELEMS];
    static int sums[ELEMS];
    int rank, ranks;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int i = 0; i < ELEMS; i++) {
        data[i] = i + rank;
    }
    MPI_Allreduce(data, sums, ELEMS, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < ELEMS; i++) {
        if (!tap_check(sums[i] == ranks * i + ranks * (ranks - 1) / 2, "element %d is %d", i,
                       sums[i])) {
            return;
        }
    }
}

int main(int argc, char **argv)
{
    MPI_Comm comm;

    tap_begin(&argc, &argv);
    sum(MPI_COMM_WORLD);
    tap_check(real_progress != NULL, "the component has not asked for ucp_worker_progress");
    is_given_up = true;
    for (int i = 0; i < SUMS; i++) {
        sum(MPI_COMM_WORLD);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    sum(comm);
    MPI_Comm_free(&comm);
    tap_case("sums over a network that does not answer");
    return tap_end();
}
