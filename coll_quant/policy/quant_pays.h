/*
 * Where quantizing pays: what trials measured, and what follows from it.
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
#ifndef QUANT_PAYS_H
#define QUANT_PAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QUANT_PAYS_CLASSES = 25, /* the last one: 2^24 bytes, so that a trial needs no more memory */
    QUANT_PAYS_LONGEST_BYTES = 1 << (QUANT_PAYS_CLASSES - 1),
};

/* The classes of messages of at least one float, and of trials. */
unsigned quant_pays_class(size_t bytes);
size_t quant_pays_class_bytes(unsigned class);

/* What was decided; bit k is about class k. */
typedef struct quant_pays {
    uint32_t known;
    uint32_t pays; /* a part of `known` */
} quant_pays_t;

/* For those who want no trials: everything is quantized. */
static inline quant_pays_t quant_pays_always(void)
{
    return (quant_pays_t){.known = UINT32_MAX, .pays = UINT32_MAX};
}

static inline bool quant_pays_is_known(const quant_pays_t *pays, unsigned class)
{
    return 0 != (pays->known >> class & 1);
}

static inline bool quant_pays_at(const quant_pays_t *pays, unsigned class)
{
    return 0 != (pays->pays >> class & 1);
}

void quant_pays_decide(quant_pays_t *pays, unsigned class, bool yes);

/* What `other` knows is known, and decided as there. */
void quant_pays_merge(quant_pays_t *pays, const quant_pays_t *other);

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
bool quant_trial_pays(const quant_trial_t *trial, int margin_percent);

#endif
