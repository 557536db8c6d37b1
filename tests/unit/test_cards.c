/*
 * Cards: each partner gets the one that is meant for it, under any order and delay of messages; and
 * if a partner does not come, the wait ends and names it.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "unit.h"
#include "fiber.h"
#include "sim_stream.h"
#include "steps.h"

enum { SEED = 20261124, RANKS = 6, PARTNERS = RANKS - 1, CARD_BYTES = 300, LIMIT_NS = 50000000 };

/* A rank of the job, which trades in a fiber: arc_steps_trade() waits. */
typedef struct actor {
    unsigned rank_of[PARTNERS];
    unsigned char sent[PARTNERS][CARD_BYTES];
    unsigned char received[PARTNERS][CARD_BYTES];
    arc_link_t links[PARTNERS];
    arc_stream_t *stream;
    arc_wait_t wait;
    size_t card_bytes;
    arc_status_t status;
    unsigned missing;
} actor_t;

static sim_network_t *network;
static actor_t actors[RANKS];

static void no_progress(void)
{
}

static unsigned char byte_of(unsigned from, unsigned to, unsigned i)
{
    return (unsigned char) (from * 31 + to * 7 + i);
}

static void fill_actor(actor_t *actor, unsigned rank)
{
    memset(actor, 0, sizeof *actor);
    for (unsigned i = 0; i < PARTNERS; ++i) {
        actor->rank_of[i] = (rank + 1 + i) % RANKS;
        for (unsigned at = 0; at < CARD_BYTES; ++at) {
            actor->sent[i][at] = byte_of(rank, actor->rank_of[i], at);
        }
    }
    actor->stream = sim_network_stream(network, rank);
    actor->wait = (arc_wait_t){.progress = no_progress, .timeout_ns = LIMIT_NS};
    actor->card_bytes = CARD_BYTES;
    actor->missing = RANKS;
}

static void trade(void *context)
{
    actor_t *actor = context;

    for (unsigned i = 0; i < PARTNERS; ++i) {
        actor->links[i] = (arc_link_t){.peer = actor->rank_of[i],
                                       .sent = actor->sent[i],
                                       .sent_bytes = actor->card_bytes,
                                       .received = actor->received[i],
                                       .received_bytes = actor->card_bytes};
    }
    actor->status =
        arc_steps_trade(actor->stream, actor->links, PARTNERS, &actor->wait, &actor->missing);
}

/* A network, and its ranks as they come. */
static void make_all(const sim_options_t *options)
{
    network = sim_network_new(RANKS, options);
    for (unsigned rank = 0; rank < RANKS; ++rank) {
        fill_actor(&actors[rank], rank);
    }
}

/* All ranks but `absent`, until each has come to an end; nothing stays under way. */
static void run_all(unsigned absent)
{
    arc_fiber_t *fibers[RANKS];
    bool runs[RANKS] = {false};
    unsigned running = 0;

    for (unsigned rank = 0; rank < RANKS; ++rank) {
        fibers[rank] = arc_fiber_new(0);
        assert_non_null(fibers[rank]);
        if (rank != absent) {
            arc_fiber_begin(fibers[rank], trade, &actors[rank]);
            runs[rank] = true;
            running += 1;
        }
    }
    while (running > 0) {
        for (unsigned rank = 0; rank < RANKS; ++rank) {
            if (runs[rank] && !arc_fiber_resume(fibers[rank])) {
                runs[rank] = false;
                running -= 1;
            }
        }
        sim_network_pass(network);
    }
    for (unsigned rank = 0; rank < RANKS; ++rank) {
        arc_fiber_free(fibers[rank]);
    }
    assert_int_equal(0, sim_network_counts(network)->outstanding);
    sim_network_free(network);
}

TEST(each_gets_the_card_that_is_meant_for_it)
{
    for (unsigned turn = 0; turn < 20; ++turn) {
        const sim_options_t options = {
            .seed = SEED + turn, .delay_max = 1 + turn, .eager_max = turn % 3};
        make_all(&options);
        for (unsigned rank = 0; rank < RANKS; ++rank) {
            actors[rank].wait.timeout_ns = 0;
        }
        run_all(RANKS);
        for (unsigned rank = 0; rank < RANKS; ++rank) {
            assert_int_equal(ARC_OK, actors[rank].status);
            for (unsigned i = 0; i < PARTNERS * CARD_BYTES; ++i) {
                const unsigned from = actors[rank].rank_of[i / CARD_BYTES];
                assert_int_equal(byte_of(from, rank, i % CARD_BYTES),
                                 actors[rank].received[i / CARD_BYTES][i % CARD_BYTES]);
            }
        }
    }
}

TEST(who_does_not_come_is_named_in_time)
{
    for (unsigned absent = 0; absent < RANKS; ++absent) {
        const sim_options_t options = {.seed = SEED + absent, .delay_max = 4, .eager_max = 1};
        make_all(&options);
        run_all(absent);
        for (unsigned rank = 0; rank < RANKS; ++rank) {
            if (rank != absent) {
                assert_int_equal(ARC_ERR_TIMEOUT, actors[rank].status);
                assert_int_equal(absent, actors[rank].missing);
            }
        }
    }
}

/* Rank 0 finds out by rank 1's shorter card, unless rank 1 has given up before that has come. */
TEST(a_card_of_another_length_is_an_error)
{
    unsigned found = 0;

    for (unsigned turn = 0; turn < 20; ++turn) {
        const sim_options_t options = {.seed = SEED + turn, .delay_max = 4, .eager_max = 1};
        make_all(&options);
        actors[1].card_bytes = CARD_BYTES - 1;
        run_all(RANKS);
        found += ARC_ERR_PROTOCOL == actors[0].status;
        assert_true(ARC_ERR_PROTOCOL == actors[0].status ||
                    (ARC_ERR_TIMEOUT == actors[0].status && 1 == actors[0].missing &&
                     ARC_ERR_TRANSPORT == actors[1].status));
    }
    assert_true(found > 0);
}
