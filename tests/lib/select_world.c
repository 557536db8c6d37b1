/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>
#include <string.h>

#include "select_world.h"

enum { NS = 1000, COLD_CALLS = 3, SLOW_CALLS = 100 };

void world_start(world_t *world, const world_setting_t *setting, uint64_t seed)
{
    arc_select_config_t config = setting->config;

    memset(world, 0, sizeof *world);
    world->setting = setting;
    world->random = test_random_of(seed, 0);
    world->agreed = true;
    world->slow = 1;
    world->spread_mean = exp(setting->noise * setting->noise / 2);
    while (config.candidates < ARC_SELECT_CANDIDATES && setting->call_us[config.candidates] > 0) {
        config.candidates += 1;
    }
    for (unsigned rank = 0; rank < setting->ranks; ++rank) {
        arc_select_init(&world->select[rank], &config);
    }
}

double world_true_us(const world_t *world, unsigned candidate)
{
    const world_setting_t *setting = world->setting;
    const bool drifted = 0 != setting->drift_call && world->calls >= setting->drift_call;

    return drifted ? setting->drifted_us[candidate] : setting->call_us[candidate];
}

static double times_stuck(const world_t *world, unsigned candidate)
{
    return fmax(world->setting->stuck[candidate], 1);
}

static double with_program_us(const world_t *world, unsigned candidate)
{
    return world_true_us(world, candidate) * times_stuck(world, candidate) +
           world->setting->between_us[candidate];
}

double world_regret(const world_t *world)
{
    const world_setting_t *setting = world->setting;
    /* The last of so many ranks comes so late, at the mean. */
    const double wait_us = setting->late * world_true_us(world, world->select[0].chosen) *
                           setting->ranks / (setting->ranks + 1);
    double best_us = with_program_us(world, 0);

    for (unsigned i = 1; i < world->select[0].config.candidates; ++i) {
        best_us = fmin(best_us, with_program_us(world, i));
    }
    return (wait_us + with_program_us(world, world->select[0].chosen)) / (wait_us + best_us);
}

static double spread(world_t *world, double noise)
{
    return exp(noise * test_random_normal(&world->random));
}

/* A call's time over the mean. */
static double unevenness(world_t *world, unsigned candidate)
{
    const double chance = world->setting->uneven_chance;

    if (1 != candidate || 0 == chance) {
        return 1;
    }
    return (test_random_unit(&world->random) < chance ? 2 : 1) / (1 + chance);
}

static void agree(world_t *world)
{
    const unsigned ranks = world->setting->ranks;
    uint64_t least[ARC_SELECT_VALUES];
    uint64_t values[ARC_SELECT_VALUES];

    const unsigned count = arc_select_offer(&world->select[0], least);
    for (unsigned rank = 1; rank < ranks; ++rank) {
        world->agreed = world->agreed && count == arc_select_offer(&world->select[rank], values);
        for (unsigned i = 0; i < count; ++i) {
            least[i] = values[i] < least[i] ? values[i] : least[i];
        }
    }
    for (unsigned rank = 0; rank < ranks; ++rank) {
        const double late_us = 10 * test_random_unit(&world->random);
        (void) arc_select_take(&world->select[rank], least,
                               (uint64_t) (NS * (world->setting->agree_us + late_us)));
        world->clock_us[rank] += world->setting->agree_us;
    }
    world->agreements += 1;
    world->explore_us += world->setting->agree_us;
}

/* The time of a call of the candidate; *more_us: what `former` would take less, if it would. */
static double simulated_us(world_t *world, unsigned candidate, unsigned former, bool timed,
                           double *more_us)
{
    const world_setting_t *setting = world->setting;

    if (0 == world->calls % SLOW_CALLS) {
        world->slow = spread(world, setting->slow_noise);
    }
    const double true_us = world_true_us(world, candidate) * world->slow;
    double took_us = true_us * unevenness(world, candidate);
    if (timed) {
        took_us *= spread(world, setting->noise);
    } else {
        /* Nobody sees this noise, and it takes half of the time: the mean, and no other numbers. */
        took_us *= world->spread_mean;
        (void) test_random_unit(&world->random);
        (void) test_random_unit(&world->random);
    }
    if (test_random_unit(&world->random) < setting->tail_chance) {
        took_us += setting->tail_us * -log(1 - test_random_unit(&world->random));
    }
    world->in_a_row = world->last == candidate ? world->in_a_row + 1 : 0;
    world->last = candidate;
    took_us *= world->in_a_row >= STUCK_CALLS ? times_stuck(world, candidate) : 1;
    const double warm_us = took_us;
    if (world->used[candidate] < COLD_CALLS && setting->cold > 0) {
        took_us *= setting->cold;
    }
    *more_us = fmax(true_us - world_true_us(world, former) * world->slow + took_us - warm_us, 0);
    return took_us;
}

void world_call(world_t *world)
{
    const world_setting_t *setting = world->setting;
    const unsigned former = world->select[0].chosen;
    double more_us = 0;
    bool timed = false;

    const unsigned candidate = arc_select_pick(&world->select[0], &timed);
    for (unsigned rank = 1; rank < setting->ranks; ++rank) {
        bool also = false;
        const unsigned other = arc_select_pick(&world->select[rank], &also);
        world->agreed = world->agreed && other == candidate && also == timed;
    }
    const double took_us = simulated_us(world, candidate, former, timed, &more_us);
    world->used[candidate] += 1;
    if (timed && candidate != former) {
        world->explore_us += more_us;
    }

    double begin_us[WORLD_RANKS];
    double last_us = 0;
    for (unsigned rank = 0; rank < setting->ranks; ++rank) {
        begin_us[rank] =
            world->clock_us[rank] + 0.1 +
            setting->late * world_true_us(world, former) * test_random_unit(&world->random);
        last_us = fmax(last_us, begin_us[rank]);
    }
    bool due = false;
    for (unsigned rank = 0; rank < setting->ranks; ++rank) {
        world->clock_us[rank] = last_us + took_us * (0.95 + 0.1 * test_random_unit(&world->random));
        if (timed) {
            const uint64_t begin_ns = (uint64_t) (NS * begin_us[rank]);
            const uint64_t end_ns = (uint64_t) (NS * world->clock_us[rank]);
            due = arc_select_note(&world->select[rank], begin_ns, end_ns, end_ns - begin_ns);
        }
    }
    world->calls += 1;
    if (due) {
        agree(world);
    }
    for (unsigned rank = 0; rank < setting->ranks; ++rank) {
        world->clock_us[rank] += setting->between_us[candidate];
    }
}
