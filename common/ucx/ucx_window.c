/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "float_env.h"
#include "sizes.h"
#include "ucx_window.h"
#include "wait.h"

enum {
    WORDS_BYTES = 64, /* a cache line for each peer: they write at the same time */
    PAGE_BYTES = 4096,
};

/* Networks need some seconds more to give a peer up. */
static const int64_t knock_ns = ARC_NS_PER_SECOND;

static const uint64_t card_magic = 0x6172632d70757431; /* "arc-put1" */
static const uint64_t word_said = 1;

/* Of a peer's words. */
enum { HELLO, PROOF, KNOCK, GOODBYE, WORDS };

/* To a peer: its words, and a flush. */
enum { FLUSH = WORDS, REQUESTS };

typedef struct ucx_endpoint {
    ucx_peer_t *peer; /* the worker's */
    ucp_rkey_h key;
    uint64_t base;
    uint64_t words;
    arc_window_request_t request[REQUESTS];
} ucx_endpoint_t;

/* ---- the window ---- */

static bool is_lost(const ucx_window_t *window, unsigned peer)
{
    return __atomic_load_n(&window->endpoint[peer].peer->lost, __ATOMIC_RELAXED);
}

static void put_ended(void *request, ucs_status_t status, void *user)
{
    ucx_worker_t *worker = user;
    (void) request;
    (void) status;

    (void) __atomic_fetch_sub(&worker->pending, 1, __ATOMIC_RELAXED);
}

static ucp_request_param_t param_of(ucx_worker_t *worker)
{
    return (ucp_request_param_t){.op_attr_mask =
                                     UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                 .cb = {.send = put_ended},
                                 .user_data = worker};
}

/* What a call of UCX returned, which `put_ended` will hear of if it is a request. */
static arc_status_t take_request(ucx_worker_t *worker, ucs_status_ptr_t returned,
                                 arc_window_request_t *request)
{
    if (NULL == returned) {
        return ARC_OK;
    }
    if (UCS_PTR_IS_ERR(returned)) {
        return ARC_ERR_TRANSPORT;
    }
    request->handle = returned;
    (void) __atomic_fetch_add(&worker->pending, 1, __ATOMIC_RELAXED);
    return ARC_OK;
}

static arc_status_t put_to(ucx_window_t *window, const ucx_endpoint_t *endpoint, uint64_t to,
                           const void *source, size_t bytes, arc_window_request_t *request)
{
    ucx_worker_t *worker = window->worker;
    const ucp_request_param_t param = param_of(worker);

    ucx_worker_lock(worker);
    ucs_status_ptr_t returned =
        worker->library->ucp_put_nbx(endpoint->peer->ep, source, bytes, to, endpoint->key, &param);
    arc_status_t status = take_request(worker, returned, request);
    ucx_worker_unlock(worker);
    return status;
}

static arc_status_t window_put(arc_window_t *base, unsigned peer, size_t offset, const void *source,
                               size_t bytes, arc_window_request_t *request)
{
    ucx_window_t *window = (ucx_window_t *) base;
    const ucx_endpoint_t *endpoint = &window->endpoint[peer];

    return put_to(window, endpoint, endpoint->base + offset, source, bytes, request);
}

static void window_drop(arc_window_t *base, arc_window_request_t *request)
{
    ucx_worker_t *worker = ((ucx_window_t *) base)->worker;

    ucx_worker_lock(worker);
    worker->library->ucp_request_free(request->handle);
    ucx_worker_unlock(worker);
    request->handle = NULL;
}

static arc_status_t window_fence(arc_window_t *base)
{
    ucx_worker_t *worker = ((ucx_window_t *) base)->worker;

    ucx_worker_lock(worker);
    ucs_status_t status = worker->library->ucp_worker_fence(worker->worker);
    ucx_worker_unlock(worker);
    return UCS_OK == status ? ARC_OK : ARC_ERR_TRANSPORT;
}

