/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "steps.h"

/* Receives first: what is sent then finds them. */
static ARC_MUST_CHECK arc_status_t start_messages(arc_steps_t *steps)
{
    const arc_stream_ops_t *stream = steps->stream->ops;
    arc_status_t status = ARC_OK;

    for (unsigned i = 0; i < steps->links && ARC_OK == status; ++i) {
        arc_link_t *link = &steps->link[i];
        if (0 != link->received_bytes) {
            status = stream->receive(steps->stream, link->peer, link->received,
                                     link->received_bytes, &link->receive);
        }
    }
    for (unsigned i = 0; i < steps->links && ARC_OK == status; ++i) {
        arc_link_t *link = &steps->link[i];
        if (0 != link->sent_bytes) {
            status =
                stream->send(steps->stream, link->peer, link->sent, link->sent_bytes, &link->send);
        }
    }
    return status;
}

/* ARC_OK: all messages of the step have come and gone. */
static ARC_MUST_CHECK arc_status_t test_messages(arc_steps_t *steps)
{
    arc_status_t all = ARC_OK;

    for (unsigned i = 0; i < 2 * steps->links; ++i) {
        arc_link_t *link = &steps->link[i / 2];
        arc_stream_request_t *request = 0 == i % 2 ? &link->receive : &link->send;
        if (NULL == request->handle) {
            continue;
        }
        const arc_status_t status = steps->stream->ops->test(steps->stream, request);
        if (ARC_OK != status && ARC_IN_PROGRESS != status) {
            return status;
        }
        steps->task.steps += ARC_OK == status;
        all = ARC_OK == all ? status : all;
    }
    return all;
}

static void give_up(arc_task_t *task)
{
    arc_steps_t *steps = (arc_steps_t *) task;

    for (unsigned i = 0; i < steps->links; ++i) {
        arc_stream_abort(steps->stream, &steps->link[i].receive);
        arc_stream_abort(steps->stream, &steps->link[i].send);
    }
    steps->status = ARC_ERR_TRANSPORT;
}

static ARC_MUST_CHECK arc_status_t run(arc_steps_t *steps)
{
    for (;;) {
        arc_status_t status = ARC_OK;
        if (0 == steps->links) {
            steps->links = steps->ops->begin(steps);
            if (0 == steps->links) {
                return ARC_OK;
            }
            status = start_messages(steps);
        }
        if (ARC_OK == status) {
            status = test_messages(steps);
        }
        if (ARC_OK == status) {
            status = steps->ops->end(steps);
            steps->links = 0;
            ++steps->step;
        }
        if (ARC_OK != status) {
            return status;
        }
    }
}

static arc_status_t progress(arc_task_t *task)
{
    arc_steps_t *steps = (arc_steps_t *) task;
    const arc_status_t status = ARC_OK == steps->status ? run(steps) : steps->status;

    if (ARC_OK != status && ARC_IN_PROGRESS != status) {
        give_up(task);
        steps->status = status;
    }
    return status;
}

/* Whose message came has started its receives before: what it is sent is on its way. */
static bool waits_for(const arc_task_t *task, unsigned rank)
{
    const arc_steps_t *steps = (const arc_steps_t *) task;
    bool waits = false;

    for (unsigned i = 0; i < steps->links; ++i) {
        const arc_link_t *link = &steps->link[i];
        waits |= rank == link->peer && (NULL != link->receive.handle || NULL != link->send.handle);
    }
    return waits;
}

void arc_steps_start(arc_steps_t *steps, const arc_steps_ops_t *ops, arc_stream_t *stream,
                     arc_link_t *link)
{
    static const arc_task_ops_t task_ops = {
        .progress = progress, .waits_for = waits_for, .abort = give_up};

    *steps = (arc_steps_t){
        .task.ops = &task_ops,
        .ops = ops,
        .stream = stream,
        .link = link,
    };
}

/* ---- one step alone ---- */

typedef struct trade {
    arc_steps_t steps; /* first */
    unsigned links;
} trade_t;

static unsigned begin_trade(arc_steps_t *steps)
{
    return 0 == steps->step ? ((const trade_t *) steps)->links : 0;
}

static arc_status_t end_trade(arc_steps_t *steps)
{
    arc_status_t status = ARC_OK;

    for (unsigned i = 0; i < steps->links; ++i) {
        const arc_link_t *link = &steps->link[i];
        status = link->receive.bytes == link->received_bytes ? status : ARC_ERR_PROTOCOL;
    }
    return status;
}

arc_status_t arc_steps_trade(arc_stream_t *stream, arc_link_t *link, unsigned links,
                             const arc_wait_t *wait, unsigned *missing)
{
    static const arc_steps_ops_t ops = {.begin = begin_trade, .end = end_trade};
    trade_t trade = {.links = links};
    arc_task_t *task = &trade.steps.task;

    arc_steps_start(&trade.steps, &ops, stream, link);
    const arc_status_t status = arc_wait_run(wait, task);
    for (unsigned i = 0; ARC_ERR_TIMEOUT == status && i < links; ++i) {
        *missing = task->ops->waits_for(task, link[i].peer) ? link[i].peer : *missing;
    }
    if (ARC_ERR_TIMEOUT == status) {
        arc_task_abort(task);
    }
    return status;
}
