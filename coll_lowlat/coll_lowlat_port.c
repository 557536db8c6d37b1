/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <sched.h>
#include <stdlib.h>

#include "coll_lowlat_port.h"
#include "coll_lowlat_port_ucx.h"

enum { GOODBYE_SECONDS = 30 }; /* all have been through the barrier of MPI_Finalize */

/* For partners of a port that has left; only time in which somebody polls counts. */
static const arc_wait_t patience = {.timeout_ns = LOWLAT_GREETING_SECONDS * ARC_NS_PER_SECOND};

void lowlat_port_free(lowlat_port_t *port)
{
    if (NULL != port->streams) {
        arc_put_streams_free(port->streams);
    }
    if (NULL != port->window.worker) {
        ucx_window_free(&port->window);
    }
    mca_budget_return(MCA_BUDGET_WINDOWS, port->counted_bytes);
    free(port);
}

static int drive_puts(void);

/* Under the lock, as what follows. */
static void remove_user(lowlat_puts_t *puts)
{
    if (0 == --puts->users) {
        (void) opal_progress_unregister(drive_puts);
    }
}

/* What peers never reached stays as it is. */
static void disconnect_port(lowlat_puts_t *puts, lowlat_port_t *port)
{
    if (port->greeted) {
        lowlat_port_free(port);
    } else {
        puts->refused = true;
    }
    remove_user(puts);
}

lowlat_outcome_t lowlat_port_greeted(lowlat_port_t *port)
{
    if (!port->greeted) {
        const arc_status_t status =
            0 == port->end_ns ? ARC_ERR_TRANSPORT : ucx_window_greeted(&port->window);
        if (ARC_OK != status) {
            return ARC_IN_PROGRESS == status ? LOWLAT_NO_ANSWER : LOWLAT_NO_CONNECTION;
        }
        port->greeted = true;
    }
    return LOWLAT_CONNECTED;
}

/*
 * Is a port that leaves over?  One that was freed before all had answered says goodbye when they
 * have, or is given up.
 */
static bool has_left(lowlat_port_t *port)
{
    if (!port->greeted) {
        const lowlat_outcome_t outcome = lowlat_port_greeted(port);
        if (LOWLAT_CONNECTED != outcome) {
            static const arc_task_t hello; /* which makes no step until it is over */
            return LOWLAT_NO_CONNECTION == outcome ||
                   ARC_ERR_TIMEOUT == arc_wait_check(&port->unanswered, &patience, &hello);
        }
        ucx_window_leave(&port->window);
    }
    return ucx_window_left(&port->window);
}

/* Disconnect the ports that all peers have left, or never reached. */
static void free_left_ports(lowlat_puts_t *puts)
{
    lowlat_port_t **at = &puts->leaving;

    while (NULL != *at) {
        lowlat_port_t *port = *at;
        if (!has_left(port)) {
            at = &port->next;
            continue;
        }
        *at = port->next;
        disconnect_port(puts, port);
    }
}

/* For Open MPI's progress function: peers wait for what we have put and UCX holds back. */
static int drive_puts(void)
{
    lowlat_puts_t *puts = mca_coll_lowlat_component.puts;

    if (OPAL_UNLIKELY(0 != __atomic_load_n(&puts->silent, __ATOMIC_RELAXED))) {
        return 0;
    }
    int events = ucx_worker_is_busy(&puts->worker) ? ucx_worker_drive(&puts->worker) : 0;

    if (OPAL_UNLIKELY(NULL != __atomic_load_n(&puts->leaving, __ATOMIC_RELAXED)) &&
        0 == pthread_mutex_trylock(&puts->lock)) {
        free_left_ports(puts);
        (void) pthread_mutex_unlock(&puts->lock);
    }
    return events;
}

lowlat_outcome_t lowlat_puts_worker(lowlat_puts_t *puts)
{
    const lowlat_component_t *component = &mca_coll_lowlat_component;

    (void) pthread_mutex_lock(&puts->lock);
    if (!puts->tried) {
        puts->tried = true;
        puts->open =
            ARC_OK == ucx_worker_open(&puts->worker, &puts->ucx,
                                      component->config.arc_ranks_per_node > 0 ? UCX_REACH_MACHINE
                                                                               : UCX_REACH_NETWORK,
                                      mca_compat_threads_may_come());
    }
    const lowlat_outcome_t outcome = !puts->open     ? LOWLAT_NO_TRANSPORT
                                     : puts->refused ? LOWLAT_REFUSED
                                                     : LOWLAT_CONNECTED;
    (void) pthread_mutex_unlock(&puts->lock);
    return outcome;
}

