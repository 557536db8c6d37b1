/*
 * Which format and which algorithm, for what the user wants.
 *
 * All algorithms but hierarchical, which sends fewer, send as many bytes, so the bytes depend on
 * the format, and the error on format and algorithm.  Without a target the choice is made by speed:
 *
 *   format      int8
 *   algorithm   hierarchical where several nodes have several ranks each;
 *               full_loop up to 4 ranks; recursive_halving, which sends few messages, with one rank
 *               on each of 17 to 512 nodes; otherwise semi_loop, which fills the wire as
 *               full_loop does, with half of the latencies and less error
 *               (docs/benchmarks_quant.md)
 *
 * The error of this choice grows with the number of ranks.  Where it would be above a limit that is
 * set for auto, the limit counts as a target, and int8 as the format of the fewest bytes: with 1e-3
 * auto takes int9 on semi_loop from 104 ranks on.
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
 * large if the numbers are (quant_element.h).
 *
 * Formats without scales are taken only where they are asked for: what they make of small numbers
 * depends on v.  So is fp32: where nothing less will do, another component is faster.
 *
 * Cost: 0.4 ms for each format that is tried; nothing without a target and a limit.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_CHOOSE_H
#define QUANT_CHOOSE_H

#include "quant_error.h"

/* What errors may be, as an NMSE that is predicted; 0: there is no limit. */
typedef struct quant_limits {
    double target_nmse;
    double auto_nmse; /* where the format is open and there is no target */
} quant_limits_t;

/*
 * Fill in what a configuration leaves open as NULL: formats and the algorithm, which is also open
 * if it has levels and the ranks have none.  The result depends on nothing but `ranks`, at least 2,
 * and in the configuration on what is named, block_rows (the most that a call may have: its error
 * is the largest), feedback, per_node and alone.  False: nothing that is allowed is accurate
 * enough, and the configuration is unchanged.
 */
bool quant_choose(quant_config_t *config, unsigned ranks, const quant_limits_t *limits);

/*
 * The same where each message takes a format of its own so that no element is farther off than it
 * may be (quant_fit.h): if the format is open, messages have room for the most exact one with
 * scales, and take none of fewer bits than what the target allows, `coarsest`.
 */
bool quant_choose_range(quant_config_t *config, unsigned ranks, double target_nmse);

/*
 * The NMSE of a choice is below a limit if it is so with this factor: errors so large that they
 * raise later scales, 3 percent in int4, and the chance of a sample
 * (tests/sim/test_quant_errors.c).
 */
#define QUANT_CHOOSE_MARGIN 1.05

#endif
