/*
 * Several shards in one message: sums of integers along the binomial tree, with buffers of any
 * length and with messages that are not what they should be.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "exchange_pipeline.h"
#include "sim_stream.h"
#include "unit.h"

enum {
    RANKS_MAX = 19,
    SHARD_ELEMS = 3, /* a part has 12 bytes, and 16 of a pack */
    PART_BYTES = 16,
    STEPS_MAX = 1 << 20,
    SEED = 20261126,
};

/* Messages are the numbers themselves. */
typedef struct numbers {
    exchange_coder_t base;
    uint32_t *in;
    uint32_t *out;
} numbers_t;

static size_t bytes_of(const exchange_coder_t *base, const exchange_message_t *message)
{
    (void) base;
    return message->span.elems * sizeof(uint32_t);
}

static arc_status_t check(const exchange_coder_t *base, const exchange_message_t *message,
                          const void *buffer, size_t bytes)
{
    (void) buffer;
    return bytes == bytes_of(base, message) ? ARC_OK : ARC_ERR_PROTOCOL;
}

/* to[i] = what came + x; either may be NULL, x: the own part. */
static size_t add_to(exchange_coder_t *base, const exchange_message_t *message, const void *came,
                     const exchange_sum_t *x, void *to)
{
    const numbers_t *coder = (const numbers_t *) base;
    const uint32_t *other = NULL == x ? coder->in + message->span.begin : x->numbers;

    for (size_t i = 0; i < message->span.elems; ++i) {
        ((uint32_t *) to)[i] = other[i] + (NULL == came ? 0 : ((const uint32_t *) came)[i]);
    }
    return bytes_of(base, message);
}

static size_t encode(exchange_coder_t *base, const exchange_message_t *message,
                     const exchange_sum_t *x, void *buffer)
{
    return add_to(base, message, NULL, x, buffer);
}

static void add(exchange_coder_t *base, const exchange_message_t *message, const void *buffer,
                const exchange_sum_t *x, exchange_sum_t *sum)
{
    (void) add_to(base, message, buffer, x, sum->numbers);
}

static size_t hop(exchange_coder_t *base, const exchange_message_t *received, const void *buffer,
                  const exchange_sum_t *x, const exchange_message_t *sent, void *to)
{
    (void) sent;
    return add_to(base, received, buffer, x, to);
}

static void store_total(exchange_coder_t *base, const exchange_message_t *message,
                        const void *buffer)
{
    const numbers_t *coder = (const numbers_t *) base;

    memcpy(coder->out + message->span.begin, buffer, bytes_of(base, message));
}

static const exchange_coder_ops_t ops = {.capacity = bytes_of,
                                         .check = check,
                                         .encode = encode,
                                         .add = add,
                                         .hop = hop,
                                         .store_total = store_total};

typedef struct outcome {
    arc_status_t statuses[RANKS_MAX];
    uint64_t messages;
    bool right; /* all sums on all ranks */
} outcome_t;

