/*
 * The time of a call between nodes of a simulated network.
 *
 *     network PLATFORM ALGORITHM NODES OWNERS CHUNK_BYTES OVERHEAD_US checked|free|goal BYTES
 * [--cfg=...]
 *
 * Prints: bytes, microseconds of a call, messages and bytes that a node sends; or what each rank
 * did in one call (network_goal.h).
 *
 * An owner of a node is an actor of SimGrid.  A message up to EAGER_BYTES leaves at once and is
 * complete for its sender; a longer one travels when both sides are there.  A message has
 * OVERHEAD_US of processor time on either side, a longer one on the sender's only.
 *
 * A mailbox with a receiver lets a message begin before somebody waits for it, but hands out what
 * was put there before it had one last.  So mailboxes get their receivers between the first call,
 * which is not timed, and the others, when they are empty.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <inttypes.h>
#include <simgrid/actor.h>
#include <simgrid/barrier.h>
#include <simgrid/comm.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/mailbox.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lowlat_net.h"
#include "network.h"
#include "network_goal.h"

enum {
    EAGER_BYTES = 64 << 10,
    ENVELOPE_BYTES = 16, /* as SMPI's messages have */
    CALLS = 3,
    NAME_BYTES = 64,
    SETTINGS = 7, /* arguments in front of the lengths */
};
static const double us = 1e-6;

typedef struct message {
    size_t bytes;
    unsigned char data[]; /* where it is carried */
} message_t;

typedef struct operation {
    struct actor *actor;
    unsigned at;    /* its place among the actor's pending ones */
    sg_comm_t comm; /* NULL: it has ended */
    void *message;
    void *buffer; /* to receive into; NULL: a send */
    size_t bytes;
    network_goal_message_t goal;
} operation_t;

/* Where an actor receives. */
typedef struct inlet {
    unsigned number; /* of the stream */
    unsigned peer;
} inlet_t;

typedef struct actor {
    unsigned node;
    unsigned owner;
    network_job_t *job;
    network_goal_t *goal; /* NULL: nothing is recorded */
    operation_t **pending;
    sg_comm_t *comms; /* of these */
    unsigned count;
    unsigned room;
    unsigned idle; /* steps since one was pending */
    inlet_t *inlets;
    unsigned inlet_count;
} actor_t;

typedef struct link_stream {
    arc_stream_t base;
    actor_t *actor;
    unsigned number;
} link_stream_t;

/* Of the length that is simulated. */
static network_setting_t setting;
static bool records;
static network_goal_t **goals; /* of all ranks, where they are recorded */
static double overhead_s;
static double first_s; /* when the untimed calls were over */
static double last_s;
static uint64_t messages;
static uint64_t message_bytes;
static unsigned wrong;
static sg_bar_t barrier; /* of all actors */
static operation_t sent_at_once;

static void name_mailbox(char name[NAME_BYTES], const link_stream_t *stream, unsigned from,
                         unsigned to)
{
    (void) snprintf(name, NAME_BYTES, "%u %u %u %u", stream->number, stream->actor->owner, from,
                    to);
}

/* All mailboxes where the actor received are its own from now on. */
static void take_mailboxes(actor_t *actor, const link_stream_t *streams)
{
    char name[NAME_BYTES];

    (void) sg_barrier_wait(barrier);
    for (unsigned i = 0; i < actor->inlet_count; ++i) {
        name_mailbox(name, &streams[actor->inlets[i].number], actor->inlets[i].peer, actor->node);
        sg_mailbox_set_receiver(name);
    }
    (void) sg_barrier_wait(barrier);
}

static void note_inlet(actor_t *actor, unsigned number, unsigned peer)
{
    for (unsigned i = 0; i < actor->inlet_count; ++i) {
        if (number == actor->inlets[i].number && peer == actor->inlets[i].peer) {
            return;
        }
    }
    actor->inlets = realloc(actor->inlets, (actor->inlet_count + 1) * sizeof *actor->inlets);
    actor->inlets[actor->inlet_count++] = (inlet_t){.number = number, .peer = peer};
}

static operation_t *add_pending(actor_t *actor)
{
    operation_t *operation = calloc(1, sizeof *operation);

    if (actor->count == actor->room) {
        actor->room = 2 * actor->room + 8;
        actor->pending = realloc(actor->pending, actor->room * sizeof(operation_t *));
        actor->comms = realloc(actor->comms, actor->room * sizeof(sg_comm_t));
    }
    operation->actor = actor;
    operation->at = actor->count;
    actor->pending[actor->count++] = operation;
    return operation;
}

