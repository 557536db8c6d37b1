/*
 * How ranks come to put into each other's windows:
 *
 *   1  open UCX's worker, make a window with a ring for each partner and stream
 *   2  send every partner a card, and attach its window from the card that it sends
 *   3  put a hello into every partner's window and wait for theirs
 *   4  prove that this is no emulation, for which partners must run
 *
 * After each step all ranks take the minimum of how far they came: all go on, or all stay
 * with messages.  For puts beside messages nobody waits in step 3: messages serve the calls
 * meanwhile, and the ranks agree now and then how far they are.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdlib.h>

#include "coll_lowlat_port_ucx.h"
#include "coll_lowlat_puts.h"
#include "coll_lowlat_settled.h"
#include "sizes.h"

/* While messages serve the calls; then all ranks wait for the rest, which is for who computed. */
static const int64_t opening_ns = 1800000000;
static const int64_t last_wait_ns = 200000000;
/* Far more than a put takes that needs no program, also where ranks share cores. */
static const int64_t proof_ns = 500000000;

static const char *const outcome_texts[LOWLAT_CONNECTED + 1] = {
    [LOWLAT_REFUSED] = "the ranks could not all reach each other before",
    [LOWLAT_NO_TRANSPORT] =
        "UCX has no transport here that puts in 0.5 s, or UCX_TLS excludes them",
    [LOWLAT_NO_MEMORY] = "no memory, or coll_arc_max_memory is reached",
    [LOWLAT_NO_CONNECTION] = "the ranks cannot all reach each other",
};

/* A step of the set-up: cards to and from each partner. */
typedef struct wiring {
    unsigned partners;
    unsigned rank_of[LOWLAT_MAX_PARTNERS];
    ucx_card_t *cards; /* [2 * partners] to them, and behind these theirs */
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
    wiring->cards = calloc(2 * (size_t) wiring->partners, sizeof *wiring->cards);
    return NULL != wiring->cards;
}

static const arc_put_config_t put_config = {
    .streams = LOWLAT_EXCHANGES,
    .slots = LOWLAT_PUT_SLOTS,
    .slot_bytes = LOWLAT_PUT_SLOT_BYTES,
    .fused_bytes = LOWLAT_PUT_FUSED_BYTES,
    .sequence_bits = ARC_PUT_SEQUENCE_BITS,
};

static lowlat_outcome_t make_window(ucx_worker_t *worker, lowlat_port_t *port, size_t bytes,
                                    wiring_t *wiring)
{
    if (ARC_OK != ucx_window_create(&port->window, worker, bytes, wiring->partners)) {
        return LOWLAT_NO_MEMORY;
    }
    for (unsigned i = 0; i < wiring->partners; ++i) {
        if (ARC_OK != ucx_window_card(&port->window, i, &wiring->cards[i])) {
            return LOWLAT_NO_TRANSPORT;
        }
    }
    return LOWLAT_CONNECTED;
}

/* A worker takes megabytes and a thread, to the end of the process: it comes last. */
static lowlat_outcome_t make_port(const lowlat_module_t *module, lowlat_port_t *port,
                                  wiring_t *wiring)
{
    lowlat_puts_t *puts = mca_coll_lowlat_component.puts;

    if (NULL == port || !find_partners(module, wiring)) {
        return LOWLAT_NO_MEMORY;
    }
    const size_t bytes = arc_put_window_bytes(&put_config, wiring->partners);
    const size_t memory_bytes = ucx_window_memory_bytes(bytes, wiring->partners);
    port->counted_bytes = mca_budget_take(MCA_BUDGET_WINDOWS, memory_bytes, memory_bytes);
    if (port->counted_bytes < memory_bytes) {
        return LOWLAT_NO_MEMORY;
    }
    const lowlat_outcome_t outcome = lowlat_puts_worker(puts);
    return LOWLAT_CONNECTED == outcome ? make_window(&puts->worker, port, bytes, wiring) : outcome;
}

/* ---- step 2: cards ---- */

/* An error of messages breaks the module, and they may still use the cards. */
static lowlat_outcome_t attach_windows(lowlat_module_t *module, lowlat_port_t *port,
                                       wiring_t *wiring)
{
    arc_link_t links[LOWLAT_MAX_PARTNERS];

    for (unsigned i = 0; i < wiring->partners; ++i) {
        links[i] = (arc_link_t){.peer = wiring->rank_of[i],
                                .sent = &wiring->cards[i],
                                .sent_bytes = sizeof wiring->cards[i],
                                .received = &wiring->cards[wiring->partners + i],
                                .received_bytes = sizeof wiring->cards[i]};
    }
    if (ARC_OK !=
        arc_module_trade(&module->base, &module->stream[0].base, links, wiring->partners)) {
        return LOWLAT_NO_CONNECTION;
    }
    for (unsigned i = 0; i < wiring->partners; ++i) {
        if (ARC_OK != ucx_window_attach(&port->window, i, &wiring->cards[wiring->partners + i])) {
            return LOWLAT_NO_CONNECTION;
        }
    }
    /* Only now: the cards tell where our rings are in the windows of others. */
    return ARC_OK == arc_put_streams_new(&port->streams, &port->window.window, &put_config,
                                         wiring->rank_of,
                                         (unsigned) ompi_comm_rank(module->base.comm),
                                         (unsigned) ompi_comm_size(module->base.comm))
               ? LOWLAT_CONNECTED
               : LOWLAT_NO_MEMORY;
}

