/*
 * Ranks that exchange messages over put streams on simulated windows, in rounds: who
 * sends to whom in a round is a pattern, lengths and contents are a function of the message.
 * Each rank goes from round to round by itself, as far as its messages let it.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef PUTS_JOB_H
#define PUTS_JOB_H

#include "put_stream.h"
#include "sim_window.h"

enum { PUTS_MAX_RANKS = 5, PUTS_MAX_STREAMS = 2 };

typedef enum puts_pattern {
    PUTS_PAIRS,    /* neighbours with each other */
    PUTS_DOUBLING, /* partners that differ in one bit, another one in each round */
    PUTS_RING,     /* to the right */
    PUTS_ALL,      /* everybody with everybody */
    PUTS_ONE_WAY,  /* only to higher ranks */
    PUTS_CROSSING, /* everybody with everybody; who is lower receives only after it has sent */
    PUTS_PATTERNS
} puts_pattern_t;

typedef struct puts_options {
    unsigned ranks;
    arc_put_config_t config;
    puts_pattern_t pattern;
    unsigned rounds;
    size_t max_bytes;      /* of a message */
    unsigned max_messages; /* from one to one, on a stream, in a round */
    sim_window_options_t window;
} puts_options_t;

typedef struct puts_outcome {
    bool finished;      /* all rounds of all ranks, within the budget of steps */
    bool intact;        /* nothing was written beside a window or a receive buffer */
    unsigned failed;    /* ranks with an error */
    uint64_t wrong;     /* messages with a wrong length or contents */
    uint64_t messages;  /* received */
    uint64_t fragments; /* the least that a link that has messages in every round had */
    sim_window_counts_t counts;
} puts_outcome_t;

puts_outcome_t puts_job_run(const puts_options_t *options);

#endif
