/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <string.h>

#include "exchange_schedule.h"
#include "quant_doubling.h"
#include "sizes.h"

/* Groups of `ranks` whose places lie `stride` apart. */
typedef struct phase {
    unsigned ranks;
    unsigned stride;
    unsigned first; /* of its links */
    bool inside;    /* of a node: numbers stay exact */
} phase_t;

typedef struct schedule {
    phase_t phase[QUANT_DOUBLING_PHASES_MAX];
    unsigned phases;
    unsigned links; /* of all phases */
} schedule_t;

/* What a rank exchanges with one peer. */
typedef struct link {
    unsigned peer;
    uint8_t *buffer;
    arc_stream_request_t receive;
    arc_stream_request_t send;
} link_t;

typedef struct doubling {
    arc_task_t task; /* first: the task is the doubling */
    quant_config_t config;
    arc_stream_t *stream;
    schedule_t schedule;
    unsigned place;                          /* of this rank, in the order by node */
    link_t *link;                            /* [links] */
    uint8_t *own[QUANT_DOUBLING_PHASES_MAX]; /* the message that a phase sends */
    void *sum;
    quant_wire_segment_t segment; /* of any message, but for its format and its key */

    /* Of the call: */
    quant_operation_t operation;
    const quant_element_t *element;
    unsigned next; /* phase */
    bool is_sent;  /* the messages of that phase are started */
    float error;   /* of the sum so far */
    arc_status_t status;
} doubling_t;

/* ---- who exchanges with whom ---- */

/* A phase for each prime factor of `number`. */
static void add_phases(schedule_t *schedule, unsigned number, unsigned stride, bool inside)
{
    for (unsigned factor = 2; number > 1; ++factor) {
        for (; 0 == number % factor; number /= factor) {
            schedule->phase[schedule->phases++] = (phase_t){
                .ranks = factor,
                .stride = stride,
                .first = schedule->links,
                .inside = inside,
            };
            schedule->links += factor - 1;
            stride *= factor;
        }
    }
}

static schedule_t schedule_of(const quant_config_t *config, unsigned ranks)
{
    const exchange_shape_t shape = quant_config_shape(config, ranks);
    schedule_t schedule = {.phases = 0};

    add_phases(&schedule, shape.per_node, 1, true);
    add_phases(&schedule, shape.nodes, shape.per_node, false);
    return schedule;
}

static bool has_few_messages(const schedule_t *schedule, unsigned ranks)
{
    unsigned doublings = 0;

    while (ranks > 1u << doublings) {
        ++doublings;
    }
    return schedule->links <= 2 * doublings;
}

unsigned quant_doubling_phases(const quant_config_t *config, unsigned ranks)
{
    unsigned phases = 0;

    if (0 == config->doubling_bytes || config->reduce_format != config->gather_format ||
        quant_format_is_exact(config->reduce_format) || 0 != config->minishards ||
        config->feedback || config->bounded) {
        return 0;
    }
    const schedule_t schedule = schedule_of(config, ranks);
    for (unsigned i = 0; i < schedule.phases; ++i) {
        phases += !schedule.phase[i].inside;
    }
    return has_few_messages(&schedule, ranks) ? phases : 0;
}

static const quant_element_t *element_of(const quant_operation_t *operation)
{
    return NULL == operation->element ? &quant_floats : operation->element;
}

bool quant_doubling_takes(const quant_config_t *config, const quant_operation_t *operation)
{
    return EXCHANGE_ALLREDUCE == operation->collective &&
           operation->count <= config->doubling_bytes / element_of(operation)->bytes;
}

/* ---- memory ---- */

static const quant_element_t *largest_element(const quant_config_t *config)
{
    return config->doubles ? &quant_doubles : &quant_floats;
}

static size_t most_elems(const quant_config_t *config)
{
    return config->doubling_bytes / sizeof(float);
}

static size_t message_bytes(const quant_config_t *config)
{
    return arc_round_up(largest_element(config)->bytes_max(config->reduce_format,
                                                           most_elems(config), config->block_rows),
                        EXCHANGE_ALIGN_BYTES);
}

/* The parts of the memory of a task, in their order. */
typedef enum part {
    PART_STATE,
    PART_LINKS,
    PART_MESSAGES,
    PART_SUM,
    PART_FLOATS,
    PART_TILE,
    PARTS
} part_t;

/* Where each part begins, and behind the last one the end. */
static void lay_out(const quant_config_t *config, const schedule_t *schedule,
                    size_t begin[PARTS + 1])
{
    const size_t bytes[PARTS] = {
        [PART_STATE] = sizeof(doubling_t),
        [PART_LINKS] = schedule->links * sizeof(link_t),
        [PART_MESSAGES] = (schedule->links + schedule->phases) * message_bytes(config),
        [PART_SUM] = most_elems(config) * largest_element(config)->bytes,
        [PART_FLOATS] = config->doubles ? most_elems(config) * sizeof(float) : 0,
        [PART_TILE] = quant_tile_elems(config->block_rows) * sizeof(float),
    };

    arc_lay_out(bytes, PARTS, EXCHANGE_ALIGN_BYTES, begin);
}

