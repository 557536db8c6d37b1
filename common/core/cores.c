/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cores.h"
#include "wait.h"

enum {
    BITS = CHAR_BIT * sizeof(unsigned long),
    THOUSANDTHS = 1000, /* of a processor: the unit of quotas */
};

/* A rank, for sorting. */
typedef struct place {
    uint64_t key;
    unsigned rank;
} place_t;

static int compare(const void *a, const void *b)
{
    const place_t *one = a;
    const place_t *other = b;

    if (one->key != other->key) {
        return one->key < other->key ? -1 : 1;
    }
    return one->rank < other->rank ? -1 : 1;
}

void arc_cores_set_mask(arc_cores_t *own, const unsigned long *mask, size_t mask_words)
{
    own->count = 0;
    own->words = 0;
    for (size_t i = 0; i < mask_words; ++i) {
        if (0 == mask[i]) {
            continue;
        }
        own->count += (uint32_t) __builtin_popcountl(mask[i]);
        if (own->words < ARC_CORES_WORDS && i <= UINT16_MAX) {
            own->word[own->words] = (uint16_t) i;
            own->bits[own->words] = mask[i];
            own->words += 1;
        }
    }
}

/*
 * The start of a job is crowded on any machine: mpirun and its daemon run beside the ranks.  So a
 * process has to have lived for two seconds.  A quarter: one of two processes on the same
 * processor waits for half of the time, each of three on two processors for a third; a daemon that
 * wakes up now and then takes less than a hundredth.
 */
bool arc_cores_are_crowded(uint64_t ran_ns, uint64_t waited_ns, unsigned processes, long online)
{
    const uint64_t life_ns = ran_ns + waited_ns;

    return (online > 0 && processes > (unsigned long) online) ||
           (life_ns >= 2 * (uint64_t) ARC_NS_PER_SECOND && waited_ns >= life_ns / 4);
}

/* Do the ranks of some control group have fewer processors together than they are? */
static bool quota_is_short(const arc_cores_t *all, unsigned ranks, place_t *order)
{
    for (unsigned rank = 0; rank < ranks; ++rank) {
        order[rank] = (place_t){.key = all[rank].group, .rank = rank};
    }
    qsort(order, ranks, sizeof *order, compare);
    for (unsigned i = 0, first = 0; i < ranks; ++i) {
        first = order[i].key == order[first].key ? first : i;
        const uint32_t quota = all[order[i].rank].quota;
        if (quota > 0 && quota / THOUSANDTHS < i - first + 1) {
            return true;
        }
    }
    return false;
}

/* Take one of the processors that `cores` may run on and nobody has taken yet. */
static bool take_processor(const arc_cores_t *cores, unsigned long *taken)
{
    for (unsigned i = 0; i < cores->words; ++i) {
        const unsigned long left = cores->bits[i] & ~taken[cores->word[i]];
        if (0 != left) {
            taken[cores->word[i]] |= left & -left;
            return true;
        }
    }
    return false;
}

/*
 * Give each rank a processor, those first that have the least choice.  This finds a way wherever
 * there is one if of any two masks one is a part of the other or they have nothing in common, as
 * masks that come from cores, caches and sockets do; it may miss one for other masks.  Whoever may
 * run on as many processors as there are ranks always finds one and needs no look.  Of a mask of
 * more than ARC_CORES_WORDS words the rest is not used: with more than 512 processors a rank for
 * which there is one may find none.
 */
static bool all_find_one(const arc_cores_t *all, unsigned ranks, place_t *order,
                         unsigned long *taken)
{
    for (unsigned rank = 0; rank < ranks; ++rank) {
        order[rank] = (place_t){.key = all[rank].count, .rank = rank};
    }
    qsort(order, ranks, sizeof *order, compare);
    for (unsigned i = 0; i < ranks && order[i].key < ranks; ++i) {
        if (!take_processor(&all[order[i].rank], taken)) {
            return false;
        }
    }
    return true;
}

bool arc_cores_are_shared(const arc_cores_t *all, unsigned ranks)
{
    unsigned words = 0;

    for (unsigned rank = 0; rank < ranks; ++rank) {
        const arc_cores_t *cores = &all[rank];
        if (cores->crowded || 0 == cores->words) {
            return true;
        }
        const unsigned end = cores->word[cores->words - 1] + 1U;
        words = end > words ? end : words;
    }
    place_t *order = calloc(ranks, sizeof *order);
    unsigned long *taken = calloc(words, sizeof *taken);
    const bool shared = NULL == order || NULL == taken || quota_is_short(all, ranks, order) ||
                        !all_find_one(all, ranks, order, taken);
    free(order);
    free(taken);
    return shared;
}
