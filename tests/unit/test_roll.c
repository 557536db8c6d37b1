/*
 * Roll calls: whoever is deaf, or of another kind, and whoever gets no answer about a partner that
 * is there, no other rank waits for ever, all of them end with the same vote, and no message stays
 * behind but where there was no answer.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "unit.h"
#include "agreement.h"
#include "sim_held.h"

enum { SEED = 20261125, MOST_RANKS = SIM_HELD_RANKS };

static arc_agreement_t agreements[MOST_RANKS];

/* Who is deaf, which ranks count each other as not there, who gets no answer about whom. */
static bool is_deaf[MOST_RANKS];
static bool is_other[MOST_RANKS];
static bool is_left_alone[MOST_RANKS][MOST_RANKS];

typedef struct asking {
    unsigned rank;
    uint64_t values[ARC_ROLL_VALUES];
} asking_t;

static arc_answer_t ask(void *context, unsigned rank)
{
    asking_t *asking = context;

    if (is_deaf[rank] && rank < asking->values[1]) {
        asking->values[1] = rank;
    }
    if (is_left_alone[asking->rank][rank]) {
        return ARC_ANSWER_NONE;
    }
    return is_deaf[rank] || is_other[rank] != is_other[asking->rank] ? ARC_ANSWER_NO
                                                                     : ARC_ANSWER_THERE;
}

/* What all that hear have found: vote, a deaf rank, and two minima. */
static void check_found(unsigned ranks, const bool *hears, const bool *votes)
{
    bool all_vote = true;
    bool one_is_deaf = false;
    bool finds_all = true; /* what one rank finds out, all do */

    for (unsigned rank = 0; rank < ranks; ++rank) {
        one_is_deaf = one_is_deaf || !hears[rank];
        all_vote = all_vote && (!hears[rank] || votes[rank]);
        for (unsigned peer = 0; peer < ranks; ++peer) {
            finds_all = finds_all && !is_left_alone[rank][peer] && is_other[rank] == is_other[peer];
        }
    }
    for (unsigned rank = 0; rank < ranks; ++rank) {
        const uint64_t *found = agreements[rank].known + 1;
        if (hears[rank]) {
            assert_int_equal(!one_is_deaf && all_vote, found[0]);
            assert_true(!found[0] || (1000 == found[2] && 2001 - ranks == found[3]));
            assert_true(!finds_all || (one_is_deaf ? is_deaf[found[1]] : UINT64_MAX == found[1]));
        }
    }
}

static void check_roll(unsigned ranks)
{
    arc_task_t *tasks[MOST_RANKS] = {0};
    arc_status_t statuses[MOST_RANKS];
    bool hears[MOST_RANKS];
    bool votes[MOST_RANKS] = {false};

    sim_held_make(ranks);
    for (unsigned rank = 0; rank < ranks; ++rank) {
        asking_t asking = {.rank = rank, .values = {1, UINT64_MAX, 1000 + rank, 2000 - rank}};
        hears[rank] = !is_deaf[rank];
        statuses[rank] = ARC_IN_PROGRESS;
        tasks[rank] = &agreements[rank].steps.task;
        if (hears[rank]) {
            arc_agreement_call_roll(&agreements[rank], sim_held_stream(rank), asking.values, ask,
                                    &asking);
            votes[rank] = 1 == agreements[rank].known[1];
        }
    }
    sim_held_run(ranks, tasks, hears, statuses);
    for (unsigned rank = 0; rank < ranks; ++rank) {
        assert_true(!hears[rank] || ARC_OK == statuses[rank]);
        for (unsigned from = 0; from < ranks; ++from) {
            /* A rank for which a message stays behind makes no agreement later. */
            assert_true(0 == sim_held_left(from, rank) ||
                        (!votes[rank] && (is_left_alone[from][rank] || is_left_alone[rank][from])));
        }
    }
    check_found(ranks, hears, votes);
}

/* The rank gets no answer about its partner of this number: two for each round. */
static void leave_alone(unsigned ranks, unsigned rank, unsigned partner)
{
    const unsigned distance = 1U << partner / 2;

    is_left_alone[rank][partner % 2 ? arc_rank_after(rank, ranks, distance)
                                    : arc_rank_before(rank, ranks, distance)] = true;
}

static unsigned partners_of(unsigned ranks)
{
    unsigned rounds = 0;

    while (1U << rounds < ranks) {
        ++rounds;
    }
    return 2 * rounds;
}

TEST(all_learn_that_one_is_deaf)
{
    enum { ALL_SETS = 8 };

    for (unsigned ranks = 2; ranks <= ALL_SETS; ++ranks) {
        for (unsigned set = 0; set < (1U << ranks) - 1; ++set) {
            for (unsigned rank = 0; rank < ranks; ++rank) {
                is_deaf[rank] = set >> rank & 1;
            }
            memset(is_left_alone, 0, sizeof is_left_alone);
            check_roll(ranks);
            for (unsigned i = 0; i < ranks * partners_of(ranks); ++i) {
                memset(is_left_alone, 0, sizeof is_left_alone);
                leave_alone(ranks, i % ranks, i / ranks);
                check_roll(ranks);
            }
        }
    }
}

TEST(all_learn_it_among_many)
{
    enum { CASES = 2000 };
    test_random_t random = test_random_start(SEED + 1);

    for (unsigned i = 0; i < CASES; ++i) {
        const unsigned ranks = 2 + (unsigned) test_random_below(&random, MOST_RANKS - 1);
        const uint64_t deaf_of_100 = i % 3 * 30;
        const uint64_t others_of_100 = i / 3 % 3 * 30;
        memset(is_left_alone, 0, sizeof is_left_alone);
        for (unsigned rank = 0; rank < ranks; ++rank) {
            is_deaf[rank] = test_random_below(&random, 100) < deaf_of_100;
            is_other[rank] = test_random_below(&random, 100) < others_of_100;
        }
        for (uint64_t n = test_random_below(&random, 4); n > 0; --n) {
            leave_alone(ranks, (unsigned) test_random_below(&random, ranks),
                        (unsigned) test_random_below(&random, partners_of(ranks)));
        }
        check_roll(ranks);
    }
}