/* ---- all together ---- */

/* The least outcome of all ranks. */
static lowlat_outcome_t agree_on_outcome(lowlat_module_t *module, lowlat_outcome_t own)
{
    uint64_t least = own;
    return ARC_OK == arc_module_min(&module->base, &least, 1) ? (lowlat_outcome_t) least
                                                              : LOWLAT_NO_CONNECTION;
}

/* Do puts need no program of the partner (ucx_window.h)?  All have greeted each other. */
static lowlat_outcome_t prove_port(lowlat_module_t *module, lowlat_port_t *port)
{
    lowlat_puts_t *puts = mca_coll_lowlat_component.puts;

    (void) __atomic_add_fetch(&puts->silent, 1, __ATOMIC_RELAXED);
    lowlat_outcome_t outcome = agree_on_outcome(module, LOWLAT_CONNECTED);
    if (LOWLAT_CONNECTED == outcome && ARC_OK != ucx_window_prove(&port->window)) {
        outcome = LOWLAT_NO_TRANSPORT;
    }
    outcome = agree_on_outcome(module, outcome); /* all have put: what now lacks is on its way */
    if (LOWLAT_CONNECTED == outcome) {
        const int64_t end_ns = arc_now_ns() + proof_ns;
        while (!ucx_window_proved(&port->window) && arc_now_ns() < end_ns) {
            mca_compat_progress(); /* of all but the worker */
        }
        outcome = ucx_window_proved(&port->window) ? LOWLAT_CONNECTED : LOWLAT_NO_TRANSPORT;
    }
    outcome = agree_on_outcome(module, outcome);
    (void) __atomic_sub_fetch(&puts->silent, 1, __ATOMIC_RELAXED);
    return outcome;
}

/* Connected, or left to the end of the process. */
static const char *settle_port(lowlat_module_t *module, lowlat_port_t *port,
                               lowlat_outcome_t outcome)
{
    outcome = LOWLAT_CONNECTED == outcome ? prove_port(module, port) : outcome;
    module->port = LOWLAT_CONNECTED == outcome ? port : NULL;
    lowlat_puts_settled(mca_coll_lowlat_component.puts, LOWLAT_CONNECTED == outcome);
    return outcome_texts[outcome];
}

/* Steps 1 and 2: LOWLAT_CONNECTED, and the worker is driven; or the port is freed, or left. */
static lowlat_outcome_t make_and_attach(lowlat_module_t *module, lowlat_port_t *port,
                                        wiring_t *wiring, int64_t ns)
{
    lowlat_outcome_t outcome = agree_on_outcome(module, make_port(module, port, wiring));

    if (LOWLAT_CONNECTED != outcome) {
        if (NULL != port) {
            lowlat_port_free(port);
        }
        return outcome;
    }
    lowlat_puts_hold(mca_coll_lowlat_component.puts, ns);
    outcome = agree_on_outcome(module, attach_windows(module, port, wiring));
    if (LOWLAT_CONNECTED != outcome) {
        (void) settle_port(module, port, outcome);
    }
    return outcome;
}

/* Then step 3 begins, and has so much time. */
static const char *open_port(lowlat_module_t *module, int64_t ns)
{
    wiring_t wiring = {.partners = 0};
    lowlat_port_t *port = calloc(1, sizeof *port);
    const lowlat_outcome_t outcome = make_and_attach(module, port, &wiring, ns);

    arc_module_free(&module->base, wiring.cards);
    if (LOWLAT_CONNECTED == outcome) {
        /* Partners have so much time to answer; whether they have come an agreement will tell. */
        port->end_ns = ARC_OK == ucx_window_greet(&port->window) ? arc_now_ns() + ns : 0;
        module->opening = port;
    }
    return outcome_texts[outcome];
}

const char *lowlat_puts_open(lowlat_module_t *module)
{
    return open_port(module, opening_ns);
}

/* Await hellos until `end_ns`; is_last: who has not answered by then is given up. */
static const char *settle(lowlat_module_t *module, int64_t end_ns, bool is_last)
{
    lowlat_port_t *port = module->opening;
    lowlat_outcome_t outcome = lowlat_port_greeted(port);

    while (LOWLAT_NO_ANSWER == outcome && arc_now_ns() < end_ns) {
        mca_compat_progress();
        outcome = lowlat_port_greeted(port);
    }
    outcome = LOWLAT_NO_ANSWER == outcome && is_last ? LOWLAT_NO_CONNECTION : outcome;
    outcome = agree_on_outcome(module, outcome);
    if (LOWLAT_NO_ANSWER == outcome) {
        return NULL;
    }
    module->opening = NULL;
    return settle_port(module, port, outcome);
}

const char *lowlat_puts_connect(lowlat_module_t *module)
{
    const int64_t limit = *module->base.component->timeout;
    const int64_t seconds =
        limit > 0 ? arc_min(limit, LOWLAT_GREETING_SECONDS) : LOWLAT_GREETING_SECONDS;
    const char *why = open_port(module, seconds * ARC_NS_PER_SECOND);

    return NULL == why ? settle(module, module->opening->end_ns, true) : why;
}

const char *lowlat_puts_settle(lowlat_module_t *module)
{
    const int64_t now_ns = arc_now_ns();
    const bool is_late = now_ns >= module->opening->end_ns;

    return settle(module, is_late ? now_ns + last_wait_ns : now_ns, is_late);
}
