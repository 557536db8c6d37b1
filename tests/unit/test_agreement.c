/*
 * Agreements: the minimum over any number of ranks, under any order and delay of messages; and if
 * ranks do not come, every other one ends and names one of them.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "unit.h"
#include "agreement.h"
#include "sim_held.h"
#include "sim_stream.h"

enum { SEED = 20261122, MOST_RANKS = SIM_HELD_RANKS, AGREEMENTS = 4, STEPS = 2000000 };

static arc_agreement_t agreements[MOST_RANKS];
static uint64_t values[MOST_RANKS][ARC_AGREEMENT_VALUES];

/* ---- one agreement after the other, while ranks run ahead ---- */

/* A rank that makes several agreements: the next one begins as soon as this rank has ended one. */
typedef struct series {
    arc_task_t task;
    arc_agreement_t agreement;
    arc_stream_t *stream;
    unsigned made;
    uint64_t found[AGREEMENTS][ARC_AGREEMENT_VALUES];
} series_t;

/* Of the agreement number `made`; a different number of values in each. */
static unsigned count_of(unsigned made)
{
    static const unsigned counts[AGREEMENTS] = {1, ARC_AGREEMENT_VALUES, 2, 5};
    return counts[made];
}

static uint64_t value_of(unsigned rank, unsigned made, unsigned i)
{
    test_random_t random = test_random_of(SEED + made, (uint64_t) rank * ARC_AGREEMENT_VALUES + i);
    return test_random_bits(&random);
}

static void start_next(series_t *series)
{
    uint64_t own[ARC_AGREEMENT_VALUES];

    for (unsigned i = 0; i < count_of(series->made); ++i) {
        own[i] = value_of(series->stream->rank, series->made, i);
    }
    arc_agreement_start(&series->agreement, series->stream, own, count_of(series->made));
}

static arc_status_t series_progress(arc_task_t *base)
{
    series_t *series = (series_t *) base;

    if (NULL == series->agreement.steps.stream) {
        start_next(series);
    }
    const arc_status_t status =
        series->agreement.steps.task.ops->progress(&series->agreement.steps.task);
    if (ARC_OK != status) {
        return status;
    }
    memcpy(series->found[series->made], series->agreement.known + 1,
           count_of(series->made) * sizeof(uint64_t));
    series->made += 1;
    if (series->made < AGREEMENTS) {
        start_next(series);
        return ARC_IN_PROGRESS;
    }
    return ARC_OK;
}

static void check_series(const series_t *series, unsigned ranks)
{
    for (unsigned made = 0; made < AGREEMENTS; ++made) {
        for (unsigned i = 0; i < count_of(made); ++i) {
            uint64_t least = UINT64_MAX;
            for (unsigned rank = 0; rank < ranks; ++rank) {
                const uint64_t value = value_of(rank, made, i);
                least = value < least ? value : least;
            }
            for (unsigned rank = 0; rank < ranks; ++rank) {
                assert_true(least == series[rank].found[made][i]);
            }
        }
    }
}

static arc_status_t statuses[MOST_RANKS];
static arc_task_t *tasks[MOST_RANKS];

/* All ranks to their ends, on a network that stays the caller's; none leaves a message there. */
static sim_network_t *run_series(series_t *series, unsigned ranks, const sim_options_t *options)
{
    static const arc_task_ops_t ops = {.progress = series_progress};
    sim_network_t *network = sim_network_new(ranks, options);

    memset(series, 0, ranks * sizeof *series);
    for (unsigned rank = 0; rank < ranks; ++rank) {
        series[rank].task.ops = &ops;
        series[rank].stream = sim_network_stream(network, rank);
        tasks[rank] = &series[rank].task;
    }
    assert_true(sim_network_run(network, tasks, statuses, STEPS));
    assert_int_equal(0, sim_network_counts(network)->outstanding);
    return network;
}

TEST(all_find_the_minimum)
{
    static series_t series[MOST_RANKS];

    for (unsigned ranks = 2; ranks <= MOST_RANKS; ++ranks) {
        const sim_options_t options = {
            .seed = SEED + ranks, .delay_max = 1 + ranks % 30, .eager_max = ranks % 4};
        sim_network_t *network = run_series(series, ranks, &options);
        for (unsigned rank = 0; rank < ranks; ++rank) {
            assert_int_equal(ARC_OK, statuses[rank]);
        }
        check_series(series, ranks);
        unsigned rounds = 0;
        while (1U << rounds < ranks) {
            ++rounds;
        }
        assert_int_equal(AGREEMENTS * ranks * rounds, sim_network_counts(network)->delivered);
        sim_network_free(network);
    }
}

