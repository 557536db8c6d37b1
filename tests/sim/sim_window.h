/*
 * Simulated windows: arc_window_t for N ranks in one process, driven by a seeded scheduler.
 *
 * What is put becomes visible word by word, in any order, mixed with the words of other puts.
 * Only puts to one peer with a fence between them keep their order.  A put either
 * copies at once and ends then or later, or reads its source as late as its words become
 * visible and ends after the last: chance decides for each.  So a source that is used
 * again too early, a slot that is, and a flag that counts on an order are found.
 *
 * A put outside the window or to nobody's ends the program.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef SIM_WINDOW_H
#define SIM_WINDOW_H

#include "testlib.h"
#include "window.h"

typedef struct sim_windows sim_windows_t;

enum { SIM_WINDOW_MAX_PEERS = 16 };

/* The peers of a rank, ascending.  Peers of each other. */
typedef struct sim_peers {
    unsigned count;
    unsigned rank_of[SIM_WINDOW_MAX_PEERS];
} sim_peers_t;

typedef struct sim_window_options {
    uint64_t seed;
    uint64_t fail_at;    /* the so many-th put, fence or end of a put fails; 0: none */
    bool ignores_fences; /* breaks the contract */
} sim_window_options_t;

/* Windows of window_bytes[rank] bytes; peers[rank] is copied. */
sim_windows_t *sim_windows_new(unsigned ranks, const sim_peers_t *peers, const size_t *window_bytes,
                               const sim_window_options_t *options);
void sim_windows_free(sim_windows_t *windows);

arc_window_t *sim_windows_get(sim_windows_t *windows, unsigned rank);

/* Let time pass: some words of one put may become visible. */
void sim_windows_pass(sim_windows_t *windows);

/* From now on a rank is gone: its peers' puts end all the same, and a look is an error. */
void sim_windows_lose(sim_windows_t *windows, unsigned rank);

/* From now on every call fails. */
void sim_windows_down(sim_windows_t *windows);

/* So far. */
typedef struct sim_window_counts {
    uint64_t puts;
    uint64_t fences;
    bool fault_happened; /* the one asked for */
} sim_window_counts_t;

const sim_window_counts_t *sim_windows_counts(const sim_windows_t *windows);

/* Was nothing written beside the windows? */
bool sim_windows_intact(const sim_windows_t *windows);

#endif