static void remove_pending(operation_t *operation)
{
    actor_t *actor = operation->actor;
    operation_t *last = actor->pending[--actor->count];

    last->at = operation->at;
    actor->pending[last->at] = last;
    free(operation);
}

static network_goal_message_t post(const link_stream_t *stream, unsigned peer)
{
    actor_t *actor = stream->actor;

    network_goal_add(actor->goal, network_job_take_added(actor->job));
    return network_goal_post(actor->goal, peer * setting.owners + actor->owner, stream->number);
}

static arc_status_t send_message(arc_stream_t *base, unsigned peer, const void *buffer,
                                 size_t bytes, arc_stream_request_t *request)
{
    const link_stream_t *stream = (const link_stream_t *) base;
    message_t *message = malloc(sizeof *message + (setting.carried ? bytes : 0));
    const network_goal_message_t goal = post(stream, peer);
    char name[NAME_BYTES];

    network_goal_sent(stream->actor->goal, &goal, bytes);
    messages += 1;
    message_bytes += bytes;
    sg_actor_sleep_for(overhead_s);
    message->bytes = bytes;
    if (setting.carried) {
        memcpy(message->data, buffer, bytes);
    }
    name_mailbox(name, stream, stream->actor->node, peer);
    const sg_mailbox_t mailbox = sg_mailbox_by_name(name);
    if (bytes <= EAGER_BYTES) {
        sg_comm_detach(sg_mailbox_put_init(mailbox, message, (long) bytes + ENVELOPE_BYTES), NULL);
        request->handle = &sent_at_once;
        return ARC_OK;
    }
    operation_t *operation = add_pending(stream->actor);
    operation->goal = goal;
    operation->comm = sg_mailbox_put_async(mailbox, message, (long) bytes + ENVELOPE_BYTES);
    request->handle = operation;
    return ARC_OK;
}

static arc_status_t receive_message(arc_stream_t *base, unsigned peer, void *buffer,
                                    size_t capacity_bytes, arc_stream_request_t *request)
{
    const link_stream_t *stream = (const link_stream_t *) base;
    operation_t *operation = add_pending(stream->actor);
    char name[NAME_BYTES];

    name_mailbox(name, stream, peer, stream->actor->node);
    note_inlet(stream->actor, stream->number, peer);
    operation->buffer = buffer;
    operation->bytes = capacity_bytes;
    operation->goal = post(stream, peer);
    operation->comm = sg_mailbox_get_async(sg_mailbox_by_name(name), &operation->message);
    request->handle = operation;
    return ARC_OK;
}

static arc_status_t test_message(arc_stream_t *base, arc_stream_request_t *request)
{
    operation_t *operation = request->handle;

    if (&sent_at_once == operation) {
        request->handle = NULL;
        return ARC_OK;
    }
    if (NULL != operation->comm && !sg_comm_test(operation->comm)) {
        return ARC_IN_PROGRESS;
    }
    if (NULL != operation->buffer) {
        message_t *message = operation->message;
        request->bytes = message->bytes;
        network_goal_received(operation->actor->goal, &operation->goal, message->bytes);
        if (setting.carried) {
            memcpy(operation->buffer, message->data, message->bytes);
        }
        if (message->bytes <= EAGER_BYTES) { /* as in SMPI */
            sg_actor_sleep_for(overhead_s);
        }
        free(message);
    } else {
        network_goal_ended(operation->actor->goal, &operation->goal);
    }
    remove_pending(operation);
    request->handle = NULL;
    return ARC_OK;
}

static void abort_message(arc_stream_t *base, arc_stream_request_t *request)
{
    request->handle = NULL;
}

static const arc_stream_ops_t stream_ops = {
    .send = send_message, .receive = receive_message, .test = test_message, .abort = abort_message};

/* Until a message of the actor has ended; it may have none to wait for for some steps. */
static void wait_for_any(actor_t *actor)
{
    enum { IDLE_STEPS = 1000 };
    unsigned count = 0;
    operation_t *waited[actor->count > 0 ? actor->count : 1];

    for (unsigned i = 0; i < actor->count; ++i) {
        if (NULL != actor->pending[i]->comm) {
            waited[count] = actor->pending[i];
            actor->comms[count++] = actor->pending[i]->comm;
        }
    }
    if (0 == count && ++actor->idle < IDLE_STEPS) {
        return;
    }
    if (0 == count) {
        (void) fprintf(stderr, "network: node %u waits for nothing\n", actor->node);
        abort();
    }
    actor->idle = 0;
    waited[sg_comm_wait_any(actor->comms, count)]->comm = NULL;
}

