/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <string.h>

#include "quant_layout.h"
#include "quant_ring.h"
#include "quant_wire.h"

typedef enum slot_state { SLOT_FREE = 0, SLOT_RECEIVING, SLOT_SENDING } slot_state_t;

typedef struct slot {
    slot_state_t state;
    arc_stream_request_t request;
    uint8_t *message;
} slot_t;

typedef struct quant_ring {
    arc_task_t task; /* first: the task is the ring */
    quant_config_t config;
    arc_stream_t *stream;
    unsigned window;        /* segments of a shard that travel together */
    unsigned receiving_max; /* slots that may receive at a time */

    quant_operation_t operation;
    quant_layout_t layout;
    arc_status_t status;

    size_t segments;     /* of the own shard */
    size_t own_next;     /* the next one to send in step 0 */
    uint64_t turns;      /* receives, the empty ones included */
    uint64_t turn_next;  /* the next one to act on */
    uint64_t turn_ahead; /* the next one to start */

    slot_t *oldest[QUANT_DEPTH_MAX]; /* the receiving slots as a queue, in order */
    unsigned oldest_head;
    unsigned receiving;

    float *scratch; /* one segment: partial sums never touch recv */
    slot_t slots[QUANT_DEPTH_MAX];
} quant_ring_t;

/* The receive number `turn`: in which step, of what. */
typedef struct turn {
    unsigned step;
    quant_span_t span;
} turn_t;

static size_t aligned(size_t bytes)
{
    return quant_divide_up(bytes, QUANT_MEMORY_ALIGN_BYTES) * QUANT_MEMORY_ALIGN_BYTES;
}

static size_t slot_bytes(const quant_config_t *config)
{
    size_t reduce =
        quant_wire_bytes_max(config->reduce_format, config->segment_elems, config->block_rows);
    size_t gather =
        quant_wire_bytes_max(config->gather_format, config->segment_elems, config->block_rows);
    return aligned(reduce > gather ? reduce : gather);
}

static unsigned steps_of(const quant_ring_t *ring)
{
    return 2 * (ring->stream->ranks - 1);
}

static unsigned left_of(const quant_ring_t *ring)
{
    return (ring->stream->rank + ring->stream->ranks - 1) % ring->stream->ranks;
}

static unsigned right_of(const quant_ring_t *ring)
{
    return (ring->stream->rank + 1) % ring->stream->ranks;
}

static turn_t turn_at(const quant_ring_t *ring, uint64_t index)
{
    const unsigned ranks = ring->stream->ranks;
    uint64_t round = index / ring->window;
    unsigned step = (unsigned) (round % steps_of(ring));
    size_t segment = (size_t) (round / steps_of(ring) * ring->window + index % ring->window);
    unsigned shard = (ring->stream->rank + 2 * ranks - step - 1) % ranks;

    return (turn_t){
        .step = step,
        .span = quant_layout_segment(&ring->layout, shard, segment),
    };
}

static uint64_t skip_empty(const quant_ring_t *ring, uint64_t turn)
{
    while (turn < ring->turns && 0 == turn_at(ring, turn).span.elems) {
        ++turn;
    }
    return turn;
}

/* Own segments of group g go out between the receives of the last step of group g - 1. */
static bool own_is_next(const quant_ring_t *ring)
{
    uint64_t group = ring->own_next / ring->window;
    uint64_t place = group * steps_of(ring) * ring->window + ring->own_next % ring->window;

    /* The place is one round late, so that it is no negative number for group 0. */
    return ring->own_next < ring->segments && place <= ring->turn_next + ring->window;
}

static quant_wire_segment_t segment_sent_in(const quant_ring_t *ring, unsigned step,
                                            const quant_span_t *span)
{
    bool partial = step < ring->stream->ranks - 1;

    return (quant_wire_segment_t){
        .format = partial ? ring->config.reduce_format : ring->config.gather_format,
        .block_rows = ring->config.block_rows,
        .sequence = ring->operation.sequence,
        .elements = (uint32_t) span->elems,
    };
}

static slot_t *free_slot(quant_ring_t *ring)
{
    for (unsigned i = 0; i < ring->config.depth; ++i) {
        if (SLOT_FREE == ring->slots[i].state) {
            return &ring->slots[i];
        }
    }
    return NULL;
}

static bool is_sending(const quant_ring_t *ring)
{
    for (unsigned i = 0; i < ring->config.depth; ++i) {
        if (SLOT_SENDING == ring->slots[i].state) {
            return true;
        }
    }
    return false;
}

static ARC_MUST_CHECK arc_status_t send_slot(quant_ring_t *ring, slot_t *slot, size_t bytes)
{
    arc_status_t status =
        ring->stream->ops->send(ring->stream, right_of(ring), slot->message, bytes, &slot->request);
    slot->state = ARC_OK == status ? SLOT_SENDING : SLOT_FREE;
    return status;
}

