/*
 * What put streams promise, under random delays and orders of what is put (sim_window.h): the
 * contract of stream.h for any lengths and any pattern of messages, also when sequences begin
 * again, and no put that is not needed.  And that these tests see it when a promise is broken.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "unit.h"
#include "puts_job.h"

enum {
    SEED = 20261122,
    ROUNDS = 60,
    FAULT_ROUNDS = 3,
    TRIES = 30,
};

static const struct {
    const char *name;
    arc_put_config_t config;
} configs[] = {
    /* clang-format off */
    {"fenced",       {.streams = 1, .slots = 2, .slot_bytes = 64, .fused_bytes = 0, .sequence_bits = 32}},
    {"fused",        {.streams = 1, .slots = 2, .slot_bytes = 64, .fused_bytes = 64, .sequence_bits = 32}},
    {"mixed",        {.streams = 2, .slots = 3, .slot_bytes = 128, .fused_bytes = 41, .sequence_bits = 32}},
    {"mixed wide",   {.streams = 2, .slots = 8, .slot_bytes = 256, .fused_bytes = 128, .sequence_bits = 32}},
    {"fenced 2 bit", {.streams = 1, .slots = 2, .slot_bytes = 64, .fused_bytes = 0, .sequence_bits = 2}},
    {"mixed 2 bit",  {.streams = 2, .slots = 3, .slot_bytes = 128, .fused_bytes = 99, .sequence_bits = 2}},
    {"fused 3 bit",  {.streams = 1, .slots = 4, .slot_bytes = 64, .fused_bytes = 64, .sequence_bits = 3}},
    /* clang-format on */
};

static const char *const pattern_names[PUTS_PATTERNS] = {"pairs",      "doubling", "ring",
                                                         "all to all", "one way",  "crossing"};

static puts_options_t options_of(unsigned config, puts_pattern_t pattern, unsigned ranks)
{
    const arc_put_config_t *chosen = &configs[config].config;
    return (puts_options_t){
        .ranks = ranks,
        .config = *chosen,
        .pattern = pattern,
        .rounds = ROUNDS,
        .max_bytes = 3 * chosen->slots * chosen->slot_bytes,
        .max_messages = 3,
        .window = {.seed = SEED + config * PUTS_PATTERNS + pattern},
    };
}

static void check_clean(const puts_outcome_t *outcome)
{
    assert_true(outcome->finished);
    assert_true(outcome->intact);
    assert_int_equal(0, outcome->failed);
    assert_int_equal(0, outcome->wrong);
    assert_true(outcome->messages > 0);
}

static void messages_come_whole_and_in_order(void **state)
{
    const puts_outcome_t outcome = puts_job_run(*state);

    check_clean(&outcome);
}

/* ---- sequences that begin again ---- */

TEST(sequences_may_begin_again)
{
    enum { BITS = 8, TURNS = 3, ALL_ROUNDS = 2200 };
    puts_options_t options = options_of(2, PUTS_PAIRS, 2);

    options.config.streams = 1;
    options.config.sequence_bits = BITS;
    options.rounds = ALL_ROUNDS;
    options.max_bytes = 2 * options.config.slot_bytes;
    options.max_messages = 1;
    const puts_outcome_t outcome = puts_job_run(&options);
    check_clean(&outcome);
    assert_true(outcome.fragments > (uint64_t) TURNS * ((1 << BITS) - 1) * options.config.slots);
}

/* ---- what is put ---- */

/* An answer carries the credit: a put for each message, and nothing else. */
TEST(answered_messages_need_one_put_each)
{
    for (puts_pattern_t pattern = PUTS_PAIRS; pattern <= PUTS_DOUBLING; ++pattern) {
        puts_options_t options = options_of(3, pattern, 4);
        options.max_bytes = options.config.fused_bytes;
        options.max_messages = 1;
        const puts_outcome_t outcome = puts_job_run(&options);
        check_clean(&outcome);
        assert_int_equal(outcome.messages, outcome.counts.puts);
        assert_int_equal(0, outcome.counts.fences);
    }
}

/* Without answers: a credit, behind a fence, for every half of the slots. */
TEST(unanswered_messages_need_a_credit_for_half_the_slots)
{
    puts_options_t options = options_of(3, PUTS_ONE_WAY, 2);

    options.config.streams = 1;
    options.max_bytes = options.config.fused_bytes;
    const puts_outcome_t outcome = puts_job_run(&options);
    check_clean(&outcome);
    assert_int_equal(outcome.messages / (options.config.slots / 2), outcome.counts.fences);
    assert_int_equal(outcome.messages + outcome.counts.fences, outcome.counts.puts);
}