static void run_actor(int argc, char **argv)
{
    actor_t actor = {.node = (unsigned) atoi(argv[1]), .owner = (unsigned) atoi(argv[2])};
    link_stream_t streams[LOWLAT_EXCHANGES];
    arc_stream_t *bases[LOWLAT_EXCHANGES];

    for (unsigned i = 0; i < LOWLAT_EXCHANGES; ++i) {
        streams[i] = (link_stream_t){
            .base = {.ops = &stream_ops, .rank = actor.node, .ranks = setting.nodes},
            .actor = &actor,
            .number = i};
        bases[i] = &streams[i].base;
    }
    network_job_t *job = network_job_new(&setting, actor.node, bases);
    actor.job = job;
    if (records) {
        actor.goal = network_goal_new();
        goals[actor.node * setting.owners + actor.owner] = actor.goal;
    }
    for (unsigned call = 0; call < (records ? 1 : CALLS); ++call) {
        arc_task_t *task = network_job_start(job);
        arc_status_t status = task->ops->progress(task);
        while (ARC_IN_PROGRESS == status) {
            wait_for_any(&actor);
            status = task->ops->progress(task);
        }
        wrong += ARC_OK != status || !network_job_is_right(job);
        network_goal_add(actor.goal, network_job_take_added(job));
        if (0 == call) {
            take_mailboxes(&actor, streams);
            first_s = simgrid_get_clock() > first_s ? simgrid_get_clock() : first_s;
        }
    }
    last_s = simgrid_get_clock() > last_s ? simgrid_get_clock() : last_s;
    network_job_free(job);
    free(actor.pending);
    free(actor.comms);
    free(actor.inlets);
}

static void start_actors(void)
{
    char node_text[NAME_BYTES];
    char owner_text[NAME_BYTES];
    char *argv[] = {(char *) "owner", node_text, owner_text, NULL};

    for (unsigned node = 0; node < setting.nodes; ++node) {
        char host[NAME_BYTES];
        (void) snprintf(host, sizeof host, "n%u", node);
        for (unsigned owner = 0; owner < setting.owners; ++owner) {
            (void) snprintf(node_text, sizeof node_text, "%u", node);
            (void) snprintf(owner_text, sizeof owner_text, "%u", owner);
            (void) sg_actor_create("owner", sg_host_by_name(host), run_actor, 3, argv);
        }
    }
}

int main(int argc, char **argv)
{
    simgrid_init(&argc, argv);
    if (argc != SETTINGS + 2) {
        (void) fprintf(stderr, "usage: network PLATFORM ALGORITHM NODES OWNERS CHUNK_BYTES "
                               "OVERHEAD_US checked|free|goal BYTES\n");
        return 2;
    }
    setting = (network_setting_t){.algorithm = argv[2],
                                  .nodes = (unsigned) atoi(argv[3]),
                                  .owners = (unsigned) atoi(argv[4]),
                                  .chunk_bytes = (size_t) atol(argv[5]),
                                  .checked = 0 == strcmp(argv[7], "checked"),
                                  .bytes = (size_t) atol(argv[8])};
    setting.carried = setting.checked || 0 == strcmp(setting.algorithm, NETWORK_PACKED);
    overhead_s = atof(argv[6]) * us;
    records = 0 == strcmp(argv[7], "goal");
    const unsigned ranks = setting.nodes * setting.owners;
    goals = calloc(ranks, sizeof *goals);
    simgrid_load_platform(argv[1]);
    barrier = sg_barrier_init(ranks);
    start_actors();
    simgrid_run();
    sg_barrier_destroy(barrier);
    if (records) {
        (void) printf("num_ranks %u\n", ranks);
    }
    for (unsigned rank = 0; records && rank < ranks; ++rank) {
        network_goal_print(goals[rank], rank);
    }
    free(goals);
    if (records) {
        return wrong > 0;
    }
    const double calls = CALLS;
    const double senders = calls * setting.nodes;
    (void) printf("%zu %.2f %.1f %.0f\n", setting.bytes, (last_s - first_s) / (CALLS - 1) / us,
                  (double) messages / senders, (double) message_bytes / senders);
    if (wrong > 0) {
        (void) fprintf(stderr, "network: %u calls went wrong\n", wrong);
    }
    return wrong > 0;
}