/* Whoever sends is heard by the one to whom it sends, and lists by distance come together. */
TEST(ranks_before_and_after)
{
    for (unsigned ranks = 2; ranks <= MOST_RANKS; ++ranks) {
        for (unsigned rank = 0; rank < ranks; ++rank) {
            for (unsigned distance = 0; distance < ranks; ++distance) {
                const unsigned after = arc_rank_after(rank, ranks, distance);
                assert_true(after < ranks);
                assert_int_equal(rank, arc_rank_before(after, ranks, distance));
                assert_int_equal(distance, arc_rank_distance(rank, ranks, after));
            }
            for (unsigned step = 1; step < ranks; step *= 2) {
                const unsigned after = arc_rank_after(rank, ranks, step);
                for (unsigned place = 0; place < step && step + place < ranks; ++place) {
                    assert_int_equal(arc_rank_after(rank, ranks, step + place),
                                     arc_rank_after(after, ranks, place));
                }
            }
        }
    }
}

/* Every start and completion of a message may fail: an error, and nothing stays started. */
static void check_failures(unsigned ranks)
{
    static series_t series[MOST_RANKS];
    bool happened = true;

    for (uint64_t at = 1; happened; ++at) {
        const sim_options_t options = {.seed = SEED, .delay_max = 3, .eager_max = 1, .fail_at = at};
        unsigned failed = 0;
        sim_network_t *network = run_series(series, ranks, &options);
        happened = sim_network_counts(network)->fault_happened;
        for (unsigned rank = 0; rank < ranks; ++rank) {
            failed += ARC_OK != statuses[rank];
        }
        assert_true(happened == (failed > 0));
        sim_network_free(network);
    }
}

TEST(failures_end_it)
{
    check_failures(4);
    check_failures(5);
}

/* ---- ranks that do not come ---- */

static void comes(unsigned rank)
{
    values[rank][0] = 1000 + rank;
    arc_agreement_start(&agreements[rank], sim_held_stream(rank), values[rank], 1);
    statuses[rank] = ARC_IN_PROGRESS;
    tasks[rank] = &agreements[rank].steps.task;
}

/*
 * All have come at the same time; the time limit is over for those in round 0, then in round 1, ...
 * Then the missing ones come, too.
 */
static void check_missing(unsigned ranks, const bool *is_missing)
{
    bool has_come[MOST_RANKS];

    sim_held_make(ranks);
    for (unsigned rank = 0; rank < ranks; ++rank) {
        has_come[rank] = !is_missing[rank];
        if (has_come[rank]) {
            comes(rank);
        }
    }
    sim_held_run(ranks, tasks, has_come, statuses);
    for (unsigned distance = 1; distance < ranks; distance *= 2) {
        for (unsigned rank = 0; rank < ranks; ++rank) {
            if (has_come[rank] && ARC_IN_PROGRESS == statuses[rank] &&
                distance == 1u << agreements[rank].steps.step) {
                arc_agreement_give_up(&agreements[rank]);
                statuses[rank] = ARC_ERR_TIMEOUT;
            }
        }
        sim_held_run(ranks, tasks, has_come, statuses);
    }
    for (unsigned rank = 0; rank < ranks; ++rank) {
        if (has_come[rank]) {
            assert_int_equal(ARC_ERR_TIMEOUT, statuses[rank]);
            assert_true(agreements[rank].known[0] < ranks);
            assert_true(is_missing[agreements[rank].known[0]]);
        }
        assert_false(sim_held_receives(rank) && has_come[rank]);
    }
    /* Who comes late is told at once: in this agreement or, if that has all it needs, in the next.
     */
    for (unsigned made = 0; made < 2; ++made) {
        for (unsigned rank = 0; rank < ranks; ++rank) {
            if (is_missing[rank] && (!has_come[rank] || ARC_OK == statuses[rank])) {
                has_come[rank] = true;
                comes(rank);
            }
        }
        sim_held_run(ranks, tasks, has_come, statuses);
    }
    for (unsigned rank = 0; rank < ranks; ++rank) {
        assert_int_equal(ARC_ERR_TIMEOUT, statuses[rank]);
    }
}