TEST(long_messages_need_a_fence_for_each_fragment)
{
    puts_options_t options = options_of(0, PUTS_PAIRS, 2);

    options.config.slots = 64; /* no credits but those of answers */
    options.max_bytes = options.config.slot_bytes;
    options.max_messages = 1;
    const puts_outcome_t outcome = puts_job_run(&options);
    check_clean(&outcome);
    assert_true(outcome.counts.fences > 0 && outcome.counts.fences <= outcome.messages);
    assert_int_equal(outcome.messages + outcome.counts.fences, outcome.counts.puts);
}

/* Half of the slots have one header and one fence. */
TEST(half_of_the_slots_need_one_header)
{
    enum { SLOTS = 64 };
    puts_options_t options = options_of(0, PUTS_PAIRS, 2);

    options.config.slots = SLOTS;
    options.max_bytes = SLOTS / 2 * options.config.slot_bytes;
    options.max_messages = 1;
    const puts_outcome_t outcome = puts_job_run(&options);
    check_clean(&outcome);
    assert_true(outcome.counts.fences <= outcome.messages);
    assert_true(outcome.counts.puts > 4 * outcome.messages);
}

/* ---- errors ---- */

static void every_failing_operation_is_reported(void **state)
{
    puts_options_t options = *(const puts_options_t *) *state;
    uint64_t k = 1;

    options.rounds = FAULT_ROUNDS;
    for (;; ++k) {
        options.window.fail_at = k;
        const puts_outcome_t outcome = puts_job_run(&options);
        assert_true(outcome.intact);
        assert_int_equal(0, outcome.wrong);
        if (!outcome.counts.fault_happened) {
            check_clean(&outcome);
            break;
        }
        assert_true(outcome.failed >= 1);
    }
    assert_true(k > (uint64_t) FAULT_ROUNDS * 2);
}

typedef struct two {
    sim_windows_t *windows;
    arc_put_streams_t *streams[2];
    arc_stream_t *stream[2];
} two_t;

static two_t two_new(const arc_put_config_t *config)
{
    const sim_peers_t peers[2] = {{.count = 1, .rank_of = {1}}, {.count = 1, .rank_of = {0}}};
    const size_t bytes[2] = {arc_put_window_bytes(config, 1), arc_put_window_bytes(config, 1)};
    const sim_window_options_t options = {.seed = SEED};
    two_t two = {.windows = sim_windows_new(2, peers, bytes, &options)};

    for (unsigned rank = 0; rank < 2; ++rank) {
        assert_int_equal(ARC_OK,
                         arc_put_streams_new(&two.streams[rank], sim_windows_get(two.windows, rank),
                                             config, peers[rank].rank_of, rank, 3));
        two.stream[rank] = arc_put_streams_get(two.streams[rank], 0);
    }
    return two;
}

static void two_free(two_t *two)
{
    arc_put_streams_free(two->streams[0]);
    arc_put_streams_free(two->streams[1]);
    sim_windows_free(two->windows);
}

/* Until rank 1 has an end of what it receives, good or bad. */
static arc_status_t await_end(two_t *two, arc_stream_request_t *request)
{
    enum { MAX_STEPS = 100000 };
    arc_status_t status = ARC_IN_PROGRESS;

    for (unsigned i = 0; i < MAX_STEPS && ARC_IN_PROGRESS == status; ++i) {
        sim_windows_pass(two->windows);
        status = two->stream[1]->ops->test(two->stream[1], request);
    }
    return status;
}

TEST(a_message_that_is_too_long_is_an_error)
{
    unsigned char data[100] = {1};
    unsigned char room[100];

    for (size_t bytes = 20; bytes <= sizeof data; bytes += 80) {
        two_t two = two_new(&configs[0].config);
        arc_stream_request_t send = {.handle = NULL};
        arc_stream_request_t receive = {.handle = NULL};

        assert_int_equal(ARC_OK, two.stream[0]->ops->send(two.stream[0], 1, data, bytes, &send));
        assert_int_equal(ARC_OK,
                         two.stream[1]->ops->receive(two.stream[1], 0, room, bytes - 1, &receive));
        assert_int_equal(ARC_ERR_TRANSPORT, await_end(&two, &receive));
        /* Dead from now on. */
        two.stream[1]->ops->abort(two.stream[1], &receive);
        assert_null(receive.handle);
        assert_int_equal(ARC_ERR_TRANSPORT, two.stream[1]->ops->receive(two.stream[1], 0, room,
                                                                        sizeof room, &receive));
        two.stream[0]->ops->abort(two.stream[0], &send);
        two_free(&two);
    }
}

