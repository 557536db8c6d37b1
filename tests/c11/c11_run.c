/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "c11_state.h"
#include "sizes.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PLACES = 64 };

static struct {
    c11_place_t place[MOST_PLACES];
    size_t count;
    size_t weak;
} orders = {.weak = SIZE_MAX};

/* ---- orders ---- */

size_t c11_places(void)
{
    return orders.count;
}

c11_place_t c11_place(size_t i)
{
    return orders.place[i];
}

void c11_weaken(size_t i)
{
    orders.weak = i;
}

static bool is_weak(c11_place_t place, int order)
{
    size_t i = 0;

    place.order = order;
    while (i < orders.count &&
           (orders.place[i].line != place.line || orders.place[i].order != order ||
            0 != strcmp(orders.place[i].file, place.file))) {
        ++i;
    }
    if (i == orders.count) {
        if (MOST_PLACES == orders.count) {
            abort();
        }
        orders.place[orders.count++] = place;
    }
    return i == orders.weak;
}

int c11_order(int order, c11_place_t place)
{
    if (__ATOMIC_ACQ_REL == order) {
        const bool acquires = !is_weak(place, __ATOMIC_ACQUIRE);
        const bool releases = !is_weak(place, __ATOMIC_RELEASE);
        return !acquires ? __ATOMIC_RELEASE : !releases ? __ATOMIC_ACQUIRE : order;
    }
    return __ATOMIC_RELAXED == order || is_weak(place, order) ? __ATOMIC_RELAXED : order;
}

/* ---- choices ---- */

unsigned c11_choose(unsigned of)
{
    if (of < 2) {
        return 0;
    }
    if (c11_the.chosen == c11_the.depth) {
        if (C11_MOST_CHOICES == c11_the.depth) {
            abort();
        }
        c11_the.choice[c11_the.depth] = 0;
        c11_the.choices[c11_the.depth++] = (uint16_t) of;
    }
    return c11_the.choice[c11_the.chosen++];
}

/* To the next execution.  False: there was none but those before. */
static bool choose_again(void)
{
    while (c11_the.depth > 0 &&
           c11_the.choice[c11_the.depth - 1] + 1 == c11_the.choices[c11_the.depth - 1]) {
        c11_the.depth -= 1;
    }
    if (0 == c11_the.depth) {
        return false;
    }
    c11_the.choice[c11_the.depth - 1] += 1;
    return true;
}

/* ---- executions ---- */

static void run_rank(void *context)
{
    c11_the.run->body(c11_the.run->context, c11_the.now);
    c11_self()->ended = true;
}

static bool can_run(const c11_rank_t *rank)
{
    return !rank->ended && !(rank->awaits && c11_the.location[rank->location].count == rank->count);
}

static void resume(unsigned number)
{
    c11_the.now = number;
    c11_the.rank[number].awaits = false;
    (void) arc_fiber_resume(c11_the.rank[number].fiber);
}

/* The first that can; after nobody can, or one has polled in vain, all in turn. */
static bool run_one(unsigned round)
{
    unsigned ended = 0;

    if (c11_the.is_drawn || c11_the.newest_only) {
        const unsigned number =
            c11_the.is_drawn ? (unsigned) test_random_below(&c11_the.random, c11_the.run->ranks)
                             : round % c11_the.run->ranks;
        for (unsigned i = 0; i < c11_the.run->ranks; ++i) {
            ended += c11_the.rank[i].ended;
        }
        if (!c11_the.rank[number].ended) {
            resume(number);
        }
        return ended < c11_the.run->ranks;
    }
    for (unsigned number = 0; number < c11_the.run->ranks; ++number) {
        if (can_run(&c11_the.rank[number])) {
            resume(number);
            return true;
        }
        ended += c11_the.rank[number].ended;
    }
    c11_the.newest_only = ended < c11_the.run->ranks;
    return c11_the.newest_only;
}

static void run_once(void)
{
    const c11_run_t *run = c11_the.run;
    unsigned round = 0;

    memset(c11_the.memory, 0, run->bytes);
    memset(c11_the.grain, 0, run->bytes / C11_GRAIN_BYTES * sizeof *c11_the.grain);
    for (unsigned i = 0; i < c11_the.locations; ++i) {
        c11_the.location[i].count = 1;
    }
    c11_the.wrong = NULL;
    c11_the.newest_only = false;
    c11_the.given_up = false;
    c11_the.chosen = 0;
    run->prepare(run->context, c11_the.memory);
    for (unsigned number = 0; number < run->ranks; ++number) {
        c11_rank_t *rank = &c11_the.rank[number];
        *rank = (c11_rank_t){.fiber = rank->fiber};
        rank->view.clock[number] = 1;
        arc_fiber_begin(rank->fiber, run_rank, NULL);
    }
    while (run_one(round) && round < C11_MOST_ROUNDS) {
        ++round;
    }
    if (C11_MOST_ROUNDS == round) {
        c11_complain("ranks wait for ever");
        c11_the.given_up = true;
        while (run_one(round)) {
            ++round;
        }
    }
}

static void begin(const c11_run_t *run)
{
    enum { PAGE_BYTES = 4096 };

    c11_the.run = run;
    c11_the.memory = aligned_alloc(PAGE_BYTES, arc_round_up(run->bytes, PAGE_BYTES));
    c11_the.grain = test_alloc(run->bytes / C11_GRAIN_BYTES * sizeof *c11_the.grain);
    c11_the.location_of = test_alloc(run->bytes / C11_WORD_BYTES);
    if (NULL == c11_the.memory) {
        abort();
    }
    memset(c11_the.location_of, 0, run->bytes / C11_WORD_BYTES);
    c11_the.locations = 0;
    c11_the.depth = 0;
    for (unsigned number = 0; number < run->ranks; ++number) {
        c11_the.rank[number].fiber = arc_fiber_new(0);
        if (NULL == c11_the.rank[number].fiber) {
            abort();
        }
    }
}

static void end(void)
{
    for (unsigned number = 0; number < c11_the.run->ranks; ++number) {
        arc_fiber_free(c11_the.rank[number].fiber);
    }
    for (unsigned i = 0; i < c11_the.locations; ++i) {
        free(c11_the.location[i].stored);
    }
    free(c11_the.location_of);
    free(c11_the.grain);
    free(c11_the.memory);
}

bool c11_run_any(const c11_run_t *run, uint64_t seed)
{
    begin(run);
    c11_the.is_drawn = true;
    c11_the.random = test_random_of(seed, 0);
    run_once();
    end();
    return NULL == c11_the.wrong;
}

size_t c11_run_all(const c11_run_t *run, size_t most)
{
    size_t runs = 0;

    begin(run);
    c11_the.is_drawn = false;
    do {
        run_once();
        ++runs;
    } while (NULL == c11_the.wrong && runs < most && choose_again());
    end();
    return runs;
}
