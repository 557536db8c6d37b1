/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "sim_stream.h"

/* What stands in a receive buffer until the message arrives. */
enum { UNRECEIVED = 0x5a };

/* One started operation: the handle of a request, and a place in the queue of its link. */
typedef struct operation {
    struct operation *next;
    arc_stream_request_t *request; /* NULL: completed for its owner, still under way (eager) */
    bool is_send;
    bool done; /* delivered, or copied (eager): test() may report the end */
    bool truncated;
    unsigned from;
    unsigned to;
    const void *source; /* of a send */
    void *copy;         /* of an eager send */
    void *target;       /* of a receive */
    size_t bytes;       /* of a message; of a receive: its capacity, then the length */
    uint64_t ready;     /* tick from which the message may be delivered */
} operation_t;

typedef struct queue {
    operation_t *head;
    size_t place; /* of sends that are there: in `busy` */
} queue_t;

typedef struct endpoint {
    arc_stream_t stream; /* first: the stream is the endpoint */
    sim_network_t *network;
} endpoint_t;

struct sim_network {
    sim_options_t options;
    unsigned ranks;
    test_random_t random;
    uint64_t tick;
    uint64_t operations; /* counted for fail_at */
    uint64_t messages;   /* counted for garble_at */
    sim_counts_t counts;
    bool down;
    endpoint_t *endpoints;
    queue_t *sends;    /* [from * ranks + to]: sent, not delivered */
    queue_t *receives; /* [from * ranks + to]: started, not delivered */
    size_t *busy;      /* [busy_links] links with sends, in any order */
    size_t busy_links;
};

static sim_network_t *network_of(arc_stream_t *stream)
{
    return ((endpoint_t *) stream)->network;
}

static queue_t *link_of(queue_t *queues, const sim_network_t *network, const operation_t *operation)
{
    return &queues[operation->from * network->ranks + operation->to];
}

static void append_operation(queue_t *queue, operation_t *operation)
{
    operation_t **end = &queue->head;

    while (NULL != *end) {
        end = &(*end)->next;
    }
    *end = operation;
}

/* Was it there? */
static bool take_out(queue_t *queue, const operation_t *operation)
{
    for (operation_t **at = &queue->head; NULL != *at; at = &(*at)->next) {
        if (*at == operation) {
            *at = operation->next;
            return true;
        }
    }
    return false;
}

static void append_send(sim_network_t *network, queue_t *link, operation_t *send)
{
    if (NULL == link->head) {
        link->place = network->busy_links;
        network->busy[network->busy_links++] = (size_t) (link - network->sends);
    }
    append_operation(link, send);
}

static void take_out_send(sim_network_t *network, const operation_t *send)
{
    queue_t *link = link_of(network->sends, network, send);

    if (take_out(link, send) && NULL == link->head) {
        const size_t last = network->busy[--network->busy_links];
        network->busy[link->place] = last;
        network->sends[last].place = link->place;
    }
}

static unsigned under_way(const queue_t *queue)
{
    unsigned eager = 0;

    for (const operation_t *at = queue->head; NULL != at; at = at->next) {
        eager += NULL != at->copy;
    }
    return eager;
}

static void forget_operation(operation_t *operation)
{
    free(operation->copy);
    free(operation);
}

/* Count one start or completion; true: this one has to fail. */
static bool fails_now(sim_network_t *network)
{
    if (++network->operations == network->options.fail_at) {
        /* Only this one: whoever ignores it gets no second hint. */
        network->counts.fault_happened = true;
        return true;
    }
    return network->down;
}

static operation_t *operation_new(sim_network_t *network, arc_stream_request_t *request,
                                  const operation_t *values)
{
    operation_t *operation = test_alloc(sizeof(*operation));

    test_require(NULL == request->handle, "a started request was started again");
    *operation = *values;
    operation->request = request;
    request->handle = operation;
    ++network->counts.outstanding;
    return operation;
}

