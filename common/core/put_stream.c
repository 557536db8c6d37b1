/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "put_stream.h"
#include "sizes.h"

enum {
    /* To look whether the peers are there takes about as long as a few polls. */
    POLLS_PER_LOOK = 32,
};

/* A started send or receive: the handle of a request. */
typedef struct operation {
    struct operation *next;
    arc_put_ring_t *ring;
    bool is_send;
    const unsigned char *from; /* of a send */
    unsigned char *to;         /* of a receive */
    size_t bytes;              /* of a receive: capacity */
    size_t done_bytes;
    bool moved;          /* all fragments are put, or read */
    uint64_t sent_slots; /* of a send that has moved: with its last one */
    bool over;
} operation_t;

typedef struct put_stream {
    arc_stream_t stream; /* first: the stream is this */
    arc_put_streams_t *all;
    arc_put_ring_t *rings; /* [peers] */
    operation_t *active;   /* in the order in which they were started */
    operation_t **end;
    operation_t *idle;
    arc_status_t failed;
    unsigned polls;
    operation_t operation[ARC_PUT_OPERATIONS];
} put_stream_t;

struct arc_put_streams {
    arc_window_t *window;
    arc_put_config_t config;
    unsigned peers;
    unsigned *rank_of;              /* [peers] */
    put_stream_t *streams;          /* [config.streams] */
    arc_put_ring_t *rings;          /* [streams][peers] */
    unsigned char *staging;         /* [streams][peers] */
    arc_window_request_t *requests; /* [streams][peers][2 slots] */
};

/* ---- one operation ---- */

static arc_status_t progress_send(operation_t *operation)
{
    arc_put_ring_t *ring = operation->ring;
    arc_status_t status = ARC_OK;

    while (!operation->moved) {
        const size_t rest = operation->bytes - operation->done_bytes;
        const bool last = rest <= arc_put_fragment_bytes(ring->config);
        const size_t bytes = last ? rest : arc_put_fragment_bytes(ring->config);

        status = arc_put_ring_send(ring, operation->from + operation->done_bytes, bytes, last);
        if (ARC_OK != status) {
            return status;
        }
        operation->done_bytes += bytes;
        if (last) {
            operation->moved = true;
            operation->sent_slots = ring->sent;
        }
    }
    status = arc_put_ring_test(ring);
    operation->over = ring->ended >= operation->sent_slots;
    return status;
}

static arc_status_t progress_receive(operation_t *operation)
{
    arc_put_ring_t *ring = operation->ring;
    arc_put_fragment_t fragment;
    arc_status_t status = ARC_OK;

    for (;;) {
        /* First what is due since the last fragment: the peer may wait for it with the next one. */
        status = arc_put_ring_tell(ring);
        if (ARC_OK == status && operation->moved) {
            operation->over = true;
            return ARC_OK;
        }
        if (ARC_OK == status) {
            status = arc_put_ring_peek(ring, &fragment);
        }
        if (ARC_OK == status && fragment.bytes > operation->bytes - operation->done_bytes) {
            status = ARC_ERR_TRANSPORT;
        }
        if (ARC_OK == status) {
            status = arc_put_ring_read(ring, &fragment, operation->to + operation->done_bytes);
        }
        if (ARC_OK != status) {
            return status;
        }
        operation->done_bytes += fragment.bytes;
        operation->moved = fragment.last;
    }
}

/* Has everything moved that was started before it with its peer and in its direction? */
static bool is_next(const put_stream_t *stream, const operation_t *operation)
{
    for (const operation_t *at = stream->active; at != operation; at = at->next) {
        if (at->ring == operation->ring && at->is_send == operation->is_send && !at->moved) {
            return false;
        }
    }
    return true;
}

/* ---- the stream ---- */

/*
 * Whatever can be done is done, whoever is asked for: a caller may wait for a receive while the
 * message that the peer answers with it is not out yet.
 */