size_t quant_doubling_memory_bytes(const quant_config_t *config, unsigned ranks)
{
    const schedule_t schedule = schedule_of(config, ranks);
    size_t begin[PARTS + 1];

    lay_out(config, &schedule, begin);
    return begin[PARTS];
}

static unsigned digit_of(const doubling_t *task, const phase_t *phase)
{
    return task->place / phase->stride % phase->ranks;
}

/* The peers of a phase, the next place first: not all send to the same one at the same time. */
static void connect(doubling_t *task, const phase_t *phase, const exchange_shape_t *shape)
{
    const unsigned own = digit_of(task, phase);

    for (unsigned i = 0; i + 1 < phase->ranks; ++i) {
        const unsigned digit = (own + 1 + i) % phase->ranks;
        const unsigned at = task->place - own * phase->stride + digit * phase->stride;
        task->link[phase->first + i].peer = NULL == shape->order ? at : shape->order[at];
    }
}

static const arc_task_ops_t doubling_ops;

arc_task_t *quant_doubling_init(const quant_config_t *config, arc_stream_t *stream, void *memory)
{
    const exchange_shape_t shape = quant_config_shape(config, stream->ranks);
    const schedule_t schedule = schedule_of(config, stream->ranks);
    const exchange_pair_t pair = exchange_schedule_place(&shape, stream->rank);
    doubling_t *task = memory;
    uint8_t *base = memory;
    size_t begin[PARTS + 1];

    lay_out(config, &schedule, begin);
    memset(memory, 0, begin[PART_MESSAGES]);
    *task = (doubling_t){
        .task.ops = &doubling_ops,
        .config = *config,
        .stream = stream,
        .schedule = schedule,
        .place = pair.node * shape.per_node + pair.place,
        .link = (link_t *) (base + begin[PART_LINKS]),
        .sum = base + begin[PART_SUM],
        .segment =
            {
                .codec =
                    {
                        .kernels = config->kernels,
                        .block_rows = config->block_rows,
                        .tile = (float *) (base + begin[PART_TILE]),
                    },
                .floats = (float *) (base + begin[PART_FLOATS]),
            },
    };
    uint8_t *message = base + begin[PART_MESSAGES];
    for (unsigned i = 0; i < schedule.links; ++i, message += message_bytes(config)) {
        task->link[i].buffer = message;
    }
    for (unsigned i = 0; i < schedule.phases; ++i, message += message_bytes(config)) {
        task->own[i] = message;
        connect(task, &schedule.phase[i], &shape);
    }
    return &task->task;
}

/* ---- a call ---- */

/* What both ends know of the messages of a phase. */
static quant_wire_segment_t segment_of(const doubling_t *task, const phase_t *phase)
{
    quant_wire_segment_t segment = task->segment;

    segment.codec.format = phase->inside ? segment.exact : task->config.reduce_format;
    return segment;
}

static void give_up(arc_task_t *base)
{
    doubling_t *task = (doubling_t *) base;

    for (unsigned i = 0; i < task->schedule.links; ++i) {
        arc_stream_abort(task->stream, &task->link[i].receive);
        arc_stream_abort(task->stream, &task->link[i].send);
    }
    task->status = ARC_ERR_TRANSPORT;
}

static ARC_MUST_CHECK arc_status_t start_receives(doubling_t *task)
{
    arc_status_t status = ARC_OK;

    for (unsigned k = 0; k < task->schedule.phases && 0 != task->operation.count; ++k) {
        const phase_t *phase = &task->schedule.phase[k];
        for (unsigned i = 0; i + 1 < phase->ranks && ARC_OK == status; ++i) {
            link_t *link = &task->link[phase->first + i];
            const quant_wire_segment_t segment = segment_of(task, phase);
            const size_t capacity = task->element->bytes_max(
                segment.codec.format, segment.codec.elems, segment.codec.block_rows);
            status = task->stream->ops->receive(task->stream, link->peer, link->buffer, capacity,
                                                &link->receive);
        }
    }
    return status;
}

void quant_doubling_start(arc_task_t *base, const quant_operation_t *operation)
{
    doubling_t *task = (doubling_t *) base;

    task->operation = *operation;
    task->element = element_of(operation);
    task->segment.codec.elems = operation->count;
    task->segment.exact = task->element->exact;
    task->segment.sequence = operation->sequence;
    /* Of nothing nothing is sent. */
    task->next = 0 == operation->count ? task->schedule.phases : 0;
    task->is_sent = false;
    task->error = 0;
    /* An error is told by the first progress. */
    task->status = start_receives(task);
}