lowlat_puts_t *lowlat_puts_new(const char **why)
{
    lowlat_puts_t *puts = calloc(1, sizeof *puts);

    if (NULL == puts) {
        *why = arc_status_text(ARC_ERR_NO_MEMORY);
        return NULL;
    }
    if (ARC_OK != ucx_library_open(&puts->ucx, why)) {
        free(puts);
        return NULL;
    }
    (void) pthread_mutex_init(&puts->lock, NULL);
    return puts;
}

/* How long to wait for what these need: a goodbye, or only an answer that may never come. */
static int64_t seconds_for(const lowlat_port_t *port)
{
    enum { ANSWER_SECONDS = 2 };
    int64_t seconds = 0;

    for (; NULL != port; port = port->next) {
        const int64_t own = port->greeted ? GOODBYE_SECONDS : ANSWER_SECONDS;
        seconds = own > seconds ? own : seconds;
    }
    return seconds;
}

/* Wait for what peers still put, for a while, and give it all back. */
static void close_ports(lowlat_puts_t *puts)
{
    const int64_t begin_ns = arc_now_ns();

    for (free_left_ports(puts);
         arc_now_ns() - begin_ns < seconds_for(puts->leaving) * ARC_NS_PER_SECOND;
         free_left_ports(puts)) {
        (void) sched_yield();
    }
    while (NULL != puts->leaving) {
        lowlat_port_t *port = puts->leaving;
        puts->leaving = port->next;
        disconnect_port(puts, port);
    }
    if (puts->users > 0) {
        (void) opal_progress_unregister(drive_puts);
    }
}

void lowlat_puts_free(lowlat_puts_t *puts)
{
    if (NULL == puts) {
        return;
    }
    if (puts->open) {
        close_ports(puts);
    }
    if (puts->refused) {
        return; /* UCX must stay as it is to the end of the process */
    }
    if (puts->open) {
        ucx_worker_close(&puts->worker);
    }
    ucx_library_close(&puts->ucx);
    (void) pthread_mutex_destroy(&puts->lock);
    free(puts);
}

void lowlat_puts_hold(lowlat_puts_t *puts, int64_t ns)
{
    const int64_t end_ns = arc_now_ns() + ns;

    (void) pthread_mutex_lock(&puts->lock);
    if (end_ns > puts->worker.held_ns) {
        __atomic_store_n(&puts->worker.held_ns, end_ns, __ATOMIC_RELAXED);
    }
    if (0 == puts->users++) {
        (void) opal_progress_register(drive_puts);
    }
    (void) pthread_mutex_unlock(&puts->lock);
}

void lowlat_puts_settled(lowlat_puts_t *puts, bool connected)
{
    (void) pthread_mutex_lock(&puts->lock);
    /* Another port that opens meanwhile is driven again when its ranks wait for the last answers.
     */
    __atomic_store_n(&puts->worker.held_ns, 0, __ATOMIC_RELAXED);
    if (!connected) {
        puts->refused = true;
        remove_user(puts);
    }
    (void) pthread_mutex_unlock(&puts->lock);
}

void lowlat_port_leave(lowlat_puts_t *puts, lowlat_port_t *port)
{
    if (port->greeted) {
        ucx_window_leave(&port->window);
    }
    arc_wait_watch(&port->unanswered, &patience, NULL);
    (void) pthread_mutex_lock(&puts->lock);
    port->next = puts->leaving;
    puts->leaving = port;
    free_left_ports(puts);
    (void) pthread_mutex_unlock(&puts->lock);
}

arc_stream_t *lowlat_port_stream(const lowlat_port_t *port, unsigned number)
{
    return arc_put_streams_get(port->streams, number);
}

const char *lowlat_puts_transports(const lowlat_puts_t *puts)
{
    return puts->worker.transports;
}

unsigned lowlat_port_lost(const lowlat_module_t *module)
{
    const lowlat_port_t *port = module->port;
    const unsigned lost = ucx_window_lost(&port->window);

    return lost >= port->window.window.peers ? (unsigned) ompi_comm_size(module->base.comm)
                                             : arc_put_streams_rank(port->streams, lost);
}