static arc_status_t progress_all(put_stream_t *stream)
{
    arc_window_t *window = stream->all->window;
    bool puts_pending = false;

    for (operation_t *at = stream->active; NULL != at; at = at->next) {
        if (at->over || !is_next(stream, at)) {
            continue;
        }
        arc_status_t status = at->is_send ? progress_send(at) : progress_receive(at);
        if (ARC_OK != status && ARC_IN_PROGRESS != status) {
            stream->failed = status;
            return status;
        }
        puts_pending =
            puts_pending || at->ring->ended < at->ring->sent || NULL != at->ring->credit_put.handle;
    }
    if (0 == ++stream->polls % POLLS_PER_LOOK) {
        stream->failed = window->ops->look(window);
    } else if (puts_pending) {
        window->ops->progress(window);
    }
    return stream->failed;
}

static arc_put_ring_t *find_ring(put_stream_t *stream, unsigned rank)
{
    const arc_put_streams_t *all = stream->all;

    for (unsigned peer = 0; peer < all->peers; ++peer) {
        if (rank == all->rank_of[peer]) {
            return &stream->rings[peer];
        }
    }
    return NULL;
}

/* Start an operation like `values`, and do what can be done of it. */
static arc_status_t start_operation(put_stream_t *stream, unsigned peer, const operation_t *values,
                                    arc_stream_request_t *request)
{
    operation_t *operation = stream->idle;

    if (ARC_OK != stream->failed) {
        return stream->failed;
    }
    assert(NULL != operation);
    stream->idle = operation->next;
    *operation = *values;
    operation->ring = find_ring(stream, peer);
    assert(NULL != operation->ring);
    *stream->end = operation;
    stream->end = &operation->next;
    request->handle = operation;
    return ARC_OK;
}

static arc_status_t stream_send(arc_stream_t *base, unsigned peer, const void *buffer, size_t bytes,
                                arc_stream_request_t *request)
{
    put_stream_t *stream = (put_stream_t *) base;
    const operation_t values = {.is_send = true, .from = buffer, .bytes = bytes};

    arc_status_t status = start_operation(stream, peer, &values, request);
    /* The message leaves now, not at the first test. */
    return ARC_OK == status ? progress_all(stream) : status;
}

static arc_status_t stream_receive(arc_stream_t *base, unsigned peer, void *buffer,
                                   size_t capacity_bytes, arc_stream_request_t *request)
{
    const operation_t values = {.to = buffer, .bytes = capacity_bytes};

    return start_operation((put_stream_t *) base, peer, &values, request);
}

static void retire_operation(put_stream_t *stream, arc_stream_request_t *request)
{
    operation_t *operation = request->handle;
    operation_t **at = &stream->active;

    while (*at != operation) {
        at = &(*at)->next;
    }
    *at = operation->next;
    if (stream->end == &operation->next) {
        stream->end = at;
    }
    operation->next = stream->idle;
    stream->idle = operation;
    request->handle = NULL;
}

static arc_status_t stream_test(arc_stream_t *base, arc_stream_request_t *request)
{
    put_stream_t *stream = (put_stream_t *) base;
    const operation_t *operation = request->handle;

    if (!operation->over && ARC_OK == stream->failed) {
        arc_status_t status = progress_all(stream);
        if (ARC_OK != status) {
            return status;
        }
    }
    if (ARC_OK != stream->failed) {
        return stream->failed;
    }
    if (!operation->over) {
        return ARC_IN_PROGRESS;
    }
    request->bytes = operation->done_bytes;
    retire_operation(stream, request);
    return ARC_OK;
}

/* What is put cannot be taken back: the stream is dead, but the buffer may still be read. */
static void stream_abort(arc_stream_t *base, arc_stream_request_t *request)
{
    put_stream_t *stream = (put_stream_t *) base;

    stream->failed = ARC_OK == stream->failed ? ARC_ERR_TRANSPORT : stream->failed;
    retire_operation(stream, request);
}

/* ---- set-up ---- */

