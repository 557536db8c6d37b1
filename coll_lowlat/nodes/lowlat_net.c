/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lowlat_memory.h"
#include "lowlat_net.h"

void lowlat_exchange_begin(lowlat_exchange_t *exchange, unsigned char *vector, size_t elems)
{
    exchange->vector = vector;
    exchange->elems = elems;
    exchange->step = 0;
    exchange->started = false;
}

/* Start the messages of the present move. */
static arc_status_t start_messages(const lowlat_net_t *net, lowlat_exchange_t *exchange,
                                   size_t stride_bytes)
{
    const lowlat_move_t *move = &exchange->move;
    const arc_stream_ops_t *stream = exchange->stream->ops;
    const size_t sent_bytes = lowlat_range_elems(move->sent) * stride_bytes;
    const size_t received_bytes = lowlat_range_elems(move->received) * stride_bytes;
    arc_status_t status = ARC_OK;

    if (received_bytes > 0) {
        unsigned char *to =
            move->adds ? exchange->scratch : exchange->vector + move->received.first * stride_bytes;
        status = stream->receive(exchange->stream, net->peer[move->from], to, received_bytes,
                                 &exchange->receive);
    }
    if (ARC_OK == status && sent_bytes > 0) {
        status = stream->send(exchange->stream, net->peer[move->to],
                              exchange->vector + move->sent.first * stride_bytes, sent_bytes,
                              &exchange->send);
    }
    exchange->started = true;
    return status;
}

/* Have the messages of the present move ended?  ARC_ERR_PROTOCOL: one has another length. */
static arc_status_t test_messages(lowlat_exchange_t *exchange, size_t stride_bytes)
{
    if (NULL != exchange->receive.handle) {
        arc_status_t status = arc_stream_test(exchange->stream, &exchange->receive);
        if (ARC_OK != status) {
            return status;
        }
        if (exchange->receive.bytes != lowlat_range_elems(exchange->move.received) * stride_bytes) {
            return ARC_ERR_PROTOCOL;
        }
    }
    return arc_stream_test(exchange->stream, &exchange->send);
}

/* What came is in the scratch. */
static void add_scratch(lowlat_exchange_t *exchange, const arc_reducer_t *reducer)
{
    const lowlat_move_t *move = &exchange->move;
    const size_t elems = lowlat_range_elems(move->received);
    unsigned char *own = exchange->vector + move->received.first * reducer->stride_bytes;
    const void *parts[] = {move->peers_is_left ? exchange->scratch : own,
                           move->peers_is_left ? own : exchange->scratch};

    if (elems > 0) {
        reducer->reduce(parts, 2, own, elems, reducer->context);
    }
}

arc_status_t lowlat_exchange_progress(const lowlat_net_t *net, lowlat_exchange_t *exchange,
                                      lowlat_schedule_fn_t schedule, const arc_reducer_t *reducer)
{
    const size_t stride_bytes = reducer->stride_bytes;
    arc_status_t status = ARC_OK;

    for (;;) {
        if (!exchange->started) {
            if (!schedule(net->node, net->nodes, exchange->step, exchange->elems,
                          lowlat_line_elems(stride_bytes), &exchange->move)) {
                exchange->vector = NULL;
                return ARC_OK;
            }
            status = start_messages(net, exchange, stride_bytes);
        }
        if (ARC_OK == status) {
            status = test_messages(exchange, stride_bytes);
        }
        if (ARC_OK != status) {
            return status;
        }
        if (exchange->move.adds) {
            add_scratch(exchange, reducer);
        }
        exchange->step += 1;
        exchange->started = false;
    }
}

unsigned lowlat_exchange_awaited(const lowlat_net_t *net, const lowlat_exchange_t *exchange)
{
    if (NULL == exchange->vector || !exchange->started) {
        return net->nodes;
    }
    return NULL != exchange->receive.handle ? exchange->move.from
           : NULL != exchange->send.handle  ? exchange->move.to
                                            : net->nodes;
}

void lowlat_net_abort(lowlat_net_t *net)
{
    for (unsigned i = 0; i < LOWLAT_EXCHANGES; ++i) {
        lowlat_exchange_t *exchange = &net->exchange[i];
        arc_stream_abort(exchange->stream, &exchange->send);
        arc_stream_abort(exchange->stream, &exchange->receive);
        exchange->vector = NULL;
    }
}