static ARC_MUST_CHECK arc_status_t send_sum(doubling_t *task, const phase_t *phase)
{
    const quant_storage_t *storage = task->operation.storage;
    const quant_wire_segment_t segment = segment_of(task, phase);
    const void *numbers = 0 == task->next ? task->operation.send : task->sum;
    uint8_t *message = task->own[task->next];
    arc_status_t status = ARC_OK;

    if (0 == task->next && NULL != storage) {
        storage->widen(numbers, task->sum, task->operation.count);
        numbers = task->sum;
    }
    const size_t bytes = task->element->pack(&segment, numbers, task->error, message);
    for (unsigned i = 0; i + 1 < phase->ranks && ARC_OK == status; ++i) {
        link_t *link = &task->link[phase->first + i];
        status = task->stream->ops->send(task->stream, link->peer, message, bytes, &link->send);
    }
    return status;
}

static ARC_MUST_CHECK arc_status_t receive_from(doubling_t *task, const phase_t *phase,
                                                link_t *link)
{
    arc_status_t status = ARC_OK;

    if (NULL != link->receive.handle) {
        status = task->stream->ops->test(task->stream, &link->receive);
        if (ARC_OK == status) {
            const quant_wire_segment_t segment = segment_of(task, phase);
            ++task->task.steps;
            status = quant_wire_check(&segment, link->buffer, link->receive.bytes);
        }
    }
    return status;
}

/* ARC_OK: the messages of all peers of the phase are here, and are what they have to be. */
static ARC_MUST_CHECK arc_status_t receive_sums(doubling_t *task, const phase_t *phase)
{
    arc_status_t all = ARC_OK;

    for (unsigned i = 0; i + 1 < phase->ranks; ++i) {
        const arc_status_t status = receive_from(task, phase, &task->link[phase->first + i]);
        if (ARC_OK != status && ARC_IN_PROGRESS != status) {
            return status;
        }
        all = ARC_OK == all ? status : all;
    }
    return all;
}

/* The message of a member of the own group. */
static const uint8_t *message_of(const doubling_t *task, const phase_t *phase, unsigned digit)
{
    const unsigned own = digit_of(task, phase);

    return digit == own
               ? task->own[task->next]
               : task->link[phase->first + (digit + phase->ranks - own - 1) % phase->ranks].buffer;
}

static void add_sums(doubling_t *task, const phase_t *phase)
{
    const bool is_result =
        task->next + 1 == task->schedule.phases && NULL == task->operation.storage;
    void *sum = is_result ? task->operation.recv : task->sum;
    const quant_wire_segment_t segment = segment_of(task, phase);

    for (unsigned digit = 0; digit < phase->ranks; ++digit) {
        const uint8_t *message = message_of(task, phase, digit);
        if (0 == digit) {
            task->element->unpack(&segment, message, sum);
            task->error = quant_wire_bound(message);
        } else {
            task->error = task->element->add(&segment, message, sum, task->error, sum);
        }
    }
}

static void store_halves(doubling_t *task)
{
    const quant_storage_t *storage = task->operation.storage;

    quant_storage_clamp(storage, task->config.kernels, task->error, task->sum,
                        task->operation.count);
    storage->narrow(task->sum, task->operation.recv, task->operation.count);
}

static ARC_MUST_CHECK arc_status_t run_phase(doubling_t *task)
{
    const phase_t *phase = &task->schedule.phase[task->next];
    arc_status_t status = ARC_OK;

    if (!task->is_sent) {
        status = send_sum(task, phase);
        task->is_sent = true;
    }
    if (ARC_OK == status) {
        status = receive_sums(task, phase);
    }
    if (ARC_OK == status) {
        add_sums(task, phase);
        ++task->next;
        task->is_sent = false;
        if (task->next == task->schedule.phases && NULL != task->operation.storage) {
            store_halves(task);
        }
    }
    return status;
}

static ARC_MUST_CHECK arc_status_t end_sends(doubling_t *task)
{
    arc_status_t status = ARC_OK;

    for (unsigned i = 0; i < task->schedule.links && ARC_OK == status; ++i) {
        status = arc_stream_test(task->stream, &task->link[i].send);
    }
    return status;
}

static arc_status_t progress(arc_task_t *base)
{
    doubling_t *task = (doubling_t *) base;
    arc_status_t status = task->status;

    while (ARC_OK == status && task->next < task->schedule.phases) {
        status = run_phase(task);
    }
    if (ARC_OK == status) {
        status = end_sends(task);
    }
    if (ARC_OK != status && ARC_IN_PROGRESS != status) {
        give_up(base);
        task->status = status;
    }
    return status;
}

static bool waits_for(const arc_task_t *base, unsigned rank)
{
    const doubling_t *task = (const doubling_t *) base;
    const bool receives = task->next < task->schedule.phases;
    const unsigned first = receives ? task->schedule.phase[task->next].first : 0;
    const unsigned links =
        receives ? task->schedule.phase[task->next].ranks - 1 : task->schedule.links;
    bool waits = false;

    for (unsigned i = first; i < first + links; ++i) {
        const link_t *link = &task->link[i];
        waits |=
            rank == link->peer && NULL != (receives ? link->receive.handle : link->send.handle);
    }
    return waits;
}

static const arc_task_ops_t doubling_ops = {
    .progress = progress, .waits_for = waits_for, .abort = give_up};

float quant_doubling_bound(const arc_task_t *task)
{
    return ((const doubling_t *) task)->error;
}
