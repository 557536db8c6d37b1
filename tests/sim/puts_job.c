/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "puts_job.h"
#include "testlib.h"

enum {
    MAX_MESSAGES = 3,
    MAX_ITEMS = 2 * PUTS_MAX_RANKS * PUTS_MAX_STREAMS * MAX_MESSAGES,
    MISALIGNMENTS = 9,
    STEPS_PER_ROUND_AND_RANK = 60000,
    STEPS_AFTER_FAULT = 1000,
    PASSES_MAX = 6, /* of time, between two steps of ranks */
};

/* A message as one of its ends has it. */
typedef struct item {
    unsigned stream;
    unsigned from;
    unsigned to;
    unsigned index;
    bool started;
    bool over;
    size_t bytes;
    test_buffer_t buffer;
    arc_stream_request_t request;
} item_t;

typedef struct actor {
    unsigned rank;
    arc_put_streams_t *streams;
    unsigned round;
    unsigned items_count;
    item_t items[MAX_ITEMS];
    arc_status_t status;
} actor_t;

typedef struct job {
    const puts_options_t *options;
    test_random_t random;
    sim_windows_t *windows;
    actor_t actors[PUTS_MAX_RANKS];
    puts_outcome_t outcome;
} job_t;

/* ---- what is sent ---- */

static bool does_send(const puts_options_t *options, unsigned round, unsigned from, unsigned to)
{
    const unsigned ranks = options->ranks;

    switch (options->pattern) {
    case PUTS_PAIRS:
        return to == (from ^ 1);
    case PUTS_DOUBLING:
        return to == (from ^ (round % 2 + 1));
    case PUTS_RING:
        return to == (from + 1) % ranks;
    case PUTS_ONE_WAY:
        return from < to;
    default:
        return from != to;
    }
}

static test_random_t random_of(const job_t *job, unsigned round, unsigned from, unsigned to,
                               unsigned stream, unsigned index)
{
    const uint64_t name =
        ((((uint64_t) round * PUTS_MAX_RANKS + from) * PUTS_MAX_RANKS + to) * PUTS_MAX_STREAMS +
         stream) *
            (MAX_MESSAGES + 1) +
        index;

    return test_random_of(job->options->window.seed, name + 1);
}

static unsigned messages_of(const job_t *job, unsigned round, unsigned from, unsigned to,
                            unsigned stream)
{
    test_random_t random = random_of(job, round, from, to, stream, MAX_MESSAGES);

    return 1 + (unsigned) test_random_below(&random, job->options->max_messages);
}

/* Short ones as likely as long ones, and often around the limits of fragments. */
static size_t draw_bytes(const puts_options_t *options, test_random_t *random)
{
    const size_t limits[] = {0, options->config.fused_bytes, options->config.slot_bytes,
                             arc_put_fragment_bytes(&options->config),
                             options->config.slots * options->config.slot_bytes};
    size_t bytes = 0;

    switch (test_random_below(random, 3)) {
    case 0:
        bytes = limits[test_random_below(random, sizeof limits / sizeof limits[0])] +
                test_random_below(random, 3);
        bytes -= bytes > 0 && 0 == test_random_below(random, 2);
        break;
    case 1:
        bytes = test_random_below(random, 1 + options->config.fused_bytes);
        break;
    default:
        bytes = test_random_below(random, 1 + options->max_bytes);
        break;
    }
    return bytes < options->max_bytes ? bytes : options->max_bytes;
}

static void fill_item(const job_t *job, unsigned round, const item_t *item, unsigned char *data)
{
    test_random_t random = random_of(job, round, item->from, item->to, item->stream, item->index);

    (void) draw_bytes(job->options, &random);
    test_random_fill(&random, data, item->bytes);
}

/* ---- one rank ---- */

static void add_items(job_t *job, actor_t *actor, unsigned from, unsigned to, unsigned stream)
{
    const unsigned count = does_send(job->options, actor->round, from, to)
                               ? messages_of(job, actor->round, from, to, stream)
                               : 0;

    for (unsigned index = 0; index < count; ++index) {
        item_t *item = &actor->items[actor->items_count++];
        test_random_t random = random_of(job, actor->round, from, to, stream, index);

        *item = (item_t){.stream = stream, .from = from, .to = to, .index = index};
        item->bytes = draw_bytes(job->options, &random);
        item->buffer = test_buffer_new(item->bytes, test_random_below(&job->random, MISALIGNMENTS));
        if (from == actor->rank) {
            fill_item(job, actor->round, item, item->buffer.data);
        }
    }
}

