/*
 * The schedule of a rank as it ran, in GOAL, the format of LogGOPSim: its messages, its additions,
 * and which of these waited for which.
 *
 * A message is posted after everything of its tag (an exchange, or the pipe) that the rank had seen
 * to end before.  So a `calc` joins what has ended since the last one, and what is posted then
 * requires it.  A calc of N stands for N bytes that are added, as if a byte took a nanosecond.
 *
 * Without a recorder (NULL) all functions do nothing.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef NETWORK_GOAL_H
#define NETWORK_GOAL_H

#include <stddef.h>

#include "lowlat_net.h"

enum { NETWORK_GOAL_TAGS = LOWLAT_EXCHANGES };

typedef struct network_goal network_goal_t;

typedef struct network_goal_message {
    unsigned label;
    unsigned after; /* the calc that it requires; 0: none */
    unsigned rank;  /* to which, or from which */
    unsigned tag;
} network_goal_message_t;

network_goal_t *network_goal_new(void);

/* `bytes` were added. */
void network_goal_add(network_goal_t *goal, size_t bytes);

/* To be called before a message is sent or a receive posted. */
network_goal_message_t network_goal_post(network_goal_t *goal, unsigned rank, unsigned tag);

void network_goal_sent(network_goal_t *goal, const network_goal_message_t *message, size_t bytes);

/* What was posted has come. */
void network_goal_received(network_goal_t *goal, const network_goal_message_t *message,
                           size_t bytes);

/* The rank has seen that what it sent has left. */
void network_goal_ended(network_goal_t *goal, const network_goal_message_t *message);

/* To stdout; the recorder is freed. */
void network_goal_print(network_goal_t *goal, unsigned rank);

#endif
