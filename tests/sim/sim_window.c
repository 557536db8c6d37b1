/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "sim_window.h"

enum {
    WORD_BYTES = 8,
    MAX_BURST_WORDS = 24, /* that become visible together */
};

typedef struct put {
    struct put *next;
    arc_window_request_t *request; /* NULL: ended for its owner */
    unsigned from;
    unsigned to;
    uint64_t epoch; /* fences before it, of its window */
    size_t offset;
    size_t bytes;
    const unsigned char *source;
    unsigned char *copy; /* or NULL: the source is read late */
    size_t words;
    size_t visible;
    uint32_t *order; /* [words] in which they become visible */
} put_t;

typedef struct endpoint {
    arc_window_t window; /* first: the window is the endpoint */
    sim_windows_t *windows;
    unsigned rank;
    uint64_t epoch;
    sim_peers_t peers;
    unsigned number_at_peer[SIM_WINDOW_MAX_PEERS];
    test_buffer_t memory;
} endpoint_t;

struct sim_windows {
    sim_window_options_t options;
    unsigned ranks;
    test_random_t random;
    endpoint_t *endpoints;
    put_t *first; /* not visible or not ended, in the order in which they were put */
    put_t **end;
    size_t under_way;
    uint64_t operations; /* counted for fail_at */
    sim_window_counts_t counts;
    bool down;
    unsigned lost; /* a rank that is gone, which only a look tells; `ranks`: none */
};

static bool fails_now(sim_windows_t *windows)
{
    if (++windows->operations == windows->options.fail_at) {
        windows->counts.fault_happened = true;
        return true;
    }
    return windows->down;
}

/* ---- the window ---- */

static void shuffle_words(put_t *put, test_random_t *random)
{
    for (size_t i = 0; i < put->words; ++i) {
        const size_t j = test_random_below(random, i + 1);
        put->order[i] = put->order[j];
        put->order[j] = (uint32_t) i;
    }
}

static arc_status_t sim_put(arc_window_t *window, unsigned peer, size_t offset, const void *source,
                            size_t bytes, arc_window_request_t *request)
{
    endpoint_t *endpoint = (endpoint_t *) window;
    sim_windows_t *windows = endpoint->windows;

    test_require(peer < endpoint->peers.count, "a put to nobody");
    const unsigned to = endpoint->peers.rank_of[peer];
    test_require(bytes > 0 && offset + bytes <= windows->endpoints[to].memory.bytes,
                 "a put outside the window");
    test_require(NULL == request->handle, "a request that is under way was used again");
    if (fails_now(windows)) {
        return ARC_ERR_TRANSPORT;
    }
    put_t *put = test_alloc(sizeof *put);
    *put = (put_t){.from = endpoint->rank,
                   .to = to,
                   .epoch = endpoint->epoch,
                   .offset = offset,
                   .bytes = bytes,
                   .source = source,
                   .words = (offset + bytes - 1) / WORD_BYTES - offset / WORD_BYTES + 1};
    put->order = test_alloc(put->words * sizeof *put->order);
    shuffle_words(put, &windows->random);
    if (0 == test_random_below(&windows->random, 2)) {
        put->copy = test_alloc(bytes);
        memcpy(put->copy, source, bytes);
    }
    if (NULL == put->copy || 0 == test_random_below(&windows->random, 2)) {
        put->request = request;
        request->handle = put;
    }
    *windows->end = put;
    windows->end = &put->next;
    windows->under_way += 1;
    windows->counts.puts += 1;
    return ARC_OK;
}

static arc_status_t sim_fence(arc_window_t *window)
{
    endpoint_t *endpoint = (endpoint_t *) window;

    if (fails_now(endpoint->windows)) {
        return ARC_ERR_TRANSPORT;
    }
    endpoint->epoch += 1;
    endpoint->windows->counts.fences += 1;
    return ARC_OK;
}

static void forget_put(put_t *put)
{
    free(put->copy);
    free(put->order);
    free(put);
}

/* Forget a put that is visible and has ended. */
static void settle_put(sim_windows_t *windows, put_t *put)
{
    put_t **at = &windows->first;

    if (put->visible < put->words || NULL != put->request) {
        return;
    }
    while (*at != put) {
        at = &(*at)->next;
    }
    *at = put->next;
    if (windows->end == &put->next) {
        windows->end = at;
    }
    windows->under_way -= 1;
    forget_put(put);
}

static arc_status_t sim_test(arc_window_t *window, arc_window_request_t *request)
{
    sim_windows_t *windows = ((endpoint_t *) window)->windows;
    put_t *put = request->handle;

    test_require(NULL != put && put->request == request, "the request is not under way");
    if (windows->down) {
        return ARC_ERR_TRANSPORT;
    }
    /* A put may be seen by the peer, and answered, before its owner knows that it has ended. */
    if ((put->visible < put->words && NULL == put->copy) ||
        0 != test_random_below(&windows->random, 2)) {
        return ARC_IN_PROGRESS;
    }
    if (fails_now(windows)) {
        return ARC_ERR_TRANSPORT;
    }
    put->request = NULL;
    request->handle = NULL;
    settle_put(windows, put);
    return ARC_OK;
}