/* Nothing is under way on this side, and no put tells of it: the reader must have looked. */
TEST(who_waits_for_a_peer_that_is_gone_is_told)
{
    unsigned char room[100];
    two_t two = two_new(&configs[1].config);
    arc_stream_request_t receive = {.handle = NULL};

    assert_int_equal(ARC_OK,
                     two.stream[1]->ops->receive(two.stream[1], 0, room, sizeof room, &receive));
    assert_int_equal(ARC_IN_PROGRESS, await_end(&two, &receive));
    sim_windows_lose(two.windows, 0);
    assert_int_equal(ARC_ERR_TRANSPORT, await_end(&two, &receive));
    two.stream[1]->ops->abort(two.stream[1], &receive);
    two_free(&two);
}

/* ---- counts that have become large ---- */

/* A credit word that was put long ago must not look like a new one, whatever the counts are now. */
TEST(an_old_credit_is_none)
{
    static const uint64_t credits[] = {10, (1ull << 31) + 10, (1ull << 32) + 10, 5 + (5ull << 31)};
    const arc_put_config_t *config = &configs[1].config;

    for (size_t i = 0; i < sizeof credits / sizeof credits[0]; ++i) {
        two_t two = two_new(config);
        test_buffer_t staging = test_buffer_new(arc_put_staging_bytes(config), 0);
        arc_window_request_t requests[2 * ARC_PUT_MIN_SLOTS] = {{NULL}};
        const unsigned char byte = 1;
        arc_put_ring_t ring;

        arc_put_ring_init(&ring, sim_windows_get(two.windows, 0), config, 0, 0, staging.data,
                          requests);
        ring.credit = credits[i];
        ring.sent = ring.credit + config->slots;
        ring.ended = ring.sent;
        *(uint64_t *) ring.ours = 5;
        assert_int_equal(ARC_IN_PROGRESS, arc_put_ring_send(&ring, &byte, 1, true));
        *(uint64_t *) ring.ours = ring.credit + 1;
        assert_int_equal(ARC_OK, arc_put_ring_send(&ring, &byte, 1, true));
        two_free(&two);
        test_buffer_free(&staging);
    }
}

/* ---- can these tests fail? ---- */

static uint64_t wrong_without_fences(unsigned config)
{
    uint64_t wrong = 0;

    for (unsigned i = 0; i < TRIES; ++i) {
        puts_options_t options = options_of(config, PUTS_PAIRS, 2);
        options.window.seed += i;
        options.window.ignores_fences = true;
        options.max_messages = 1;
        options.max_bytes = options.config.slot_bytes;
        wrong += puts_job_run(&options).wrong;
    }
    return wrong;
}

TEST(a_network_without_fences_is_noticed_where_they_count)
{
    assert_true(wrong_without_fences(0) > 0);
    assert_int_equal(0, wrong_without_fences(1)); /* fused: every cell is tested by itself */
}

/* ---- the table of tests ---- */

int main(void)
{
    printf("# seed %d\n", SEED);
    for (unsigned config = 0; config < sizeof configs / sizeof configs[0]; ++config) {
        for (unsigned i = 0; i < PUTS_PATTERNS * (PUTS_MAX_RANKS - 1); ++i) {
            const puts_pattern_t pattern = i % PUTS_PATTERNS;
            const unsigned ranks = 2 + i / PUTS_PATTERNS;
            const puts_options_t options = options_of(config, pattern, ranks);
            if (ranks % 2 && (PUTS_PAIRS == pattern || PUTS_DOUBLING == pattern)) {
                continue; /* somebody has no partner */
            }
            if (2 == ranks && PUTS_DOUBLING == pattern) {
                continue;
            }
            unit_add_row(messages_come_whole_and_in_order, &options, sizeof options,
                         "messages_come_whole_and_in_order %s %s %u", configs[config].name,
                         pattern_names[pattern], ranks);
        }
        for (unsigned i = 0; i < 2; ++i) {
            const puts_options_t options = options_of(config, i ? PUTS_ONE_WAY : PUTS_RING, 2 + i);
            unit_add_row(every_failing_operation_is_reported, &options, sizeof options,
                         "every_failing_operation_is_reported %s %s", configs[config].name,
                         pattern_names[options.pattern]);
        }
    }
    return unit_run("put streams on simulated windows");
}
