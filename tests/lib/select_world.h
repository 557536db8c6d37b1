/*
 * A simulated job whose calls a selector chooses the candidates of: some ranks, each with its
 * own selector and its own view of the time.
 *
 * A call begins on each rank when that rank comes, and ends when the last one has come and the
 * candidate's time has passed; that time has noise, and now and then a rank loses its core.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef SELECT_WORLD_H
#define SELECT_WORLD_H

#include "select.h"
#include "testlib.h"

enum { WORLD_RANKS = 8, STUCK_CALLS = 4 };

typedef struct world_setting {
    const char *name;
    unsigned ranks;
    double call_us[ARC_SELECT_CANDIDATES]; /* the mean */
    /* From this call on the times are others; 0: never. */
    uint64_t drift_call;
    double drifted_us[ARC_SELECT_CANDIDATES];
    double noise;       /* standard deviation of the logarithm of a time */
    double slow_noise;  /* likewise, common to all calls of 100 in a row */
    double tail_chance; /* of a call in which a rank loses its core, for ... */
    double tail_us;
    double uneven_chance; /* of a call of candidate 1 that takes twice the time of its others */
    double late;          /* a rank comes late by up to so many times the call's time */
    double cold;          /* times that a candidate's first three calls take */
    double agree_us;
    double stuck[ARC_SELECT_CANDIDATES]; /* times that calls behind STUCK_CALLS of their own take */
    double between_us[ARC_SELECT_CANDIDATES]; /* what the program computes behind a call */
    arc_select_config_t config;
} world_setting_t;

typedef struct world {
    const world_setting_t *setting;
    test_random_t random;
    arc_select_t select[WORLD_RANKS];
    double clock_us[WORLD_RANKS];
    uint64_t calls;
    unsigned used[ARC_SELECT_CANDIDATES];
    double slow;        /* the present state of slow_noise */
    double spread_mean; /* of noise */
    double explore_us;  /* more than the choice of then would have taken, and agreements */
    unsigned agreements;
    unsigned last;     /* candidate */
    unsigned in_a_row; /* of its calls */
    bool agreed;       /* all ranks picked alike, always */
} world_t;

/* The ranks begin; how many candidates follows from the times that are not 0. */
void world_start(world_t *world, const world_setting_t *setting, uint64_t seed);

void world_call(world_t *world);

/* The true time of a candidate at the present call. */
double world_true_us(const world_t *world, unsigned candidate);

/* The time of the program with the choice over that with the best: 1 or more. */
double world_regret(const world_t *world);

#endif
