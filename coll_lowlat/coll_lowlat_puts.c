/*
 * How ranks come to put into each other's windows:
 *
 *   1  open UCX's worker, make a window with a ring for each partner and stream
 *   2  send every partner a card, and attach its window from the card that it sends
 *   3  put a hello into every partner's window and wait for theirs
 *
 * After each step all ranks take the minimum of how far they came: all go on, or all stay
 * with messages.  Partners are those of any schedule (lowlat_partners.h): all others of up to 32
 * nodes; of N > 32 nodes log2 N + 3, so that a rank has memory and connections for few.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdlib.h>

#include "cards.h"
#include "mca_budget.h"
#include "coll_lowlat_port_ucx.h"
#include "coll_lowlat_puts.h"
#include "coll_lowlat_settled.h"
#include "lowlat_partners.h"
#include "lowlat_pipe.h"
#include "mca_gather.h"
#include "sizes.h"

enum {
    GREETING_SECONDS = ARC_SETTLED(15, 4), /* far more than connections take, also of many */
};

/* How far the set-up of puts came on a rank; of all ranks the least counts. */
typedef enum outcome { NO_TRANSPORT, NO_MEMORY, NO_CONNECTION, CONNECTED } outcome_t;

static const char *const outcome_texts[] = {
    [NO_TRANSPORT] = "UCX has no transport here that puts, or UCX_TLS excludes them",
    [NO_MEMORY] = "no memory, or coll_lowlat_max_memory is reached",
    [NO_CONNECTION] = "the ranks cannot all reach each other",
};

/* A step of the set-up: cards to and from each partner. */
typedef struct wiring {
    unsigned partners;
    unsigned rank_of[LOWLAT_MAX_PARTNERS];
    ucx_card_t *sent;     /* [partners] */
    ucx_card_t *received; /* [partners] */
} wiring_t;

/* ---- step 1: what needs nobody else ---- */

static bool find_partners(const lowlat_module_t *module, wiring_t *wiring)
{
    const arc_topology_t *topology = &module->topology;
    unsigned partner[LOWLAT_MAX_PARTNERS];

    if (topology->local_rank >= topology->owners) {
        return true;
    }
    wiring->partners = lowlat_partners(topology->node, topology->nodes, partner);
    for (unsigned i = 0; i < wiring->partners; ++i) {
        wiring->rank_of[i] = topology->peers[partner[i]];
    }
    wiring->sent = calloc(wiring->partners, sizeof *wiring->sent);
    wiring->received = calloc(wiring->partners, sizeof *wiring->received);
    return NULL != wiring->sent && NULL != wiring->received;
}

static arc_put_config_t put_config(void)
{
    return (arc_put_config_t){
        .streams = LOWLAT_EXCHANGES,
        .slots = LOWLAT_PUT_SLOTS,
        .slot_bytes = LOWLAT_PUT_SLOT_BYTES,
        .fused_bytes = LOWLAT_PUT_FUSED_BYTES,
        .sequence_bits = ARC_PUT_SEQUENCE_BITS,
    };
}

static outcome_t make_window(ucx_worker_t *worker, lowlat_port_t *port, wiring_t *wiring)
{
    const arc_put_config_t puts = put_config();
    const size_t bytes = arc_put_window_bytes(&puts, wiring->partners);
    const size_t memory_bytes = ucx_window_memory_bytes(bytes, wiring->partners);

    if (0 == mca_budget_take(memory_bytes, memory_bytes, MCA_BUDGET_HALF)) {
        return NO_MEMORY;
    }
    port->counted_bytes = memory_bytes;
    port->has_window = ARC_OK == ucx_window_create(&port->window, worker, bytes, wiring->partners);
    if (!port->has_window) {
        return NO_MEMORY;
    }
    for (unsigned i = 0; i < wiring->partners; ++i) {
        if (ARC_OK != ucx_window_card(&port->window, i, &wiring->sent[i])) {
            return NO_TRANSPORT;
        }
    }
    return CONNECTED;
}

static outcome_t make_port(const lowlat_module_t *module, lowlat_port_t *port, wiring_t *wiring)
{
    ucx_worker_t *worker = lowlat_puts_worker(mca_coll_lowlat_component.puts);

    if (NULL == worker) {
        return NO_TRANSPORT;
    }
    if (NULL == port || !find_partners(module, wiring)) {
        return NO_MEMORY;
    }
    return 0 == wiring->partners ? CONNECTED : make_window(worker, port, wiring);
}

/* ---- step 2: cards ---- */

