/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "exchange_schedule.h"
#include "steps.h"
#include "quant_doubling.h"
#include "sizes.h"

/* More factors of at least 2 than a number of ranks can have. */
enum { GROUPS_MAX = 32 };

typedef struct doubling {
    arc_steps_t steps; /* first: the task is that of the steps */
    arc_link_t *link;
    arc_stream_t *stream;
    quant_coder_t *coder;
    exchange_shape_t shape;
    unsigned at;          /* of this rank, in the order by node */
    uint8_t *messages;    /* of all members of the largest group */
    size_t message_bytes; /* from one to the next */

    exchange_sum_t sum;                     /* so far */
    exchange_group_t group[GROUPS_MAX + 1]; /* of each phase; behind the last one without ranks */
} doubling_t;

/* ---- what goes this way ---- */

/* What a rank exchanges, all its groups together. */
typedef struct extent {
    unsigned between; /* groups of ranks on several nodes */
    unsigned links;   /* other members of all groups */
    unsigned members; /* of the largest one */
} extent_t;

static extent_t extent_of(const exchange_shape_t *shape)
{
    extent_t extent = {.links = 0};

    for (unsigned step = 0;; ++step) {
        const exchange_group_t group = exchange_schedule_group(shape, step);
        if (0 == group.ranks) {
            return extent;
        }
        extent.between += !group.inside;
        extent.links += group.ranks - 1;
        extent.members = group.ranks > extent.members ? group.ranks : extent.members;
    }
}

unsigned quant_doubling_phases(const quant_config_t *config, unsigned ranks)
{
    const exchange_shape_t shape = quant_config_shape(config, ranks);
    unsigned doublings = 0;

    if (0 == config->doubling_bytes || config->reduce_format != config->gather_format ||
        config->reduce_format->exact || 0 != config->minishards || config->feedback ||
        config->bounded) {
        return 0;
    }
    while (ranks > 1u << doublings) {
        ++doublings;
    }
    const extent_t extent = extent_of(&shape);
    return extent.links <= 2 * doublings ? extent.between : 0;
}

bool quant_doubling_takes(const quant_config_t *config, const quant_operation_t *operation)
{
    return EXCHANGE_ALLREDUCE == operation->collective &&
           operation->count <= config->doubling_bytes / operation->element->bytes;
}

/* ---- memory ---- */

static size_t message_bytes(const quant_config_t *config)
{
    return arc_round_up(quant_coder_message_bytes(config, config->doubling_bytes / sizeof(float)),
                        ARC_ALIGN_BYTES);
}

arc_task_t *quant_doubling_init(const quant_config_t *config, quant_coder_t *coder,
                                arc_stream_t *stream, arc_room_t *room)
{
    const exchange_shape_t shape = quant_config_shape(config, stream->ranks);
    const exchange_pair_t pair = exchange_schedule_place(&shape, stream->rank);
    const unsigned members = extent_of(&shape).members;
    doubling_t *task = arc_room_take(room, sizeof *task);
    arc_link_t *link = arc_room_take(room, members * sizeof *link);
    unsigned char *messages = arc_room_take(room, members * message_bytes(config));

    if (NULL == task) {
        return NULL;
    }
    *task = (doubling_t){
        .link = link,
        .stream = stream,
        .coder = coder,
        .shape = shape,
        .at = pair.node * shape.per_node + pair.place,
        .messages = messages,
        .message_bytes = message_bytes(config),
    };
    for (unsigned step = 0; step <= GROUPS_MAX; ++step) {
        task->group[step] = exchange_schedule_group(&shape, step);
    }
    return &task->steps.task;
}

/* ---- a call ---- */

/* What both ends know of the messages of a group. */
static exchange_message_t message_of(const doubling_t *task)
{
    return (exchange_message_t){
        .partial = true,
        .inside = task->group[task->steps.step].inside,
        .span = {.elems = task->coder->operation.count},
    };
}

static uint8_t *buffer_of(const doubling_t *task, unsigned member)
{
    return task->messages + member * task->message_bytes;
}

/* Code the own part, or the sum, for the others; the next one first: not all send to the same. */
static unsigned begin_phase(arc_steps_t *steps)
{
    doubling_t *task = (doubling_t *) steps;
    exchange_coder_t *coder = &task->coder->base;
    const exchange_group_t *group = &task->group[steps->step];

    if (0 == group->ranks || 0 == task->coder->operation.count) {
        quant_coder_end_sum(task->coder, &task->sum);
        return 0;
    }
    const exchange_message_t message = message_of(task);
    const unsigned own = task->at / group->stride % group->ranks;
    const size_t bytes = coder->ops->encode(coder, &message, 0 == steps->step ? NULL : &task->sum,
                                            buffer_of(task, own));
    for (unsigned i = 1; i < group->ranks; ++i) {
        const unsigned member = (own + i) % group->ranks;
        const unsigned place = task->at - own * group->stride + member * group->stride;
        steps->link[i - 1] = (arc_link_t){
            .peer = NULL == task->shape.order ? place : task->shape.order[place],
            .sent = buffer_of(task, own),
            .sent_bytes = bytes,
            .received = buffer_of(task, member),
            .received_bytes = coder->ops->capacity(coder, &message),
        };
    }
    return group->ranks - 1;
}

/* All members add what their messages say in one order. */
static arc_status_t end_phase(arc_steps_t *steps)
{
    doubling_t *task = (doubling_t *) steps;
    exchange_coder_t *coder = &task->coder->base;
    const exchange_message_t message = message_of(task);
    arc_status_t status = ARC_OK;

    for (unsigned i = 0; i < steps->links && ARC_OK == status; ++i) {
        const arc_link_t *link = &steps->link[i];
        status = coder->ops->check(coder, &message, link->received, link->receive.bytes);
    }
    for (unsigned member = 0; member < task->group[steps->step].ranks && ARC_OK == status;
         ++member) {
        const void *buffer = buffer_of(task, member);
        if (0 == member) {
            task->sum = quant_coder_begin_sum(task->coder, &message, buffer);
        } else {
            coder->ops->add(coder, &message, buffer, &task->sum, &task->sum);
        }
    }
    return status;
}

void quant_doubling_start(arc_task_t *base, const quant_operation_t *operation)
{
    static const arc_steps_ops_t ops = {.begin = begin_phase, .end = end_phase};
    doubling_t *task = (doubling_t *) base;

    quant_coder_start_whole(task->coder, operation);
    task->sum.error = 0;
    arc_steps_start(&task->steps, &ops, task->stream, task->link);
}
