/*
 * A network that takes puts and answers none, as behind a firewall: the ranks find that out and use
 * messages, and from then on nothing may be asked of UCX any more.  It would end the process, when
 * it gives the connections up, in whatever call drives or closes them.
 *
 * The network is UCX over shared memory, to be run on declared nodes with
 * coll_lowlat_nodes_transport puts, but for a few functions, which the component gets from the
 * dlsym() of this program.
 *
 *   -t SECONDS   the ranks sum for so long until they must have found out (default: one sum)
 *   -s US        the network answers, but every put takes so many microseconds
 *   -d SECONDS   the first put takes so many seconds, all others none; the communicator that it is
 *                for is freed at once, and nobody calls MPI for most of that time
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "config.h"

#include <dlfcn.h>

#include "harness.h"
#include "sums.h"

enum { ELEMS = 3000, SUMS = 500, UCX_IN_PROGRESS = 1 };

static int slow_us;      /* 0: puts are not answered */
static double delayed_s; /* > 0: only the first one is not, for so long */

static bool is_given_up; /* the first sum has come to its end, by messages */
static int unanswered;   /* the request of all puts */

static void *(*real_put)(void *, const void *, size_t, uint64_t, void *, const void *);
static int (*real_check_status)(void *request);
static void (*real_free)(void *request);
static unsigned (*real_progress)(void *worker);

/* The first put of a network that delays it. */
static struct {
    void *ep;
    const void *source;
    size_t bytes;
    uint64_t to;
    void *key;
    double due; /* 0: there was none */
    bool done;
} first;

static void must_not(const char *what)
{
    fprintf(stderr, "unanswered: after the ranks gave it up, UCX had to %s\n", what);
    abort();
}

static void *put(void *ep, const void *source, size_t bytes, uint64_t to, void *key,
                 const void *param)
{
    if (slow_us > 0) {
        (void) usleep((useconds_t) slow_us);
        return real_put(ep, source, bytes, to, key, param);
    }
    if (first.due > 0) {
        return real_put(ep, source, bytes, to, key, param);
    }
    first.ep = ep;
    first.source = source;
    first.bytes = bytes;
    first.to = to;
    first.key = key;
    first.due = delayed_s > 0 ? MPI_Wtime() + delayed_s : 0;
    if (is_given_up) {
        must_not("put");
    }
    return &unanswered;
}

/* Their arguments are of no interest. */
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
    static const char plain[256]; /* parameters of a put, none of which is set */

    if (request == &unanswered && first.due > 0 && MPI_Wtime() > first.due) {
        void *real =
            first.done ? NULL
                       : real_put(first.ep, first.source, first.bytes, first.to, first.key, plain);
        first.done = true;
        if (real != NULL) {
            real_free(real);
        }
        return 0;
    }
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
        {"ucp_put_nbx", (void *) put, &real_put},
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
        const bool is_ours = functions[i].ours == (void *) put ||
                             (slow_us == 0 && (delayed_s == 0 || functions[i].real != NULL));
        if (found != NULL && is_ours && strcmp(functions[i].name, name) == 0) {
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
    static int salt;

    (void) sums_of(comm, MPI_INT, ELEMS, salt++, false);
}

/* All ranks as many, for some seconds. */
static void sum_for(double seconds)
{
    const double end = MPI_Wtime() + seconds;
    int go_on = 1;

    while (go_on) {
        sum(MPI_COMM_WORLD);
        go_on = MPI_Wtime() < end;
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    double seconds = 0;

    /* Before UCX is asked for. */
    TAKE_OPTIONS(OPTION('d', delayed_s), OPTION('s', slow_us), OPTION('t', seconds));
    tap_begin(&argc, &argv);
    if (delayed_s > 0) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        sum(comm);
        MPI_Comm_free(&comm);
        (void) usleep((useconds_t) (delayed_s * 0.8e6));
    }
    sum_for(seconds);
    tap_check((slow_us > 0 ? (void *) real_put : (void *) real_progress) != NULL,
              "the component has not asked for UCX's functions");
    is_given_up = slow_us == 0 && delayed_s == 0;
    for (int i = 0; i < SUMS; i++) {
        sum(MPI_COMM_WORLD);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    sum(comm);
    MPI_Comm_free(&comm);
    tap_case("sums over a network that does not answer");
    return tap_end();
}