TEST(all_name_the_one_that_is_missing)
{
    for (unsigned ranks = 2; ranks <= MOST_RANKS; ++ranks) {
        for (unsigned missing = 0; missing < ranks; ++missing) {
            bool is_missing[MOST_RANKS] = {false};
            is_missing[missing] = true;
            check_missing(ranks, is_missing);
        }
    }
}

TEST(all_name_one_of_several_that_are_missing)
{
    enum { CASES = 500 };
    test_random_t random = test_random_start(SEED);

    for (unsigned i = 0; i < CASES; ++i) {
        const unsigned ranks = 3 + (unsigned) test_random_below(&random, MOST_RANKS - 2);
        bool is_missing[MOST_RANKS] = {false};
        for (unsigned n = 2 + (unsigned) test_random_below(&random, ranks - 2); n > 0; --n) {
            is_missing[test_random_below(&random, ranks)] = true;
        }
        /* One has come, and one has not. */
        const unsigned one = (unsigned) test_random_below(&random, ranks);
        is_missing[one] = false;
        is_missing[(one + 1) % ranks] = true;
        check_missing(ranks, is_missing);
    }
}

/* ---- with a clock ---- */

#define LIMIT_NS (ARC_NS_PER_SECOND / 50)

static void no_time_passes(void)
{
}

TEST(run_gives_up_in_time_and_names_the_missing)
{
    const arc_wait_t wait = {.progress = no_time_passes, .timeout_ns = LIMIT_NS};
    uint64_t own[] = {7, 8};
    unsigned missing = UINT32_MAX;

    sim_held_make(3);
    int64_t start_ns = arc_now_ns();
    arc_agreement_start(&agreements[2], sim_held_stream(2), own, 2);
    assert_int_equal(ARC_ERR_TIMEOUT, arc_agreement_run(&agreements[2], own, &wait, &missing));
    assert_true(arc_now_ns() - start_ns >= wait.timeout_ns);
    assert_int_equal(1, missing);
    assert_int_equal(7, own[0]);
    /* Rank 1 has both messages of rank 2: the second is the notice. Rank 0 has not sent to it. */
    missing = UINT32_MAX;
    start_ns = arc_now_ns();
    uint64_t others[] = {3, 4};
    arc_agreement_start(&agreements[1], sim_held_stream(1), others, 2);
    assert_int_equal(ARC_ERR_TIMEOUT, arc_agreement_run(&agreements[1], others, &wait, &missing));
    assert_int_equal(0, missing);
    /* Rank 0 hears at once that it is late. */
    const arc_wait_t patient = {.progress = no_time_passes};
    arc_agreement_start(&agreements[0], sim_held_stream(0), others, 2);
    assert_int_equal(ARC_ERR_TIMEOUT,
                     arc_agreement_run(&agreements[0], others, &patient, &missing));
    assert_int_equal(0, missing);
}

/* Of the time limit, as a wait counts it, an eighth passes in so many polls, at most. */
enum { POLLS = 256, EIGHTHS = 8, TWO_SENDS = 12 * POLLS, FOUR_SENDS = 25 * POLLS };
static unsigned polls;

/*
 * Of eight ranks rank 0 hears of the ranks 1, 2 and 4.  Rank 2 sends when it waits longer; rank 4
 * when that is over, and half a limit of the next round.
 */
static void late_ones_send(void)
{
    static const struct timespec eighth = {.tv_nsec = LIMIT_NS / EIGHTHS};
    static const uint64_t words[] = {ARC_AGREEMENT_NOBODY, 5};
    arc_stream_request_t request = {0};

    if (0 == ++polls % POLLS) {
        (void) nanosleep(&eighth, NULL);
    }
    if (TWO_SENDS == polls || FOUR_SENDS == polls) {
        arc_stream_t *stream = sim_held_stream(TWO_SENDS == polls ? 2 : 4);
        assert_int_equal(ARC_OK, stream->ops->send(stream, 0, words, sizeof words, &request));
    }
}

TEST(each_round_has_the_whole_time)
{
    const arc_wait_t wait = {.progress = late_ones_send, .timeout_ns = LIMIT_NS};
    uint64_t own[] = {7};
    unsigned missing = UINT32_MAX;

    polls = 0;
    sim_held_make(8);
    comes(1);
    assert_int_equal(ARC_IN_PROGRESS, tasks[1]->ops->progress(tasks[1]));
    arc_agreement_start(&agreements[0], sim_held_stream(0), own, 1);
    assert_int_equal(ARC_OK, arc_agreement_run(&agreements[0], own, &wait, &missing));
    assert_int_equal(5, own[0]);
}