/* Of so many chunks, 0: none, all but the last one are empty. */
static outcome_t run(unsigned ranks, size_t chunks, size_t message_bytes,
                     const sim_options_t *options)
{
    const size_t count = (size_t) ranks * SHARD_ELEMS;
    const exchange_config_t config = {.tree = &exchange_recursive_halving,
                                      .shape = exchange_shape_flat(ranks),
                                      .depth = EXCHANGE_DEPTH_MIN,
                                      .message_bytes = message_bytes,
                                      .sum_bytes = SHARD_ELEMS * sizeof(uint32_t)};
    const exchange_operation_t operation = {.layout = {.count = count,
                                                       .shards = ranks,
                                                       .row_elems = 1,
                                                       .segment_elems = count,
                                                       .chunks = chunks},
                                            .collective = EXCHANGE_ALLREDUCE};
    sim_network_t *network = sim_network_new(ranks, options);
    test_buffer_t memory[RANKS_MAX];
    numbers_t coders[RANKS_MAX];
    arc_task_t *tasks[RANKS_MAX];
    outcome_t outcome = {.right = true};

    for (unsigned rank = 0; rank < ranks; ++rank) {
        coders[rank] = (numbers_t){.base.ops = &ops,
                                   .in = test_alloc(count * sizeof(uint32_t)),
                                   .out = test_alloc(count * sizeof(uint32_t))};
        for (size_t i = 0; i < count; ++i) {
            coders[rank].in[i] = (uint32_t) (i << rank);
        }
        arc_stream_t *stream = sim_network_stream(network, rank);
        arc_room_t room = {.memory = NULL};
        (void) exchange_pipeline_init(&config, rank, stream, &coders[rank].base, &room);
        memory[rank] = test_buffer_new(room.used, 0);
        room = (arc_room_t){.memory = memory[rank].data};
        tasks[rank] = exchange_pipeline_init(&config, rank, stream, &coders[rank].base, &room);
        exchange_pipeline_start(tasks[rank], &operation);
    }
    assert_true(sim_network_run(network, tasks, outcome.statuses, STEPS_MAX));
    outcome.messages = sim_network_counts(network)->delivered;
    for (unsigned rank = 0; rank < ranks; ++rank) {
        for (size_t i = 0; i < count; ++i) {
            outcome.right &= coders[rank].out[i] == (uint32_t) (i * ((1U << ranks) - 1));
        }
        outcome.right &= ARC_OK == outcome.statuses[rank] && test_buffer_intact(&memory[rank]);
        test_buffer_free(&memory[rank]);
        free(coders[rank].in);
        free(coders[rank].out);
    }
    assert_int_equal(0, sim_network_counts(network)->outstanding);
    sim_network_free(network);
    return outcome;
}

/* A pack of so many parts: their lengths, 4 bytes each, and the parts, all in steps of 16. */
static size_t pack_bytes(unsigned parts)
{
    return (parts + 3) / 4 * PART_BYTES + (size_t) parts * PART_BYTES;
}

static unsigned steps_of(unsigned ranks)
{
    unsigned steps = 0;

    while (ranks > 1U << steps) {
        ++steps;
    }
    return steps;
}

TEST(a_message_has_as_many_shards_as_there_is_room_for)
{
    (void) state;
    for (unsigned ranks = 2; ranks <= RANKS_MAX; ++ranks) {
        const sim_options_t options = {.seed = SEED + ranks, .delay_max = 5, .eager_max = 2};
        uint64_t before = UINT64_MAX;

        for (size_t bytes = PART_BYTES; bytes <= pack_bytes(RANKS_MAX); bytes += PART_BYTES / 2) {
            const outcome_t outcome = run(ranks, 0, bytes, &options);
            assert_true(run(ranks, 2, bytes, &options).right);
            assert_true(outcome.right && outcome.messages <= before);
            assert_true(bytes >= pack_bytes(2) || outcome.messages == 2 * (ranks - 1) * ranks);
            before = outcome.messages;
        }
        assert_true(before == 2 * steps_of(ranks) * ranks);
    }
}

/* Whichever it is. */
TEST(a_message_that_is_longer_or_shorter_than_its_parts_is_refused)
{
    enum { RANKS = 11 };
    sim_options_t options = {.seed = SEED, .delay_max = 5, .eager_max = 2};
    const size_t bytes = pack_bytes(RANKS) + PART_BYTES;
    const uint64_t messages = run(RANKS, 0, bytes, &options).messages;

    (void) state;
    for (uint64_t at = 0; at < 2 * messages; ++at) {
        unsigned refused = 0;

        options.garble_at = at / 2 + 1;
        options.garble_more = at % 2 * PART_BYTES;
        options.garble_cut = PART_BYTES - options.garble_more;
        const outcome_t outcome = run(RANKS, 0, bytes, &options);
        for (unsigned rank = 0; rank < RANKS; ++rank) {
            refused += ARC_ERR_PROTOCOL == outcome.statuses[rank];
        }
        assert_int_equal(1, refused);
    }
}