static ARC_MUST_CHECK arc_status_t reap_sends(quant_ring_t *ring)
{
    for (unsigned i = 0; i < ring->config.depth; ++i) {
        slot_t *slot = &ring->slots[i];
        if (SLOT_SENDING != slot->state) {
            continue;
        }
        arc_status_t status = ring->stream->ops->test(ring->stream, &slot->request);
        if (ARC_OK == status) {
            slot->state = SLOT_FREE;
        } else if (ARC_IN_PROGRESS != status) {
            return status;
        }
    }
    return ARC_OK;
}

static ARC_MUST_CHECK arc_status_t start_receives(quant_ring_t *ring)
{
    while (ring->receiving < ring->receiving_max && ring->turn_ahead < ring->turns) {
        slot_t *slot = free_slot(ring);
        if (NULL == slot) {
            return ARC_OK;
        }
        turn_t turn = turn_at(ring, ring->turn_ahead);
        quant_wire_segment_t segment = segment_sent_in(ring, turn.step, &turn.span);
        size_t capacity =
            quant_wire_bytes_max(segment.format, segment.elements, segment.block_rows);
        arc_status_t status = ring->stream->ops->receive(ring->stream, left_of(ring), slot->message,
                                                         capacity, &slot->request);
        if (ARC_OK != status) {
            return status;
        }
        slot->state = SLOT_RECEIVING;
        ring->oldest[(ring->oldest_head + ring->receiving) % QUANT_DEPTH_MAX] = slot;
        ++ring->receiving;
        ring->turn_ahead = skip_empty(ring, ring->turn_ahead + 1);
    }
    return ARC_OK;
}

/* Step 0: the own shard goes out as it is. */
static ARC_MUST_CHECK arc_status_t send_own(quant_ring_t *ring, slot_t *slot)
{
    quant_span_t span = quant_layout_segment(&ring->layout, ring->stream->rank, ring->own_next);
    quant_wire_segment_t segment = segment_sent_in(ring, 0, &span);
    size_t bytes = quant_wire_pack(&segment, ring->config.kernels,
                                   ring->operation.send + span.begin, slot->message);
    ++ring->own_next;
    return send_slot(ring, slot, bytes);
}

/* A partial sum has arrived: add the own part and send it on; the owner also keeps the total. */
static ARC_MUST_CHECK arc_status_t reduce(quant_ring_t *ring, slot_t *slot, const turn_t *turn,
                                          const quant_format_t *format)
{
    const quant_config_t *config = &ring->config;
    const quant_span_t *span = &turn->span;
    const void *payload = quant_wire_payload(slot->message);
    quant_wire_segment_t next = segment_sent_in(ring, turn->step + 1, span);

    format->decode_add(config->kernels, payload, ring->operation.send + span->begin, span->elems,
                       config->block_rows, ring->scratch);
    size_t bytes = quant_wire_pack(&next, config->kernels, ring->scratch, slot->message);
    arc_status_t status = send_slot(ring, slot, bytes);
    if (ARC_OK != status || turn->step < ring->stream->ranks - 2) {
        return status;
    }

    /* The total as everybody else will see it, not the sum it was made of. */
    const quant_format_t *total = NULL;
    status = quant_wire_check(&next, slot->message, bytes, &total);
    if (ARC_OK == status) {
        total->decode(config->kernels, payload, span->elems, config->block_rows,
                      ring->operation.recv + span->begin);
    }
    return status;
}

/* A total has arrived: first send the same bytes on, then decode them. */
static ARC_MUST_CHECK arc_status_t gather(quant_ring_t *ring, slot_t *slot, const turn_t *turn,
                                          const quant_format_t *format, size_t bytes)
{
    if (turn->step + 1 < steps_of(ring)) {
        arc_status_t status = send_slot(ring, slot, bytes);
        if (ARC_OK != status) {
            return status;
        }
    }
    format->decode(ring->config.kernels, quant_wire_payload(slot->message), turn->span.elems,
                   ring->config.block_rows, ring->operation.recv + turn->span.begin);
    return ARC_OK;
}

/* ARC_IN_PROGRESS: nothing has arrived. */
static ARC_MUST_CHECK arc_status_t take_message(quant_ring_t *ring)
{
    if (0 == ring->receiving) {
        return ARC_IN_PROGRESS;
    }
    slot_t *slot = ring->oldest[ring->oldest_head];
    arc_status_t status = ring->stream->ops->test(ring->stream, &slot->request);
    if (ARC_OK != status) {
        return status;
    }
    size_t bytes = slot->request.bytes;
    ring->oldest_head = (ring->oldest_head + 1) % QUANT_DEPTH_MAX;
    --ring->receiving;

    /* Keep the link busy while this message is worked on; its own slot is not yet free. */
    status = start_receives(ring);
    slot->state = SLOT_FREE;
    if (ARC_OK != status) {
        return status;
    }

    turn_t turn = turn_at(ring, ring->turn_next);
    quant_wire_segment_t expected = segment_sent_in(ring, turn.step, &turn.span);
    const quant_format_t *format = NULL;
    status = quant_wire_check(&expected, slot->message, bytes, &format);
    if (ARC_OK != status) {
        return status;
    }
    ring->turn_next = skip_empty(ring, ring->turn_next + 1);
    return turn.step < ring->stream->ranks - 1 ? reduce(ring, slot, &turn, format)
                                               : gather(ring, slot, &turn, format, bytes);
}

