/*
 * UCX, opened at run time and without side effects on the process; and a context and a worker of
 * its protocol layer (UCP), for puts only: what the windows of a process (ucx_window.h) share.
 *
 * It is for transports that write remote memory by themselves.  UCP would emulate puts over
 * others, by messages that the peer's program must drive; peers with these only are refused.
 *
 * UCX reckons with doubles where it makes connections: what may do so runs in C's default
 * floating-point environment, so that nothing traps.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef UCX_WORKER_H
#define UCX_WORKER_H

#include <pthread.h>
#include <stdbool.h>

#include <ucp/api/ucp.h>

#include "status.h"
#include "ucx_transports.h"
#include "wait.h"

/* clang-format off */
/* X(function): what we call of UCX; the only list. */
#define UCX_FUNCTION_TABLE(X)       \
    X(ucp_get_version)              \
    X(ucp_config_read)              \
    X(ucp_config_modify)            \
    X(ucp_config_release)           \
    X(ucp_init_version)             \
    X(ucp_cleanup)                  \
    X(ucp_worker_create)            \
    X(ucp_worker_destroy)           \
    X(ucp_worker_query)             \
    X(ucp_worker_release_address)   \
    X(ucp_worker_progress)          \
    X(ucp_worker_fence)             \
    X(ucp_mem_map)                  \
    X(ucp_mem_unmap)                \
    X(ucp_mem_query)                \
    X(ucp_rkey_pack)                \
    X(ucp_rkey_buffer_release)      \
    X(ucp_ep_create)                \
    X(ucp_ep_close_nbx)             \
    X(ucp_ep_flush_nbx)             \
    X(ucp_ep_print_info)            \
    X(ucp_ep_rkey_unpack)           \
    X(ucp_rkey_ptr)                 \
    X(ucp_rkey_destroy)             \
    X(ucp_put_nbx)                  \
    X(ucp_request_check_status)     \
    X(ucp_request_free)
/* clang-format on */

/* The oldest release that works; from it on UCP is compatible. */
enum { UCX_MAJOR = 1, UCX_MINOR = 12 };

typedef struct ucx_library {
    void *handle;
#define X(_function) __typeof__(_function) *_function;
    UCX_FUNCTION_TABLE(X)
#undef X
} ucx_library_t;

/*
 * Open UCX and resolve its functions.  It changes the environment for the time of
 * the call, which is safe only while no other thread reads it: call it from
 * MPI_Init, as Open MPI itself does with setenv().
 * ARC_UNSUPPORTED, with *why set to a static text, when UCX is missing or too old.
 */
arc_status_t ucx_library_open(ucx_library_t *library, const char **why) ARC_MUST_CHECK;

void ucx_library_close(ucx_library_t *library);

/* A process that we put to: one endpoint for all windows, as long as the worker. */
typedef struct ucx_peer {
    struct ucx_peer *next;
    struct ucx_worker *worker;
    ucp_ep_h ep;
    bool lost; /* the connection is broken, which UCX told; atomic */
    size_t address_bytes;
    unsigned char address[]; /* of its worker: tells it from others */
} ucx_peer_t;

typedef struct ucx_worker {
    const ucx_library_t *library;
    ucx_reach_t reach;
    char transports[UCX_TRANSPORTS_BYTES]; /* as in UCX_TLS; of a network then what UCX took */
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_address_t *address;
    size_t address_bytes;
    ucx_peer_t *peers;
    pthread_mutex_t lock; /* around every call of UCX; never held while waiting for a peer */
    bool locks;           /* several threads may use MPI at the same time */
    unsigned pending;     /* puts and flushes that have not ended; atomic */
    int64_t held_ns;      /* until then it is busy in any case; 0: not; atomic */
    bool loses;           /* some peer is lost; atomic */
} ucx_worker_t;

/*
 * ARC_UNSUPPORTED: there is no network with such transports, or UCX_TLS excludes them.  Costs some
 * milliseconds, a thread, and open files.
 */
arc_status_t ucx_worker_open(ucx_worker_t *worker, const ucx_library_t *library, ucx_reach_t reach,
                             bool locks) ARC_MUST_CHECK;

/*
 * Only when all peers have answered once (ucx_window_greeted()).  UCX (1.13) ends the process when
 * it closes, or drives for long, an endpoint whose peer has not answered: such a worker is left to
 * the end of the process, and so are its windows and UCX itself.
 */
void ucx_worker_close(ucx_worker_t *worker);

/*
 * The process whose worker has this address, with an endpoint, made if there is none; NULL: it
 * cannot be.  Under the lock.  Endpoints stay to the end: to make one anew costs a connection.
 */
ucx_peer_t *ucx_worker_peer(ucx_worker_t *worker, const void *address, size_t address_bytes);

/* Drive it; the number of events. */
int ucx_worker_drive(ucx_worker_t *worker);

/*
 * Is anything of ours under way?  Until a time that a set-up says it is busy in any case: a peer
 * connects to us.
 */
static inline bool ucx_worker_is_busy(ucx_worker_t *worker)
{
    int64_t held_ns = __atomic_load_n(&worker->held_ns, __ATOMIC_RELAXED);

    if (0 != held_ns && arc_now_ns() >= held_ns) {
        (void) __atomic_compare_exchange_n(&worker->held_ns, &held_ns, 0, false, __ATOMIC_RELAXED,
                                           __ATOMIC_RELAXED);
        held_ns = 0;
    }
    return 0 != held_ns || 0 != __atomic_load_n(&worker->pending, __ATOMIC_RELAXED);
}

static inline void ucx_worker_lock(ucx_worker_t *worker)
{
    if (worker->locks) {
        (void) pthread_mutex_lock(&worker->lock);
    }
}

static inline void ucx_worker_unlock(ucx_worker_t *worker)
{
    if (worker->locks) {
        (void) pthread_mutex_unlock(&worker->lock);
    }
}

#endif