static arc_status_t sim_send(arc_stream_t *stream, unsigned peer, const void *buffer, size_t bytes,
                             arc_stream_request_t *request)
{
    sim_network_t *network = network_of(stream);

    if (fails_now(network)) {
        return ARC_ERR_TRANSPORT;
    }
    operation_t values = {
        .is_send = true,
        .from = stream->rank,
        .to = peer,
        .source = buffer,
        .bytes = bytes,
        .ready = network->tick +
                 test_random_below(&network->random, (uint64_t) network->options.delay_max + 1),
    };
    operation_t *operation = operation_new(network, request, &values);
    queue_t *link = link_of(network->sends, network, operation);
    if (under_way(link) < network->options.eager_max &&
        0 != test_random_below(&network->random, 2)) {
        operation->copy = test_alloc(bytes);
        memcpy(operation->copy, buffer, bytes);
        operation->done = true;
    }
    append_send(network, link, operation);
    return ARC_OK;
}

static arc_status_t sim_receive(arc_stream_t *stream, unsigned peer, void *buffer,
                                size_t capacity_bytes, arc_stream_request_t *request)
{
    sim_network_t *network = network_of(stream);

    if (fails_now(network)) {
        return ARC_ERR_TRANSPORT;
    }
    operation_t values = {
        .from = peer,
        .to = stream->rank,
        .target = buffer,
        .bytes = capacity_bytes,
    };
    operation_t *operation = operation_new(network, request, &values);
    memset(buffer, UNRECEIVED, capacity_bytes);
    append_operation(link_of(network->receives, network, operation), operation);
    return ARC_OK;
}

static arc_status_t sim_test(arc_stream_t *stream, arc_stream_request_t *request)
{
    sim_network_t *network = network_of(stream);
    operation_t *operation = request->handle;

    test_require(NULL != operation && operation->request == request, "the request is not started");
    if (network->down) {
        return ARC_ERR_TRANSPORT;
    }
    if (!operation->done) {
        return ARC_IN_PROGRESS;
    }
    if (fails_now(network) || operation->truncated) {
        return ARC_ERR_TRANSPORT;
    }
    request->bytes = operation->bytes;
    request->handle = NULL;
    --network->counts.outstanding;
    if (NULL != operation->copy) {
        operation->request = NULL; /* delivery forgets it */
    } else {
        forget_operation(operation);
    }
    return ARC_OK;
}

static void sim_abort(arc_stream_t *stream, arc_stream_request_t *request)
{
    sim_network_t *network = network_of(stream);
    operation_t *operation = request->handle;

    test_require(NULL != operation && operation->request == request, "the request is not started");
    if (operation->is_send) {
        take_out_send(network, operation);
    } else {
        (void) take_out(link_of(network->receives, network, operation), operation);
    }
    request->handle = NULL;
    --network->counts.outstanding;
    forget_operation(operation);
}

static const arc_stream_ops_t sim_ops = {
    .send = sim_send,
    .receive = sim_receive,
    .test = sim_test,
    .abort = sim_abort,
};

/* Change the message in its receive buffer as the options ask for. */
static void garble_message(sim_network_t *network, operation_t *receive)
{
    const sim_options_t *options = &network->options;

    network->counts.fault_happened = true;
    if (0 != options->garble_cut) {
        receive->bytes -=
            options->garble_cut < receive->bytes ? options->garble_cut : receive->bytes;
    } else if (0 != options->garble_more) {
        receive->bytes += options->garble_more;
    } else if (options->garble_byte < receive->bytes) {
        ((unsigned char *) receive->target)[options->garble_byte] ^= 0xff;
    }
}

static void finish_send(sim_network_t *network, operation_t *send)
{
    take_out_send(network, send);
    send->done = true;
    if (NULL == send->request) {
        forget_operation(send);
    } else {
        free(send->copy);
        send->copy = NULL;
    }
}