static arc_status_t window_test(arc_window_t *base, arc_window_request_t *request)
{
    ucx_worker_t *worker = ((ucx_window_t *) base)->worker;
    const ucx_library_t *library = worker->library;

    ucx_worker_lock(worker);
    ucs_status_t status = library->ucp_request_check_status(request->handle);
    if (UCS_INPROGRESS != status) {
        library->ucp_request_free(request->handle);
        request->handle = NULL;
    }
    ucx_worker_unlock(worker);
    return UCS_INPROGRESS == status ? ARC_IN_PROGRESS
           : UCS_OK == status       ? ARC_OK
                                    : ARC_ERR_TRANSPORT;
}

unsigned ucx_window_lost(const ucx_window_t *window)
{
    unsigned peer = 0;

    if (!__atomic_load_n(&window->worker->loses, __ATOMIC_ACQUIRE)) {
        return window->window.peers;
    }
    while (peer < window->window.peers && !is_lost(window, peer)) {
        ++peer;
    }
    return peer;
}

static void window_progress(arc_window_t *base)
{
    (void) ucx_worker_drive(((ucx_window_t *) base)->worker);
}

static arc_status_t put_word(ucx_window_t *window, unsigned peer, unsigned word)
{
    ucx_endpoint_t *endpoint = &window->endpoint[peer];

    return put_to(window, endpoint, endpoint->words + word * sizeof word_said, &word_said,
                  sizeof word_said, &endpoint->request[word]);
}

/* An error of a put means that the peer will be lost soon. */
static void knock(ucx_window_t *window)
{
    for (unsigned peer = 0; peer < window->window.peers; ++peer) {
        if (ARC_OK == arc_window_test(&window->window, &window->endpoint[peer].request[KNOCK])) {
            (void) put_word(window, peer, KNOCK);
        }
    }
}

static arc_status_t window_look(arc_window_t *base)
{
    ucx_window_t *window = (ucx_window_t *) base;
    const int64_t now_ns = arc_now_ns();

    (void) ucx_worker_drive(window->worker);
    if (ucx_window_lost(window) < base->peers) {
        return ARC_ERR_TRANSPORT;
    }
    if (now_ns - window->knocked_ns >= knock_ns) {
        window->knocked_ns = now_ns;
        knock(window);
    }
    return ARC_OK;
}

/* ---- set-up ---- */

static size_t all_words_bytes(unsigned peers)
{
    return arc_round_up((size_t) peers * WORDS_BYTES, PAGE_BYTES);
}

size_t ucx_window_memory_bytes(size_t bytes, unsigned peers)
{
    return all_words_bytes(peers) + bytes;
}

static arc_status_t map_memory(ucx_window_t *window)
{
    const size_t bytes = ucx_window_memory_bytes(window->window.bytes, window->window.peers);
    ucx_worker_t *worker = window->worker;
    const ucx_library_t *library = worker->library;
    const ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS,
        .address = NULL,
        .length = bytes,
        .flags = UCP_MEM_MAP_ALLOCATE,
    };
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};

    ucx_worker_lock(worker);
    ucs_status_t status = library->ucp_mem_map(worker->context, &params, &window->memory);
    if (UCS_OK == status && UCS_OK != library->ucp_mem_query(window->memory, &attr)) {
        (void) library->ucp_mem_unmap(worker->context, window->memory);
        status = UCS_ERR_NO_MEMORY;
    }
    ucx_worker_unlock(worker);
    if (UCS_OK != status) {
        window->memory = NULL;
        return ARC_ERR_NO_MEMORY;
    }
    window->words = attr.address;
    memset(window->words, 0, bytes);
    window->window.base = window->words + all_words_bytes(window->window.peers);
    return ARC_OK;
}

arc_status_t ucx_window_create(ucx_window_t *window, ucx_worker_t *worker, size_t bytes,
                               unsigned peers)
{
    static const arc_window_ops_t ops = {.put = window_put,
                                         .fence = window_fence,
                                         .test = window_test,
                                         .drop = window_drop,
                                         .progress = window_progress,
                                         .look = window_look};
    ARC_IN_DEFAULT_FLOAT_ENV;

    *window = (ucx_window_t){.window = {.ops = &ops, .bytes = bytes, .peers = peers},
                             .worker = worker,
                             .number_at_peer = calloc(peers, sizeof *window->number_at_peer),
                             .endpoint = calloc(peers, sizeof *window->endpoint)};
    window->window.number_at_peer = window->number_at_peer;
    if (NULL == window->number_at_peer || NULL == window->endpoint ||
        (peers > 0 && ARC_OK != map_memory(window))) {
        ucx_window_free(window);
        return ARC_ERR_NO_MEMORY;
    }
    return ARC_OK;
}

