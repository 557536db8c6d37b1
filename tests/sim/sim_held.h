/*
 * A network that holds every message until its receiver asks for it, and every send until its
 * receiver has come, as TCP does at the first contact: arc_stream_t for agreements of which some
 * ranks do not come, or do not hear.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef SIM_HELD_H
#define SIM_HELD_H

#include "stream.h"
#include "task.h"

enum { SIM_HELD_RANKS = 70 };

/* There is one; it forgets all that was sent. */
void sim_held_make(unsigned ranks);

arc_stream_t *sim_held_stream(unsigned rank);

/* Has the rank started a receive that has not ended? */
bool sim_held_receives(unsigned rank);

/* Messages that were sent and not received. */
unsigned sim_held_left(unsigned from, unsigned to);

/* Let the ranks that run, and have not ended, do what they can, until none gets any further. */
void sim_held_run(unsigned ranks, arc_task_t *const *tasks, const bool *runs,
                  arc_status_t *statuses);

#endif