/* ARC_OK: something was done; ARC_IN_PROGRESS: nothing can be done now. */
static ARC_MUST_CHECK arc_status_t act(quant_ring_t *ring)
{
    arc_status_t status = reap_sends(ring);
    if (ARC_OK == status) {
        status = start_receives(ring);
    }
    if (ARC_OK != status) {
        return status;
    }
    if (!own_is_next(ring)) {
        return take_message(ring);
    }
    slot_t *slot = free_slot(ring);
    return NULL == slot ? ARC_IN_PROGRESS : send_own(ring, slot);
}

static bool is_complete(const quant_ring_t *ring)
{
    return ring->turn_next == ring->turns && ring->own_next == ring->segments && !is_sending(ring);
}

static arc_status_t progress(arc_task_t *task)
{
    quant_ring_t *ring = (quant_ring_t *) task;
    arc_status_t status = ring->status;

    while (ARC_OK == status && !is_complete(ring)) {
        status = act(ring);
        task->steps += ARC_OK == status;
    }
    if (ARC_OK != status && ARC_IN_PROGRESS != status) {
        quant_ring_abort(task);
        ring->status = status;
    }
    return status;
}

static bool waits_for(const arc_task_t *task, unsigned rank)
{
    const quant_ring_t *ring = (const quant_ring_t *) task;

    if (is_complete(ring)) {
        return false;
    }
    bool for_message = !own_is_next(ring) && 0 != ring->receiving;
    return rank == (for_message ? left_of(ring) : right_of(ring));
}

static const arc_task_ops_t task_ops = {.progress = progress, .waits_for = waits_for};

size_t quant_ring_memory_bytes(const quant_config_t *config)
{
    return aligned(sizeof(quant_ring_t)) + aligned(config->segment_elems * sizeof(float)) +
           config->depth * slot_bytes(config);
}

arc_task_t *quant_ring_init(const quant_config_t *config, arc_stream_t *stream, void *memory)
{
    quant_ring_t *ring = memory;
    uint8_t *next = (uint8_t *) memory + aligned(sizeof(*ring));

    memset(ring, 0, sizeof(*ring));
    ring->task.ops = &task_ops;
    ring->config = *config;
    ring->stream = stream;
    ring->window = (config->depth - 1) / 2;
    ring->receiving_max = config->depth - 1 - ring->window;
    ring->scratch = (float *) next;
    next += aligned(config->segment_elems * sizeof(float));
    for (unsigned i = 0; i < config->depth; ++i, next += slot_bytes(config)) {
        ring->slots[i].message = next;
    }
    return &ring->task;
}

void quant_ring_start(arc_task_t *task, const quant_operation_t *operation)
{
    quant_ring_t *ring = (quant_ring_t *) task;
    const unsigned ranks = ring->stream->ranks;

    ring->operation = *operation;
    ring->layout = (quant_layout_t){
        .count = operation->count,
        .shards = ranks,
        .segment_elems = ring->config.segment_elems,
    };
    ring->status = ARC_OK;
    ring->own_next = 0;
    ring->turn_next = 0;
    ring->turn_ahead = 0;
    if (1 == ranks) {
        ring->segments = 0;
        ring->turns = 0;
        if (operation->send != operation->recv) {
            memcpy(operation->recv, operation->send, operation->count * sizeof(float));
        }
        return;
    }

    size_t longest = quant_layout_segments(&ring->layout);
    uint64_t groups = longest / ring->window + (0 != longest % ring->window);
    quant_span_t own = quant_layout_shard(&ring->layout, ring->stream->rank);
    ring->segments =
        own.elems / ring->config.segment_elems + (0 != own.elems % ring->config.segment_elems);
    ring->turns = groups * steps_of(ring) * ring->window;
    ring->turn_next = skip_empty(ring, 0);
    ring->turn_ahead = ring->turn_next;
}

void quant_ring_abort(arc_task_t *task)
{
    quant_ring_t *ring = (quant_ring_t *) task;

    for (unsigned i = 0; i < ring->config.depth; ++i) {
        slot_t *slot = &ring->slots[i];
        if (SLOT_FREE != slot->state) {
            ring->stream->ops->abort(ring->stream, &slot->request);
            slot->state = SLOT_FREE;
        }
    }
    ring->oldest_head = 0;
    ring->receiving = 0;
    ring->status = ARC_ERR_TRANSPORT;
}

double quant_ring_reduce_growth(unsigned ranks)
{
    /* 1 + 2 + ... + (N - 1): the partial sum sent in step s has s + 1 contributions. */
    return 0.5 * (double) ranks * ((double) ranks - 1);
}