arc_status_t ucx_window_card(const ucx_window_t *window, unsigned peer, ucx_card_t *card)
{
    ucx_worker_t *worker = window->worker;
    const ucx_library_t *library = worker->library;
    void *key = NULL;
    size_t key_bytes = 0;
    ARC_IN_DEFAULT_FLOAT_ENV;

    memset(card, 0, sizeof *card);
    ucx_worker_lock(worker);
    ucs_status_t status = library->ucp_rkey_pack(worker->context, window->memory, &key, &key_bytes);
    const bool fits = UCS_OK == status && key_bytes <= sizeof card->key &&
                      worker->address_bytes <= sizeof card->address;
    if (fits) {
        card->magic = card_magic;
        card->base = (uint64_t) (uintptr_t) window->window.base;
        card->words = (uint64_t) (uintptr_t) (window->words + (size_t) peer * WORDS_BYTES);
        card->bytes = window->window.bytes;
        card->number = peer;
        card->address_bytes = (uint32_t) worker->address_bytes;
        card->key_bytes = (uint32_t) key_bytes;
        memcpy(card->address, worker->address, worker->address_bytes);
        memcpy(card->key, key, key_bytes);
    }
    if (UCS_OK == status) {
        library->ucp_rkey_buffer_release(key);
    }
    ucx_worker_unlock(worker);
    return fits ? ARC_OK : ARC_UNSUPPORTED;
}

/* What UCX took, for the log; a line of its text for users, lane[0]: 0:rc_mlx5/mlx5_0:1.0 ... */
static void name_transport(ucx_worker_t *worker, ucp_ep_h ep)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);

    if (NULL == file) {
        return;
    }
    worker->library->ucp_ep_print_info(ep, file);
    if (0 == fclose(file) && NULL != strstr(text, "lane[0]:")) {
        (void) sscanf(strstr(text, "lane[0]:"), "lane[0]: %*d:%31s", worker->transports);
    }
    free(text);
}

/* Shared memory that cannot be mapped would be written by messages. */
static bool is_mapped(const ucx_worker_t *worker, const ucx_endpoint_t *endpoint)
{
    void *mapped = NULL;

    return UCS_OK == worker->library->ucp_rkey_ptr(endpoint->key, endpoint->base, &mapped);
}

arc_status_t ucx_window_attach(ucx_window_t *window, unsigned peer, const ucx_card_t *card)
{
    ucx_worker_t *worker = window->worker;
    const ucx_library_t *library = worker->library;
    ucx_endpoint_t *endpoint = &window->endpoint[peer];
    /* Bytes of our window for each peer: as many as a peer's has for us. */
    const uint64_t share = window->window.bytes / window->window.peers;
    ARC_IN_DEFAULT_FLOAT_ENV;

    if (card_magic != card->magic || card->address_bytes > sizeof card->address ||
        card->key_bytes > sizeof card->key || (card->number + 1) * share > card->bytes) {
        return ARC_UNSUPPORTED;
    }
    endpoint->base = card->base;
    endpoint->words = card->words;
    window->number_at_peer[peer] = card->number;
    ucx_worker_lock(worker);
    endpoint->peer = ucx_worker_peer(worker, card->address, card->address_bytes);
    bool attached = NULL != endpoint->peer;
    if (attached &&
        UCS_OK != library->ucp_ep_rkey_unpack(endpoint->peer->ep, card->key, &endpoint->key)) {
        endpoint->key = NULL;
        attached = false;
    }
    if (attached && UCX_REACH_NETWORK == worker->reach) {
        name_transport(worker, endpoint->peer->ep);
    } else if (attached) {
        attached = is_mapped(worker, endpoint);
    }
    ucx_worker_unlock(worker);
    return attached ? ARC_OK : ARC_UNSUPPORTED;
}

