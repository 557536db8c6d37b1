/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "unit.h"
#include "agreement.h"
#include "sim_held.h"

enum { LINK_MESSAGES = 4 };

typedef struct message {
    uint64_t words[ARC_AGREEMENT_WORDS];
    size_t bytes;
} message_t;

typedef struct mailbox {
    message_t message[LINK_MESSAGES];
    unsigned sent;
    unsigned received;
} mailbox_t;

typedef struct pending {
    unsigned from;
    void *buffer;
    bool started;
} pending_t;

typedef struct held_stream {
    arc_stream_t base;
    pending_t pending;
} held_stream_t;

static mailbox_t mail[SIM_HELD_RANKS][SIM_HELD_RANKS]; /* [from][to] */
static unsigned long moves;                            /* messages sent, and ranks that have come */
static bool has_come[SIM_HELD_RANKS];
static held_stream_t held[SIM_HELD_RANKS];

static void come(unsigned rank)
{
    moves += !has_come[rank];
    has_come[rank] = true;
}

static arc_status_t held_send(arc_stream_t *base, unsigned peer, const void *buffer, size_t bytes,
                              arc_stream_request_t *request)
{
    mailbox_t *box = &mail[base->rank][peer];

    come(base->rank);
    assert_true(peer < base->ranks && peer != base->rank);
    assert_true(box->sent < LINK_MESSAGES && bytes <= sizeof box->message[0].words);
    message_t *message = &box->message[box->sent++];
    ++moves;
    memcpy(message->words, buffer, bytes);
    message->bytes = bytes;
    request->handle = box;
    return ARC_OK;
}

static arc_status_t held_receive(arc_stream_t *base, unsigned peer, void *buffer,
                                 size_t capacity_bytes, arc_stream_request_t *request)
{
    pending_t *pending = &((held_stream_t *) base)->pending;

    assert_true(peer < base->ranks && peer != base->rank && !pending->started);
    assert_true(capacity_bytes <= sizeof(uint64_t) * ARC_AGREEMENT_WORDS);
    *pending = (pending_t){.from = peer, .buffer = buffer, .started = true};
    request->handle = pending;
    return ARC_OK;
}

static arc_status_t held_test(arc_stream_t *base, arc_stream_request_t *request)
{
    pending_t *pending = &((held_stream_t *) base)->pending;

    if (request->handle == pending) {
        mailbox_t *box = &mail[pending->from][base->rank];
        if (box->received == box->sent) {
            return ARC_IN_PROGRESS;
        }
        const message_t *message = &box->message[box->received++];
        memcpy(pending->buffer, message->words, message->bytes);
        request->bytes = message->bytes;
        pending->started = false;
    } else if (!has_come[(unsigned) ((mailbox_t *) request->handle - mail[base->rank])]) {
        return ARC_IN_PROGRESS;
    }
    request->handle = NULL;
    return ARC_OK;
}

static void held_abort(arc_stream_t *base, arc_stream_request_t *request)
{
    pending_t *pending = &((held_stream_t *) base)->pending;

    if (request->handle == pending) {
        pending->started = false;
    }
    request->handle = NULL;
}

void sim_held_make(unsigned ranks)
{
    static const arc_stream_ops_t ops = {
        .send = held_send, .receive = held_receive, .test = held_test, .abort = held_abort};

    memset(has_come, 0, sizeof has_come);
    memset(held, 0, sizeof held);
    for (unsigned rank = 0; rank < ranks; ++rank) {
        memset(mail[rank], 0, ranks * sizeof mail[rank][0]);
        held[rank].base = (arc_stream_t){.ops = &ops, .rank = rank, .ranks = ranks};
    }
}

arc_stream_t *sim_held_stream(unsigned rank)
{
    return &held[rank].base;
}

bool sim_held_receives(unsigned rank)
{
    return held[rank].pending.started;
}

unsigned sim_held_left(unsigned from, unsigned to)
{
    return mail[from][to].sent - mail[from][to].received;
}

/* True if some rank got further. */
static bool run_once(unsigned ranks, arc_task_t *const *tasks, const bool *runs,
                     arc_status_t *statuses)
{
    bool moved = false;

    for (unsigned rank = 0; rank < ranks; ++rank) {
        if (runs[rank] && ARC_IN_PROGRESS == statuses[rank]) {
            arc_task_t *task = tasks[rank];
            const unsigned long before = task->steps + moves;
            come(rank);
            statuses[rank] = task->ops->progress(task);
            moved = moved || before != task->steps + moves || ARC_IN_PROGRESS != statuses[rank];
        }
    }
    return moved;
}

void sim_held_run(unsigned ranks, arc_task_t *const *tasks, const bool *runs,
                  arc_status_t *statuses)
{
    while (run_once(ranks, tasks, runs, statuses)) {
    }
}