static void begin_round(job_t *job, actor_t *actor)
{
    const bool sends_first = 0 == test_random_below(&job->random, 2);

    actor->items_count = 0;
    for (unsigned turn = 0; turn < 2; ++turn) {
        const bool is_send = sends_first == (0 == turn);
        for (unsigned stream = 0; stream < job->options->config.streams; ++stream) {
            for (unsigned peer = 0; peer < job->options->ranks; ++peer) {
                if (peer != actor->rank) {
                    add_items(job, actor, is_send ? actor->rank : peer,
                              is_send ? peer : actor->rank, stream);
                }
            }
        }
    }
}

static bool is_send(const actor_t *actor, const item_t *item)
{
    return item->from == actor->rank;
}

/* May it be started?  In their order; the crossing pattern lets receives wait for sends. */
static bool may_start(const job_t *job, const actor_t *actor, const item_t *item)
{
    for (unsigned i = 0; i < actor->items_count; ++i) {
        const item_t *other = &actor->items[i];
        const bool same_way = other->from == item->from && other->to == item->to;
        if (other->stream != item->stream) {
            continue;
        }
        if (same_way && other->index < item->index && !other->started) {
            return false;
        }
        if (PUTS_CROSSING == job->options->pattern && !is_send(actor, item) &&
            item->to < item->from && is_send(actor, other) && other->to == item->from &&
            !other->over) {
            return false;
        }
    }
    return true;
}

static arc_status_t start_item(const actor_t *actor, item_t *item)
{
    arc_stream_t *stream = arc_put_streams_get(actor->streams, item->stream);

    item->started = true;
    return is_send(actor, item)
               ? stream->ops->send(stream, item->to, item->buffer.data, item->bytes, &item->request)
               : stream->ops->receive(stream, item->from, item->buffer.data, item->bytes,
                                      &item->request);
}

static void judge_item(job_t *job, const actor_t *actor, const item_t *item)
{
    SCOPED unsigned char *expected = test_alloc(item->bytes + 1);

    fill_item(job, actor->round, item, expected);
    job->outcome.messages += 1;
    job->outcome.wrong +=
        item->request.bytes != item->bytes || 0 != memcmp(expected, item->buffer.data, item->bytes);
}

static void drop_items(job_t *job, actor_t *actor)
{
    for (unsigned i = 0; i < actor->items_count; ++i) {
        item_t *item = &actor->items[i];
        arc_stream_t *stream = arc_put_streams_get(actor->streams, item->stream);

        if (NULL != item->request.handle) {
            stream->ops->abort(stream, &item->request);
            test_require(NULL == item->request.handle, "an aborted request is not idle");
        }
        job->outcome.intact = job->outcome.intact && test_buffer_intact(&item->buffer);
        test_buffer_free(&item->buffer);
    }
    actor->items_count = 0;
}

static arc_status_t step_item(job_t *job, const actor_t *actor, item_t *item)
{
    arc_stream_t *stream = arc_put_streams_get(actor->streams, item->stream);

    if (!item->started) {
        return may_start(job, actor, item) ? start_item(actor, item) : ARC_IN_PROGRESS;
    }
    arc_status_t status = stream->ops->test(stream, &item->request);
    if (ARC_OK == status) {
        test_require(NULL == item->request.handle, "a request that is over is not idle");
        item->over = true;
        if (!is_send(actor, item)) {
            judge_item(job, actor, item);
        }
    }
    return status;
}

static void step_actor(job_t *job, actor_t *actor)
{
    bool all_over = true;

    for (unsigned i = 0; i < actor->items_count; ++i) {
        item_t *item = &actor->items[i];
        if (!item->over && 0 == test_random_below(&job->random, 2)) {
            arc_status_t status = step_item(job, actor, item);
            if (ARC_OK != status && ARC_IN_PROGRESS != status) {
                actor->status = status;
                return;
            }
        }
        all_over = all_over && item->over;
    }
    if (all_over) {
        drop_items(job, actor);
        actor->round += 1;
        if (actor->round == job->options->rounds) {
            actor->status = ARC_OK;
        } else {
            begin_round(job, actor);
        }
    }
}

