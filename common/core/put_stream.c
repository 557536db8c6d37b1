/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "put_stream.h"

enum {
    ALIGNMENT_BYTES = 64,
    OPERATIONS = 8, /* of a stream, that no memory is needed for in a call */
    /* To look whether the peers are there takes about as long as a few polls. */
    POLLS_PER_LOOK = 32,
};

/* The peers of a stream, and who is next: started operations run in their order. */
typedef struct link {
    arc_put_ring_t ring;
    uint64_t sends_started;
    uint64_t sends_over;
    uint64_t receives_started;
    uint64_t receives_over;
} link_t;

/* A started send or receive: the handle of a request. */
typedef struct operation {
    struct operation *next;
    link_t *link;
    bool is_send;
    uint64_t number;           /* of the sends or receives of its link */
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
    link_t *links;       /* [peers] */
    operation_t *active; /* in the order in which they were started */
    operation_t **end;
    operation_t *idle;
    arc_status_t failed;
    unsigned polls;
} put_stream_t;

struct arc_put_streams {
    arc_window_t *window;
    arc_put_config_t config;
    unsigned peers;
    unsigned *rank_of;              /* [peers] */
    put_stream_t *streams;          /* [config.streams] */
    link_t *links;                  /* [streams][peers] */
    unsigned char *staging;         /* [streams][peers] */
    arc_window_request_t *requests; /* [streams][peers][2 slots] */
};

/* ---- one operation ---- */

static arc_status_t progress_send(operation_t *operation)
{
    link_t *link = operation->link;
    arc_put_ring_t *ring = &link->ring;
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
            link->sends_over += 1;
        }
    }
    status = arc_put_ring_test(ring);
    operation->over = ring->ended >= operation->sent_slots;
    return status;
}

static arc_status_t progress_receive(operation_t *operation)
{
    link_t *link = operation->link;
    arc_put_ring_t *ring = &link->ring;
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
        if (fragment.last) {
            operation->moved = true;
            link->receives_over += 1;
        }
    }
}

/* Is everything before it of its link and direction over? */
static bool is_next(const operation_t *operation)
{
    const link_t *link = operation->link;
    return operation->moved ||
           operation->number == (operation->is_send ? link->sends_over : link->receives_over);
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
        if (at->over || !is_next(at)) {
            continue;
        }
        arc_status_t status = at->is_send ? progress_send(at) : progress_receive(at);
        if (ARC_OK != status && ARC_IN_PROGRESS != status) {
            stream->failed = status;
            return status;
        }
        puts_pending = puts_pending || at->link->ring.ended < at->link->ring.sent ||
                       NULL != at->link->ring.credit_put.handle;
    }
    if (0 == ++stream->polls % POLLS_PER_LOOK) {
        stream->failed = window->ops->look(window);
    } else if (puts_pending) {
        window->ops->progress(window);
    }
    return stream->failed;
}

static link_t *find_link(put_stream_t *stream, unsigned rank)
{
    const arc_put_streams_t *all = stream->all;

    for (unsigned peer = 0; peer < all->peers; ++peer) {
        if (rank == all->rank_of[peer]) {
            return &stream->links[peer];
        }
    }
    return NULL;
}

/* Start an operation like `values`, and do what can be done of it. */
static arc_status_t start_operation(put_stream_t *stream, unsigned peer, const operation_t *values,
                                    arc_stream_request_t *request)
{
    operation_t *operation = stream->idle;
    link_t *link = find_link(stream, peer);

    if (ARC_OK != stream->failed) {
        return stream->failed;
    }
    if (NULL == link) {
        return ARC_ERR_INVALID;
    }
    if (NULL != operation) {
        stream->idle = operation->next;
    } else {
        /* Only when more are under way than ever before, and than exchanges have. */
        operation = malloc(sizeof *operation);
        if (NULL == operation) {
            return ARC_ERR_NO_MEMORY;
        }
    }
    *operation = *values;
    operation->link = link;
    operation->number = values->is_send ? link->sends_started++ : link->receives_started++;
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

    if (NULL != request->handle) {
        stream->failed = ARC_OK == stream->failed ? ARC_ERR_TRANSPORT : stream->failed;
        retire_operation(stream, request);
    }
}

/* ---- set-up ---- */

size_t arc_put_window_bytes(const arc_put_config_t *config, unsigned peers)
{
    return (size_t) peers * config->streams * arc_put_ring_bytes(config);
}

