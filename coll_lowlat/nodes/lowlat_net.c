/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lowlat_memory.h"
#include "lowlat_net.h"

static unsigned begin_step(arc_steps_t *steps)
{
    lowlat_exchange_t *exchange = (lowlat_exchange_t *) steps;
    const lowlat_net_t *net = exchange->net;
    const size_t stride_bytes = net->reducer->stride_bytes;
    lowlat_move_t *move = &exchange->move;

    if (!net->schedule(net->node, net->nodes, steps->step, exchange->elems,
                       lowlat_line_elems(stride_bytes), move)) {
        exchange->vector = NULL;
        return 0;
    }
    exchange->link = (arc_link_t){
        .peer = net->peer[move->node],
        .sent = exchange->vector + move->sent.first * stride_bytes,
        .sent_bytes = lowlat_range_elems(move->sent) * stride_bytes,
        .received =
            move->adds ? exchange->scratch : exchange->vector + move->received.first * stride_bytes,
        .received_bytes = lowlat_range_elems(move->received) * stride_bytes,
    };
    return 1;
}

/* ARC_ERR_PROTOCOL: what came has another length. */
static arc_status_t end_step(arc_steps_t *steps)
{
    lowlat_exchange_t *exchange = (lowlat_exchange_t *) steps;
    const arc_reducer_t *reducer = exchange->net->reducer;
    const lowlat_move_t *move = &exchange->move;
    const arc_link_t *link = &exchange->link;
    unsigned char *own = exchange->vector + move->received.first * reducer->stride_bytes;

    if (link->receive.bytes != link->received_bytes) {
        return ARC_ERR_PROTOCOL;
    }
    if (move->adds && 0 != link->received_bytes) {
        const void *parts[] = {move->peers_is_left ? exchange->scratch : own,
                               move->peers_is_left ? own : exchange->scratch};
        reducer->reduce(parts, 2, own, lowlat_range_elems(move->received), reducer->context);
    }
    return ARC_OK;
}

void lowlat_exchange_begin(lowlat_exchange_t *exchange, const lowlat_net_t *net,
                           unsigned char *vector, size_t elems)
{
    static const arc_steps_ops_t ops = {.begin = begin_step, .end = end_step};

    arc_steps_start(&exchange->steps, &ops, exchange->stream, &exchange->link);
    exchange->net = net;
    exchange->vector = vector;
    exchange->elems = elems;
}

unsigned lowlat_exchange_awaited(const lowlat_exchange_t *exchange, const lowlat_net_t *net)
{
    const arc_task_t *task = &exchange->steps.task;
    unsigned node = 0;

    if (NULL == exchange->vector) {
        return net->nodes;
    }
    while (node < net->nodes && !task->ops->waits_for(task, net->peer[node])) {
        ++node;
    }
    return node;
}

void lowlat_net_abort(lowlat_net_t *net)
{
    for (unsigned i = 0; i < LOWLAT_EXCHANGES; ++i) {
        lowlat_exchange_t *exchange = &net->exchange[i];
        if (NULL != exchange->vector) {
            arc_task_abort(&exchange->steps.task);
            exchange->vector = NULL;
        }
    }
}