static void sim_drop(arc_window_t *window, arc_window_request_t *request)
{
    sim_windows_t *windows = ((endpoint_t *) window)->windows;
    put_t *put = request->handle;

    put->request = NULL;
    request->handle = NULL;
    settle_put(windows, put);
}

/* Others drive the time: here nothing is to be done. */
static void sim_progress(arc_window_t *window)
{
}

static arc_status_t sim_look(arc_window_t *window)
{
    const endpoint_t *endpoint = (const endpoint_t *) window;

    for (unsigned i = 0; i < endpoint->peers.count; ++i) {
        if (endpoint->peers.rank_of[i] == endpoint->windows->lost) {
            return ARC_ERR_TRANSPORT;
        }
    }
    return ARC_OK;
}

static const arc_window_ops_t sim_ops = {
    .put = sim_put,
    .fence = sim_fence,
    .test = sim_test,
    .drop = sim_drop,
    .progress = sim_progress,
    .look = sim_look,
};

/* ---- time ---- */

/* Must `put` wait for another one, before it in the list? */
static bool is_fenced(const sim_windows_t *windows, const put_t *put)
{
    for (const put_t *at = windows->first; at != put; at = at->next) {
        if (at->from == put->from && at->to == put->to && at->epoch < put->epoch &&
            at->visible < at->words) {
            return !windows->options.ignores_fences;
        }
    }
    return false;
}

static void show_word(sim_windows_t *windows, const put_t *put, size_t word)
{
    const unsigned char *from = NULL != put->copy ? put->copy : put->source;
    unsigned char *to = windows->endpoints[put->to].memory.data + put->offset;
    const size_t lead = put->offset % WORD_BYTES;
    const size_t first = 0 == word ? 0 : word * WORD_BYTES - lead;
    const size_t end = (word + 1) * WORD_BYTES - lead;

    memcpy(to + first, from + first, (end < put->bytes ? end : put->bytes) - first);
}

void sim_windows_pass(sim_windows_t *windows)
{
    put_t *put = windows->first;

    if (NULL == put) {
        return;
    }
    for (size_t skip = test_random_below(&windows->random, windows->under_way); skip > 0; --skip) {
        put = put->next;
    }
    if (is_fenced(windows, put)) {
        return;
    }
    for (size_t burst = 1 + test_random_below(&windows->random, MAX_BURST_WORDS);
         burst > 0 && put->visible < put->words; --burst) {
        show_word(windows, put, put->order[put->visible++]);
    }
    settle_put(windows, put);
}

/* ---- set-up ---- */

static unsigned number_of(const sim_peers_t *peers, unsigned rank)
{
    unsigned number = 0;

    while (number < peers->count && peers->rank_of[number] != rank) {
        ++number;
    }
    test_require(number < peers->count, "peers that are not each other's");
    return number;
}

sim_windows_t *sim_windows_new(unsigned ranks, const sim_peers_t *peers, const size_t *window_bytes,
                               const sim_window_options_t *options)
{
    sim_windows_t *windows = test_alloc(sizeof *windows);

    *windows = (sim_windows_t){
        .options = *options,
        .ranks = ranks,
        .lost = ranks,
        .random = test_random_of(options->seed, ranks),
        .endpoints = test_alloc(ranks * sizeof(endpoint_t)),
    };
    windows->end = &windows->first;
    for (unsigned rank = 0; rank < ranks; ++rank) {
        endpoint_t *endpoint = &windows->endpoints[rank];
        *endpoint = (endpoint_t){.windows = windows,
                                 .rank = rank,
                                 .peers = peers[rank],
                                 .memory = test_buffer_new(window_bytes[rank], 0)};
        memset(endpoint->memory.data, 0, window_bytes[rank]);
        for (unsigned i = 0; i < peers[rank].count; ++i) {
            endpoint->number_at_peer[i] = number_of(&peers[peers[rank].rank_of[i]], rank);
        }
        endpoint->window = (arc_window_t){.ops = &sim_ops,
                                          .base = endpoint->memory.data,
                                          .bytes = window_bytes[rank],
                                          .peers = peers[rank].count,
                                          .number_at_peer = endpoint->number_at_peer};
    }
    return windows;
}

void sim_windows_free(sim_windows_t *windows)
{
    while (NULL != windows->first) {
        put_t *put = windows->first;
        windows->first = put->next;
        forget_put(put);
    }
    for (unsigned rank = 0; rank < windows->ranks; ++rank) {
        test_buffer_free(&windows->endpoints[rank].memory);
    }
    free(windows->endpoints);
    free(windows);
}

arc_window_t *sim_windows_get(sim_windows_t *windows, unsigned rank)
{
    return &windows->endpoints[rank].window;
}

void sim_windows_lose(sim_windows_t *windows, unsigned rank)
{
    windows->lost = rank;
}

void sim_windows_down(sim_windows_t *windows)
{
    windows->down = true;
}

const sim_window_counts_t *sim_windows_counts(const sim_windows_t *windows)
{
    return &windows->counts;
}

bool sim_windows_intact(const sim_windows_t *windows)
{
    for (unsigned rank = 0; rank < windows->ranks; ++rank) {
        if (!test_buffer_intact(&windows->endpoints[rank].memory)) {
            return false;
        }
    }
    return true;
}
