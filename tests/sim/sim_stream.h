/*
 * A simulated network of ordered messages: arc_stream_t for N ranks in one
 * process, driven by a seeded random scheduler.
 *
 *   rank 0 --send--> | link 0 -> 1: messages in order | --receive--> rank 1
 *
 * A message is delivered when it is the first of its link, its random delay is
 * over and a receive for it is started; links overtake each other, messages of
 * one link do not.  A send either copies at once and ends before delivery, as
 * long as the link has room ("eager"), or reads its buffer at delivery and ends
 * after it ("rendezvous"): chance decides for each.  So a sender that reuses a
 * buffer too early, or that counts on room that need not exist, is found.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef SIM_STREAM_H
#define SIM_STREAM_H

#include "stream.h"
#include "task.h"
#include "testlib.h"

typedef struct sim_network sim_network_t;

typedef struct sim_options {
    uint64_t seed;
    unsigned delay_max; /* ticks that a message may take */
    unsigned eager_max; /* messages of one link that may be under way after their send ended */

    uint64_t fail_at; /* the so many-th start or completion fails; 0: none */

    uint64_t garble_at;  /* the so many-th message is changed before delivery; 0: none */
    size_t garble_byte;  /* this byte of it gets inverted ... */
    size_t garble_cut;   /* ... or, if not 0, so many bytes are cut off its end */
    size_t garble_more;  /* ... or come behind it, for which the buffer must have room */
    bool garble_discard; /* ... or it never arrives */
} sim_options_t;

sim_network_t *sim_network_new(unsigned ranks, const sim_options_t *options);
void sim_network_free(sim_network_t *network);

arc_stream_t *sim_network_stream(sim_network_t *network, unsigned rank);

/* So far. */
typedef struct sim_counts {
    size_t outstanding; /* neither completed nor aborted: 0 after a correct end, good or bad */
    uint64_t delivered; /* messages */
    uint64_t delivered_bytes;
    bool fault_happened; /* the one asked for */
} sim_counts_t;

const sim_counts_t *sim_network_counts(const sim_network_t *network);

/* Let time pass: one message may arrive. */
void sim_network_pass(sim_network_t *network);

/* From now on every call fails. */
void sim_network_down(sim_network_t *network);

/*
 * Run tasks[rank] of all ranks to their ends in random order, for at most
 * `steps` calls of progress; statuses[rank] is the status of each at the end.
 * When one fails, the network goes down: every later call on it fails.  False:
 * the budget was not enough.
 */
bool sim_network_run(sim_network_t *network, arc_task_t *const *tasks, arc_status_t *statuses,
                     uint64_t steps) __attribute__((warn_unused_result));

#endif
