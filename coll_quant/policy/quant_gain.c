/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>

#include "quant_gain.h"

static_assert(QUANT_GAIN_CLASSES <= 8 * sizeof((quant_gain_t *) NULL)->decided,
              "a bit for each class");

unsigned quant_gain_class(size_t bytes)
{
    enum { LAST = QUANT_GAIN_CLASSES - 1 };
    unsigned class = 0;

    while (class < LAST && bytes >= (size_t) 1 << class << 1) {
        ++class;
    }
    /* From 3/2 2^k on 2^(k+1) is the nearer one. */
    const size_t rest = bytes - quant_gain_class_bytes(class);
    return class < LAST && rest >= (quant_gain_class_bytes(class) + 1) / 2 ? class + 1 : class;
}

size_t quant_gain_class_bytes(unsigned class)
{
    return (size_t) 1 << class;
}

void quant_gain_merge(quant_gain_t *gain, const quant_gain_t *other)
{
    gain->gains = (gain->gains & ~other->decided) | other->gains;
    gain->decided |= other->decided;
}

void quant_gain_decide(quant_gain_t *gain, unsigned class, bool yes)
{
    const uint32_t bit = (uint32_t) 1 << class;

    gain->decided |= bit;
    gain->gains = yes ? gain->gains | bit : gain->gains & ~bit;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void quant_trial_note(quant_trial_t *trial, const quant_times_t *times)
{
    quant_times_t *least = &trial->least;
    const bool first_that_counts = trial->rounds <= 1;

    least->below_ns =
        first_that_counts ? times->below_ns : smaller(least->below_ns, times->below_ns);
    least->quant_ns =
        first_that_counts ? times->quant_ns : smaller(least->quant_ns, times->quant_ns);
    trial->rounds += 1;
}

unsigned quant_trial_calls(const quant_trial_t *trial)
{
    enum { MOST_CALLS = 8, TURN_NS = 1000000 };
    const uint64_t slower_ns = larger(trial->least.below_ns, trial->least.quant_ns);
    unsigned calls = 1;

    while (0 != trial->rounds && calls < MOST_CALLS && (calls + 1) * slower_ns <= TURN_NS) {
        ++calls;
    }
    return calls;
}

/* In hundredths of a nanosecond: what the quantized call would have to take at most, and takes. */
typedef struct scales {
    uint64_t allowed;
    uint64_t taken;
} scales_t;

static scales_t weigh_sides(const quant_trial_t *trial, int margin_percent)
{
    enum { WHOLE = 100 };

    return (scales_t){.allowed = WHOLE * trial->least.below_ns,
                      .taken = (uint64_t) (WHOLE + margin_percent) * trial->least.quant_ns};
}

bool quant_trial_is_enough(const quant_trial_t *trial, int margin_percent)
{
    enum { SHORT_NS = 5000000, FIRST = 1 };
    static const struct {
        unsigned clear; /* rounds if the decision is clear */
        unsigned close;
    } short_calls = {4, 9}, long_calls = {2, 5};
    const uint64_t slower_ns = larger(trial->least.below_ns, trial->least.quant_ns);
    const bool is_short = slower_ns < SHORT_NS;
    const scales_t scales = weigh_sides(trial, margin_percent);
    const uint64_t less = smaller(scales.allowed, scales.taken);
    const bool is_clear = larger(scales.allowed, scales.taken) > less + less / 2;
    const unsigned rounds = is_clear ? (is_short ? short_calls.clear : long_calls.clear)
                                     : (is_short ? short_calls.close : long_calls.close);

    return trial->rounds >= FIRST + rounds;
}

bool quant_trial_gains(const quant_trial_t *trial, int margin_percent)
{
    const scales_t scales = weigh_sides(trial, margin_percent);
    return scales.taken <= scales.allowed;
}