static void deliver_message(sim_network_t *network, operation_t *send, operation_t *receive)
{
    const bool garbled = ++network->messages == network->options.garble_at;

    if (garbled && network->options.garble_discard) {
        network->counts.fault_happened = true;
        finish_send(network, send);
        return;
    }
    receive->truncated = send->bytes > receive->bytes;
    receive->bytes = receive->truncated ? receive->bytes : send->bytes;
    memcpy(receive->target, NULL != send->copy ? send->copy : send->source, receive->bytes);
    if (garbled) {
        garble_message(network, receive);
    }
    (void) take_out(link_of(network->receives, network, receive), receive);
    receive->done = true;
    ++network->counts.delivered;
    network->counts.delivered_bytes += receive->bytes;
    finish_send(network, send);
}

/* Deliver what can be delivered on one random link. */
void sim_network_pass(sim_network_t *network)
{
    const size_t links = network->busy_links;
    const size_t first = 0 == links ? 0 : test_random_below(&network->random, links);

    ++network->tick;
    for (size_t i = 0; i < links; ++i) {
        const size_t link = network->busy[first + i < links ? first + i : first + i - links];
        operation_t *send = network->sends[link].head;
        operation_t *receive = network->receives[link].head;
        if (NULL != receive && network->tick >= send->ready) {
            deliver_message(network, send, receive);
            return;
        }
    }
}

sim_network_t *sim_network_new(unsigned ranks, const sim_options_t *options)
{
    sim_network_t *network = test_alloc(sizeof(*network));
    size_t links = (size_t) ranks * ranks;

    *network = (sim_network_t){
        .options = *options,
        .ranks = ranks,
        .random = test_random_of(options->seed, ranks),
        .endpoints = test_alloc(ranks * sizeof(endpoint_t)),
        .sends = test_zeros(links * sizeof(queue_t)),
        .receives = test_zeros(links * sizeof(queue_t)),
        .busy = test_alloc(links * sizeof(size_t)),
    };
    for (unsigned rank = 0; rank < ranks; ++rank) {
        network->endpoints[rank] = (endpoint_t){
            .stream = {.ops = &sim_ops, .rank = rank, .ranks = ranks},
            .network = network,
        };
    }
    return network;
}

static void forget_queue(queue_t *queue)
{
    while (NULL != queue->head) {
        operation_t *operation = queue->head;
        queue->head = operation->next;
        forget_operation(operation);
    }
}

void sim_network_free(sim_network_t *network)
{
    for (size_t link = 0; link < (size_t) network->ranks * network->ranks; ++link) {
        forget_queue(&network->sends[link]);
        forget_queue(&network->receives[link]);
    }
    free(network->endpoints);
    free(network->sends);
    free(network->receives);
    free(network->busy);
    free(network);
}

arc_stream_t *sim_network_stream(sim_network_t *network, unsigned rank)
{
    return &network->endpoints[rank].stream;
}

const sim_counts_t *sim_network_counts(const sim_network_t *network)
{
    return &network->counts;
}

void sim_network_down(sim_network_t *network)
{
    network->down = true;
}

bool sim_network_run(sim_network_t *network, arc_task_t *const *tasks, arc_status_t *statuses,
                     uint64_t steps)
{
    unsigned unfinished = network->ranks;

    for (unsigned rank = 0; rank < network->ranks; ++rank) {
        statuses[rank] = ARC_IN_PROGRESS;
    }
    for (uint64_t step = 0; step < steps && 0 != unfinished; ++step) {
        unsigned rank = (unsigned) test_random_below(&network->random, network->ranks);

        sim_network_pass(network);
        if (ARC_IN_PROGRESS != statuses[rank]) {
            continue;
        }
        statuses[rank] = tasks[rank]->ops->progress(tasks[rank]);
        unfinished -= ARC_IN_PROGRESS != statuses[rank];
        if (ARC_OK != statuses[rank] && ARC_IN_PROGRESS != statuses[rank]) {
            sim_network_down(network);
        }
    }
    return 0 == unfinished;
}