/* An error breaks the module, and messages may still use the cards. */
static arc_status_t exchange_cards(lowlat_module_t *module, wiring_t *wiring)
{
    arc_link_t links[LOWLAT_MAX_PARTNERS];
    const arc_cards_t cards = {.partners = wiring->partners,
                               .rank_of = wiring->rank_of,
                               .card_bytes = sizeof(ucx_card_t),
                               .sent = wiring->sent,
                               .received = wiring->received,
                               .link = links};
    const arc_wait_t wait = {.progress = mca_compat_progress,
                             .timeout_ns = *module->base.component->timeout * ARC_NS_PER_SECOND};
    unsigned missing = 0;

    arc_status_t status = arc_cards_trade(&cards, &module->stream[0].base, &wait, &missing);
    if (ARC_OK != status) {
        (void) arc_module_break_without(&module->base, ARC_SLOTS, status, " to agree", missing);
    }
    return status;
}

/* Only now: the cards tell where our rings are in the windows of others. */
static arc_status_t make_streams(const lowlat_module_t *module, lowlat_port_t *port,
                                 const wiring_t *wiring)
{
    const arc_put_config_t puts = put_config();

    return arc_put_streams_new(&port->streams, &port->window.window, &puts, wiring->rank_of,
                               (unsigned) ompi_comm_rank(module->base.comm),
                               (unsigned) ompi_comm_size(module->base.comm));
}

static outcome_t attach_windows(lowlat_module_t *module, lowlat_port_t *port, wiring_t *wiring)
{
    if (ARC_OK != exchange_cards(module, wiring)) {
        return NO_CONNECTION;
    }
    for (unsigned i = 0; i < wiring->partners; ++i) {
        if (ARC_OK != ucx_window_attach(&port->window, i, &wiring->received[i])) {
            return NO_CONNECTION;
        }
    }
    return !port->has_window || ARC_OK == make_streams(module, port, wiring) ? CONNECTED
                                                                             : NO_MEMORY;
}

/* ---- step 3: hello ---- */

/* Whether a partner has come at all the agreement after it will tell. */
static outcome_t greet_partners(const lowlat_module_t *module, lowlat_port_t *port)
{
    const int64_t limit = *module->base.component->timeout;
    const int64_t seconds = limit > 0 ? arc_min(limit, GREETING_SECONDS) : GREETING_SECONDS;
    const int64_t end_ns = arc_now_ns() + seconds * ARC_NS_PER_SECOND;

    if (!port->has_window) {
        return CONNECTED;
    }
    arc_status_t status = ucx_window_greet(&port->window);
    if (ARC_OK == status) {
        status = ucx_window_greeted(&port->window);
    }
    while (ARC_IN_PROGRESS == status && arc_now_ns() < end_ns) {
        mca_compat_progress();
        status = ucx_window_greeted(&port->window);
    }
    return ARC_OK == status ? CONNECTED : NO_CONNECTION;
}

/* ---- all together ---- */

/* The least outcome of all ranks. */
static outcome_t agree_on_outcome(lowlat_module_t *module, outcome_t own)
{
    uint64_t least = own;
    return ARC_OK == arc_module_min(&module->base, &least, 1) ? (outcome_t) least : NO_CONNECTION;
}

static void use_port(lowlat_module_t *module, lowlat_port_t *port)
{
    lowlat_puts_connected(mca_coll_lowlat_component.puts);
    module->port = port;
    for (unsigned i = 0; port->has_window && i < LOWLAT_EXCHANGES; ++i) {
        module->net.exchange[i].stream = arc_put_streams_get(port->streams, i);
    }
    if (port->has_window && NULL != module->net.pipe) {
        lowlat_pipe_init(&module->net, module->net.pipe); /* over the same memory, other streams */
    }
}

/* Steps 1 to 3; the port is used, freed, or left to the end of the process. */
static outcome_t connect_port(lowlat_module_t *module, lowlat_port_t *port, wiring_t *wiring)
{
    lowlat_puts_t *puts = mca_coll_lowlat_component.puts;

    outcome_t outcome = agree_on_outcome(module, make_port(module, port, wiring));
    if (CONNECTED != outcome) {
        if (NULL != port) {
            lowlat_port_free(port);
        }
        return outcome;
    }
    lowlat_puts_hold(puts);
    outcome = agree_on_outcome(module, attach_windows(module, port, wiring));
    if (CONNECTED == outcome) {
        outcome = agree_on_outcome(module, greet_partners(module, port));
    }
    if (CONNECTED == outcome) {
        use_port(module, port);
    } else {
        lowlat_puts_refuse(puts);
    }
    lowlat_puts_release(puts);
    return outcome;
}

const char *lowlat_puts_connect(lowlat_module_t *module)
{
    wiring_t wiring = {.partners = 0};

    const outcome_t outcome = connect_port(module, calloc(1, sizeof(lowlat_port_t)), &wiring);
    arc_module_free(&module->base, wiring.sent);
    arc_module_free(&module->base, wiring.received);
    return CONNECTED == outcome ? NULL : outcome_texts[outcome];
}