/* ---- the job ---- */

static void set_up(job_t *job)
{
    const puts_options_t *options = job->options;
    sim_peers_t peers[PUTS_MAX_RANKS] = {{0}};
    size_t window_bytes[PUTS_MAX_RANKS];

    test_require(options->ranks <= PUTS_MAX_RANKS && options->config.streams <= PUTS_MAX_STREAMS &&
                     options->max_messages <= MAX_MESSAGES,
                 "too much is asked for");
    for (unsigned rank = 0; rank < options->ranks; ++rank) {
        for (unsigned peer = 0; peer < options->ranks; ++peer) {
            if (peer != rank) {
                peers[rank].rank_of[peers[rank].count++] = peer;
            }
        }
        window_bytes[rank] = arc_put_window_bytes(&options->config, peers[rank].count);
    }
    job->windows = sim_windows_new(options->ranks, peers, window_bytes, &options->window);
    for (unsigned rank = 0; rank < options->ranks; ++rank) {
        actor_t *actor = &job->actors[rank];
        *actor = (actor_t){.rank = rank, .status = ARC_IN_PROGRESS};
        test_require(ARC_OK == arc_put_streams_new(
                                   &actor->streams, sim_windows_get(job->windows, rank),
                                   &options->config, peers[rank].rank_of, rank, options->ranks),
                     "no memory");
        begin_round(job, actor);
    }
}

/* Of all links that have messages in every round. */
static uint64_t least_fragments(const job_t *job)
{
    const puts_options_t *options = job->options;
    uint64_t least = UINT64_MAX;

    for (unsigned from = 0; from < options->ranks; ++from) {
        for (unsigned to = 0; to < options->ranks; ++to) {
            uint64_t fragments = 0;
            if (!does_send(options, 0, from, to) || !does_send(options, 1, from, to)) {
                continue;
            }
            for (unsigned round = 0; round < options->rounds; ++round) {
                const unsigned count = messages_of(job, round, from, to, 0);
                for (unsigned index = 0; index < count; ++index) {
                    test_random_t random = random_of(job, round, from, to, 0, index);
                    const size_t bytes = draw_bytes(options, &random);
                    fragments += 0 == bytes ? 1
                                            : (bytes + options->config.slot_bytes - 1) /
                                                  options->config.slot_bytes;
                }
            }
            least = fragments < least ? fragments : least;
        }
    }
    return least;
}

static void run_to_end(job_t *job)
{
    const puts_options_t *options = job->options;
    uint64_t steps = (uint64_t) STEPS_PER_ROUND_AND_RANK * options->ranks * options->rounds;
    unsigned running = options->ranks;

    for (; steps > 0 && running > 0; --steps) {
        actor_t *actor = &job->actors[test_random_below(&job->random, options->ranks)];

        for (uint64_t i = test_random_below(&job->random, PASSES_MAX); i > 0; --i) {
            sim_windows_pass(job->windows);
        }
        if (ARC_IN_PROGRESS != actor->status) {
            continue;
        }
        step_actor(job, actor);
        running -= ARC_IN_PROGRESS != actor->status;
        if (ARC_OK != actor->status && ARC_IN_PROGRESS != actor->status) {
            job->outcome.failed += 1;
            sim_windows_down(job->windows);
            /* Who only waits for what does not come has no end. */
            steps = steps < STEPS_AFTER_FAULT ? steps : STEPS_AFTER_FAULT;
        }
    }
    job->outcome.finished = 0 == running;
}

puts_outcome_t puts_job_run(const puts_options_t *options)
{
    static job_t job; /* large */

    job = (job_t){.options = options,
                  .random = test_random_of(options->window.seed, 0),
                  .outcome = {.intact = true}};
    set_up(&job);
    run_to_end(&job);
    job.outcome.counts = *sim_windows_counts(job.windows);
    job.outcome.fragments = least_fragments(&job);
    for (unsigned rank = 0; rank < options->ranks; ++rank) {
        drop_items(&job, &job.actors[rank]);
        arc_put_streams_free(job.actors[rank].streams);
    }
    job.outcome.intact = job.outcome.intact && sim_windows_intact(job.windows);
    sim_windows_free(job.windows);
    return job.outcome;
}
