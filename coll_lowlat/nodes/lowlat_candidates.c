/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "lowlat_candidates.h"
#include "lowlat_select.h"

/*
 * Where the network was not measured yet, by the number of nodes, short messages are doubled;
 * longer ones are passed down: doubling wins on a fast network and loses on a slow one.
 */
static const struct {
    unsigned max_nodes;
    size_t max_bytes;
} rules[] = {{2, 64 << 10}, {UINT_MAX, 4 << 10}};

enum {
    LONG_BYTES = 32 << 10, /* for other algorithms than doubling, on any network */
    /* Guesses: as fast as the fastest one, somewhat slower, twice as slow. */
    FASTEST = ARC_RATIO_ONE,
    SLOWER = 3 * ARC_RATIO_ONE / 2,
    TWICE = 2 * ARC_RATIO_ONE,
};

/* With leaders and without, of those that keep the order. */
#define X(_id, _prefix, _name, _reproducible, ...) +2 * (_reproducible)
_Static_assert(1 LOWLAT_NODES_TABLE(X) <= ARC_SELECT_CANDIDATES, "room for all candidates");
#undef X

void lowlat_candidates_list(lowlat_candidates_t *list, unsigned owners, bool reproducible)
{
    list->count = 0;
    if (!reproducible) {
        list->candidate[list->count++] = (lowlat_candidate_t){LOWLAT_PASS_DOWN, false};
    }
    for (unsigned leaders = 0; leaders < (owners > 1 ? 2 : 1); ++leaders) {
        for (unsigned algorithm = LOWLAT_NODES_FIRST; algorithm < LOWLAT_ALGORITHMS; ++algorithm) {
            if (lowlat_algorithms[algorithm].reproducible) {
                list->candidate[list->count++] = (lowlat_candidate_t){algorithm, leaders};
            }
        }
    }
}

const char *lowlat_candidate_name(lowlat_candidate_t candidate)
{
    static const char *const names[LOWLAT_ALGORITHMS + 1][2] = {
#define X(_id, _prefix, _name, ...) {_name, _name "_by_leaders"},
        LOWLAT_ALGORITHM_TABLE(X)
#undef X
            [LOWLAT_PASS_DOWN] = {"below", "below"},
    };
    return names[candidate.algorithm][candidate.leaders];
}

unsigned lowlat_candidates_find(const lowlat_candidates_t *list, const char *name)
{
    unsigned i = 0;

    while (i < list->count && 0 != strcmp(name, lowlat_candidate_name(list->candidate[i]))) {
        ++i;
    }
    return i;
}

/* Number of the candidate, or the first one. */
static unsigned number_of(const lowlat_candidates_t *list, unsigned algorithm, bool leaders)
{
    for (unsigned i = 0; i < list->count; ++i) {
        if (algorithm == list->candidate[i].algorithm && leaders == list->candidate[i].leaders) {
            return i;
        }
    }
    return 0;
}

unsigned lowlat_candidates_first(const lowlat_candidates_t *list, const lowlat_net_t *net,
                                 size_t bytes)
{
    const bool leaders = net->owners > 1 && bytes <= net->leader_bytes;
    const bool may_pass_down = LOWLAT_PASS_DOWN == list->candidate[0].algorithm;
    unsigned row = 0;

    while (rules[row].max_nodes < net->nodes) {
        ++row;
    }
    if (may_pass_down && bytes > rules[row].max_bytes) {
        return 0;
    }
    return number_of(list,
                     may_pass_down || bytes <= LONG_BYTES ? LOWLAT_ALGORITHM_DOUBLING
                                                          : LOWLAT_ALGORITHM_DIRECT,
                     leaders);
}

uint32_t lowlat_candidate_guess(lowlat_candidate_t candidate, const lowlat_net_t *net, size_t bytes)
{
    if (LOWLAT_PASS_DOWN == candidate.algorithm) {
        return FASTEST;
    }
    const bool has_fewest_steps = LOWLAT_ALGORITHM_DOUBLING == candidate.algorithm;
    const bool is_long = bytes > LONG_BYTES;
    const bool is_short = bytes <= rules[1].max_bytes;
    const bool leaders_are_for_it = net->owners < 2 || (bytes <= net->leader_bytes);

    /* Two nodes have to exchange everything, whoever does it. */
    if (has_fewest_steps ? is_long && net->nodes > 2 : is_short) {
        return TWICE;
    }
    return candidate.leaders == leaders_are_for_it || net->owners < 2 ? FASTEST : SLOWER;
}
