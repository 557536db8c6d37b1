/*
 * Where quantizing gains time: what trials measured, and what follows from it.
 *
 * Messages are sorted into classes by their length, to the nearest power of two:
 *
 *     class k     from 3/4 2^k up to 3/2 2^k bytes, tried with 2^k; the last one, 16 MiB, has all
 *                 that is longer
 *
 * The vector of a collective with blocks is that of all blocks together.
 *
 * A trial is some rounds, in each of which the component below and the quantized
 * collective take a turn: calls back to back, timed.  The first round finds buffers that
 * were never touched and connections that are not there yet, and counts only if there
 * is no time for another one.  Of the others the least time of each side counts: what
 * disturbs a call only makes it longer.
 *
 * Everything here is a function of numbers that the ranks have agreed on, so that all decide
 * alike; and it is made of integers, so that the program's floating-point environment has no
 * part in it.
 *
 * Pure.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_GAIN_H
#define QUANT_GAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QUANT_GAIN_CLASSES = 25, /* the last one: 2^24 bytes, so that a trial needs no more memory */
    QUANT_GAIN_LONGEST_BYTES = 1 << (QUANT_GAIN_CLASSES - 1),
};

/* The classes of messages of at least one float, and of trials. */
unsigned quant_gain_class(size_t bytes);
size_t quant_gain_class_bytes(unsigned class);

/* What was decided; bit k is about class k. */
typedef struct quant_gain {
    uint32_t decided;
    uint32_t gains; /* a part of `decided` */
} quant_gain_t;

/* For those who want no trials: everything is quantized. */
static inline quant_gain_t quant_gain_always(void)
{
    return (quant_gain_t){.decided = UINT32_MAX, .gains = UINT32_MAX};
}

static inline bool quant_gain_is_decided(const quant_gain_t *gain, unsigned class)
{
    return 0 != (gain->decided >> class & 1);
}

static inline bool quant_gain_at(const quant_gain_t *gain, unsigned class)
{
    return 0 != (gain->gains >> class & 1);
}

void quant_gain_decide(quant_gain_t *gain, unsigned class, bool yes);

/* What `other` knows is known, and decided as there. */
void quant_gain_merge(quant_gain_t *gain, const quant_gain_t *other);

/* Times of a call, of the slowest rank. */
typedef struct quant_times {
    uint64_t below_ns;
    uint64_t quant_ns;
} quant_times_t;

typedef struct quant_trial {
    unsigned rounds; /* with the first one */
    quant_times_t least;
} quant_trial_t;

/* A round is over. */
void quant_trial_note(quant_trial_t *trial, const quant_times_t *times);

/* Calls of a turn in the next round: several of short messages, up to about a millisecond. */
unsigned quant_trial_calls(const quant_trial_t *trial);

/*
 * Can another round change nothing that matters?  After four that count if the decision is
 * clear by half, otherwise after nine; of calls of 5 ms and more after two and five.
 */
bool quant_trial_is_enough(const quant_trial_t *trial, int margin_percent);

/*
 * Is the quantized collective faster by margin_percent (-100 to 10000) of its time?  -100: always.
 * At least one round is over.
 */
bool quant_trial_gains(const quant_trial_t *trial, int margin_percent);

#endif