/* ---- hello and goodbye ---- */

static bool has_said(const ucx_window_t *window, unsigned peer, unsigned word)
{
    const uint64_t *words = (const uint64_t *) (window->words + (size_t) peer * WORDS_BYTES);
    return word_said == __atomic_load_n(&words[word], __ATOMIC_ACQUIRE);
}

static arc_status_t say_to_all(ucx_window_t *window, unsigned word)
{
    arc_status_t status = ARC_OK;
    ARC_IN_DEFAULT_FLOAT_ENV;

    for (unsigned peer = 0; peer < window->window.peers && ARC_OK == status; ++peer) {
        status = put_word(window, peer, word);
    }
    return status;
}

arc_status_t ucx_window_greet(ucx_window_t *window)
{
    return say_to_all(window, HELLO);
}

arc_status_t ucx_window_greeted(ucx_window_t *window)
{
    (void) ucx_worker_drive(window->worker);
    for (unsigned peer = 0; peer < window->window.peers; ++peer) {
        arc_status_t status =
            arc_window_test(&window->window, &window->endpoint[peer].request[HELLO]);
        if (ARC_OK == status && !has_said(window, peer, HELLO)) {
            status = is_lost(window, peer) ? ARC_ERR_TRANSPORT : ARC_IN_PROGRESS;
        }
        if (ARC_OK != status) {
            return status;
        }
    }
    return ARC_OK;
}

arc_status_t ucx_window_prove(ucx_window_t *window)
{
    return say_to_all(window, PROOF);
}

bool ucx_window_proved(const ucx_window_t *window)
{
    unsigned peer = 0;

    while (peer < window->window.peers && has_said(window, peer, PROOF)) {
        ++peer;
    }
    return peer == window->window.peers;
}

void ucx_window_leave(ucx_window_t *window)
{
    ucx_worker_t *worker = window->worker;
    const ucp_request_param_t param = param_of(worker);
    ARC_IN_DEFAULT_FLOAT_ENV;

    (void) window_fence(&window->window);
    for (unsigned peer = 0; peer < window->window.peers; ++peer) {
        ucx_endpoint_t *endpoint = &window->endpoint[peer];
        if (is_lost(window, peer)) {
            continue;
        }
        /* An error here means that the peer will be lost, too, which ends the wait for it. */
        (void) put_word(window, peer, GOODBYE);
        ucx_worker_lock(worker);
        (void) take_request(worker, worker->library->ucp_ep_flush_nbx(endpoint->peer->ep, &param),
                            &endpoint->request[FLUSH]);
        ucx_worker_unlock(worker);
    }
}

bool ucx_window_left(ucx_window_t *window)
{
    bool left = true;

    (void) ucx_worker_drive(window->worker);
    for (unsigned peer = 0; peer < window->window.peers && left; ++peer) {
        left = is_lost(window, peer) || has_said(window, peer, GOODBYE);
        for (unsigned i = 0; i < REQUESTS && left && !is_lost(window, peer); ++i) {
            arc_window_request_t *request = &window->endpoint[peer].request[i];
            left = ARC_IN_PROGRESS != arc_window_test(&window->window, request);
        }
    }
    return left;
}

void ucx_window_free(ucx_window_t *window)
{
    ucx_worker_t *worker = window->worker;

    ucx_worker_lock(worker);
    for (unsigned peer = 0; NULL != window->endpoint && peer < window->window.peers; ++peer) {
        ucx_endpoint_t *endpoint = &window->endpoint[peer]; /* of the worker, but for these */
        if (NULL != endpoint->key) {
            worker->library->ucp_rkey_destroy(endpoint->key);
        }
        for (unsigned i = 0; i < REQUESTS; ++i) {
            if (NULL != endpoint->request[i].handle) {
                worker->library->ucp_request_free(endpoint->request[i].handle);
            }
        }
    }
    if (NULL != window->memory) {
        (void) worker->library->ucp_mem_unmap(worker->context, window->memory);
    }
    ucx_worker_unlock(worker);
    free(window->number_at_peer);
    free(window->endpoint);
    memset(window, 0, sizeof *window);
}
