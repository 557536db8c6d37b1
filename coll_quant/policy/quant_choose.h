/*
 * Which format and which algorithm, for what the user wants.
 *
 * All algorithms but hierarchical, which sends fewer, send the same bytes, so the bytes
 * depend on the format, and the error on both.  Without a target the choice is made by speed:
 *
 *   format      int8
 *   algorithm   hierarchical where several machines have several ranks each;
 *               full_loop up to 4 ranks; above semi_loop, which fills the wire as
 *               full_loop does, with half of the latencies and less error
 *               (docs/benchmarks_quant.md)
 *
 * With a target for the normalized mean square error (NMSE: the mean square of the
 * error over that of the exact result) it is
 *
 *   format      the one of the fewest bytes that some algorithm meets the target with
 *   algorithm   the same if its error is below the target, otherwise the next one of
 *               full_loop, for few ranks; semi_loop; direct, for few ranks;
 *               recursive_halving, for some more
 *
 * For independent elements of equal variance v, the exact result has N v, so that
 *
 *   NMSE = (c_reduce R(N) + c_gather N) / N          (quant_error.h)
 *
 * and with error feedback twice that: a call has its own error and what the one before it left, as
 * large if the numbers are (quant_numbers.h).
 *
 * Formats without scales are taken only where they are asked for: what they make of small
 * numbers depends on v.  fp32, too: where nothing less will do, another component is faster.
 *
 * Cost: 0.4 ms per format with a target, nothing without.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_CHOOSE_H
#define QUANT_CHOOSE_H

#include "quant_error.h"

typedef struct quant_wanted {
    const quant_format_t *format; /* NULL: any */
    const quant_algo_t *algo;     /* NULL: any; so is one with levels where there are none */
    unsigned per_machine;         /* ranks of each machine; 0 or 1: there are no levels */
    bool reduce;                  /* partial sums are quantized */
    bool gather;                  /* totals are quantized */
    unsigned block_rows;          /* the most that a call may have: its error is the largest */
    quant_rounding_t rounding;
    bool feedback;      /* a call has the error of the one before it, too */
    double target_nmse; /* 0: none */
} quant_wanted_t;

typedef struct quant_choice {
    const quant_format_t *format;
    const quant_algo_t *algo;
    double nmse; /* predicted, of a single call; 0 without a target */
} quant_choice_t;

/*
 * The choice for `ranks` (at least 2); a function of its arguments alone.  False: nothing that
 * `wanted` allows is accurate enough, and *choice is unchanged.
 */
bool quant_choose(const quant_wanted_t *wanted, unsigned ranks, quant_choice_t *choice);

/*
 * The NMSE of a choice is below a target if it is so with this factor: errors so large that they
 * raise later scales, 3 percent in int4, and the chance of a sample (tests/sim/test_quant_mse.c).
 */
#define QUANT_CHOOSE_MARGIN 1.05

#endif