static ARC_MUST_CHECK arc_status_t reserve_operations(put_stream_t *stream)
{
    for (unsigned i = 0; i < OPERATIONS; ++i) {
        operation_t *operation = malloc(sizeof *operation);
        if (NULL == operation) {
            return ARC_ERR_NO_MEMORY;
        }
        operation->next = stream->idle;
        stream->idle = operation;
    }
    return ARC_OK;
}

static ARC_MUST_CHECK arc_status_t init_stream(arc_put_streams_t *streams, unsigned number,
                                               unsigned rank, unsigned ranks)
{
    static const arc_stream_ops_t ops = {
        .send = stream_send, .receive = stream_receive, .test = stream_test, .abort = stream_abort};
    const arc_put_config_t *config = &streams->config;
    const size_t staging_bytes = arc_put_staging_bytes(config);
    put_stream_t *stream = &streams->streams[number];

    *stream = (put_stream_t){
        .stream = {.ops = &ops, .rank = rank, .ranks = ranks},
        .all = streams,
        .links = streams->links + (size_t) number * streams->peers,
        .end = &stream->active,
    };
    for (unsigned peer = 0; peer < streams->peers; ++peer) {
        const size_t i = (size_t) number * streams->peers + peer;
        arc_put_ring_init(&stream->links[peer].ring, streams->window, config, peer, number,
                          streams->staging + i * staging_bytes,
                          streams->requests + i * 2 * config->slots);
    }
    return reserve_operations(stream);
}

arc_status_t arc_put_streams_new(arc_put_streams_t **result, arc_window_t *window,
                                 const arc_put_config_t *config, const unsigned *rank_of,
                                 unsigned rank, unsigned ranks)
{
    const unsigned peers = window->peers;
    const size_t rings = (size_t) config->streams * peers;
    const size_t staging_bytes = rings * arc_put_staging_bytes(config);
    arc_put_streams_t *streams = calloc(1, sizeof *streams);

    if (NULL == streams) {
        return ARC_ERR_NO_MEMORY;
    }
    streams->window = window;
    streams->config = *config;
    streams->peers = peers;
    streams->rank_of = calloc(peers + 1, sizeof *rank_of);
    streams->streams = calloc(config->streams, sizeof *streams->streams);
    streams->links = calloc(rings + 1, sizeof *streams->links);
    streams->staging = aligned_alloc(ALIGNMENT_BYTES, staging_bytes + ALIGNMENT_BYTES);
    streams->requests = calloc(rings + 1, 2 * config->slots * sizeof *streams->requests);
    if (NULL == streams->rank_of || NULL == streams->streams || NULL == streams->links ||
        NULL == streams->staging || NULL == streams->requests) {
        arc_put_streams_free(streams);
        return ARC_ERR_NO_MEMORY;
    }
    memcpy(streams->rank_of, rank_of, peers * sizeof *rank_of);
    memset(streams->staging, 0, staging_bytes);
    arc_status_t status = ARC_OK;
    for (unsigned number = 0; ARC_OK == status && number < config->streams; ++number) {
        status = init_stream(streams, number, rank, ranks);
    }
    if (ARC_OK != status) {
        arc_put_streams_free(streams);
        return status;
    }
    *result = streams;
    return ARC_OK;
}

static void free_list(operation_t *list)
{
    while (NULL != list) {
        operation_t *next = list->next;
        free(list);
        list = next;
    }
}

static void drop_request(arc_window_t *window, arc_window_request_t *request)
{
    if (NULL != request->handle) {
        window->ops->drop(window, request);
    }
}

void arc_put_streams_free(arc_put_streams_t *streams)
{
    for (size_t i = 0; NULL != streams->links && NULL != streams->requests &&
                       i < (size_t) streams->config.streams * streams->peers;
         ++i) {
        drop_request(streams->window, &streams->links[i].ring.credit_put);
        for (unsigned put = 0; put < 2 * streams->config.slots; ++put) {
            drop_request(streams->window, &streams->requests[i * 2 * streams->config.slots + put]);
        }
    }
    for (unsigned i = 0; NULL != streams->streams && i < streams->config.streams; ++i) {
        free_list(streams->streams[i].active);
        free_list(streams->streams[i].idle);
    }
    free(streams->rank_of);
    free(streams->streams);
    free(streams->links);
    free(streams->staging);
    free(streams->requests);
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