size_t arc_put_window_bytes(const arc_put_config_t *config, unsigned peers)
{
    return (size_t) peers * config->streams * arc_put_ring_bytes(config);
}

static void init_stream(arc_put_streams_t *streams, unsigned number, unsigned rank, unsigned ranks)
{
    static const arc_stream_ops_t ops = {
        .send = stream_send, .receive = stream_receive, .test = stream_test, .abort = stream_abort};
    const arc_put_config_t *config = &streams->config;
    const size_t staging_bytes = arc_put_staging_bytes(config);
    put_stream_t *stream = &streams->streams[number];

    stream->stream = (arc_stream_t){.ops = &ops, .rank = rank, .ranks = ranks};
    stream->all = streams;
    stream->rings = streams->rings + (size_t) number * streams->peers;
    stream->end = &stream->active;
    for (unsigned peer = 0; peer < streams->peers; ++peer) {
        const size_t i = (size_t) number * streams->peers + peer;
        arc_put_ring_init(&stream->rings[peer], streams->window, config, peer, number,
                          streams->staging + i * staging_bytes,
                          streams->requests + i * 2 * config->slots);
    }
    for (unsigned i = 0; i < ARC_PUT_OPERATIONS; ++i) {
        stream->operation[i].next = stream->idle;
        stream->idle = &stream->operation[i];
    }
}

/* Take all memory from `room`, or count it: where *streams goes. */
static arc_put_streams_t *lay_out(arc_put_streams_t *streams, arc_room_t *room)
{
    const arc_put_config_t *config = &streams->config;
    const size_t rings = (size_t) config->streams * streams->peers;
    arc_put_streams_t *own = arc_room_take(room, sizeof *own);

    streams->rank_of = arc_room_take(room, streams->peers * sizeof *streams->rank_of);
    streams->streams = arc_room_take(room, config->streams * sizeof *streams->streams);
    streams->rings = arc_room_take(room, rings * sizeof *streams->rings);
    streams->staging = arc_room_take(room, rings * arc_put_staging_bytes(config));
    streams->requests = arc_room_take(room, rings * 2 * config->slots * sizeof *streams->requests);
    return own;
}

arc_status_t arc_put_streams_new(arc_put_streams_t **result, arc_window_t *window,
                                 const arc_put_config_t *config, const unsigned *rank_of,
                                 unsigned rank, unsigned ranks)
{
    arc_put_streams_t streams = {.window = window, .config = *config, .peers = window->peers};
    arc_room_t room = {.memory = NULL};

    (void) lay_out(&streams, &room);
    room = (arc_room_t){.memory = aligned_alloc(ARC_ALIGN_BYTES, room.used), .used = 0};
    if (NULL == room.memory) {
        return ARC_ERR_NO_MEMORY;
    }
    *result = lay_out(&streams, &room);
    memset(room.memory, 0, room.used);
    **result = streams;
    memcpy(streams.rank_of, rank_of, streams.peers * sizeof *rank_of);
    for (unsigned number = 0; number < config->streams; ++number) {
        init_stream(*result, number, rank, ranks);
    }
    return ARC_OK;
}

static void drop_request(arc_window_t *window, arc_window_request_t *request)
{
    if (NULL != request->handle) {
        window->ops->drop(window, request);
    }
}

void arc_put_streams_free(arc_put_streams_t *streams)
{
    const size_t rings = (size_t) streams->config.streams * streams->peers;

    for (size_t i = 0; i < rings; ++i) {
        drop_request(streams->window, &streams->rings[i].credit_put);
    }
    for (size_t i = 0; i < rings * 2 * streams->config.slots; ++i) {
        drop_request(streams->window, &streams->requests[i]);
    }
    free(streams);
}

arc_stream_t *arc_put_streams_get(arc_put_streams_t *streams, unsigned number)
{
    return &streams->streams[number].stream;
}

unsigned arc_put_streams_rank(const arc_put_streams_t *streams, unsigned peer)
{
    return streams->rank_of[peer];
}
