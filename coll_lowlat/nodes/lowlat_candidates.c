/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lowlat_candidates.h"

enum {
    SHORT_BYTES = 4 << 10, /* for doubling, on any network */
    LONG_BYTES = 32 << 10, /* for the others */
    /* Guesses: as fast as the fastest one, somewhat slower, twice as slow. */
    FASTEST = ARC_RATIO_ONE,
    SLOWER = 3 * ARC_RATIO_ONE / 2,
    TWICE = 2 * ARC_RATIO_ONE,
};

/* With leaders and without, over messages and puts, of those that keep the order. */
#define X(_id, _prefix, _name, _reproducible, ...) +4 * (_reproducible)
_Static_assert(1 LOWLAT_NODES_TABLE(X) <= ARC_SELECT_CANDIDATES, "room for all candidates");
#undef X

void lowlat_candidates_list(lowlat_candidates_t *list, unsigned owners, bool reproducible)
{
    list->count = 0;
    if (!reproducible) {
        list->candidate[list->count++] = (lowlat_candidate_t){.algorithm = LOWLAT_PASS_DOWN};
    }
    for (unsigned leaders = 0; leaders < (owners > 1 ? 2 : 1); ++leaders) {
        for (unsigned algorithm = LOWLAT_NODES_FIRST; algorithm < LOWLAT_ALGORITHMS; ++algorithm) {
            if (lowlat_algorithms[algorithm].reproducible) {
                list->candidate[list->count++] =
                    (lowlat_candidate_t){.algorithm = algorithm, .leaders = leaders};
            }
        }
    }
}

void lowlat_candidates_add_puts(lowlat_candidates_t *list)
{
    for (unsigned i = 0, before = list->count; i < before; ++i) {
        if (LOWLAT_PASS_DOWN != list->candidate[i].algorithm) {
            list->candidate[list->count] = list->candidate[i];
            list->candidate[list->count++].puts = true;
        }
    }
}

unsigned lowlat_candidates_find(const lowlat_candidates_t *list, lowlat_candidate_t candidate)
{
    unsigned found = list->count;

    for (unsigned i = 0; i < list->count; ++i) {
        if (candidate.algorithm == list->candidate[i].algorithm &&
            candidate.puts == list->candidate[i].puts &&
            (found == list->count || candidate.leaders == list->candidate[i].leaders)) {
            found = i;
        }
    }
    return found;
}

uint32_t lowlat_candidate_guess(lowlat_candidate_t candidate, const lowlat_net_t *net, size_t bytes)
{
    if (LOWLAT_PASS_DOWN == candidate.algorithm) {
        return FASTEST;
    }
    const bool has_fewest_steps = LOWLAT_ALGORITHM_DOUBLING == candidate.algorithm;
    const bool is_long = bytes > LONG_BYTES;
    const bool is_short = bytes <= SHORT_BYTES;
    const bool leaders_are_for_it = net->owners < 2 || (bytes <= net->leader_bytes);

    /* Two nodes have to exchange everything, whoever does it. */
    if (has_fewest_steps ? is_long && net->nodes > 2 : is_short) {
        return TWICE;
    }
    return candidate.leaders == leaders_are_for_it || net->owners < 2 ? FASTEST : SLOWER;
}
