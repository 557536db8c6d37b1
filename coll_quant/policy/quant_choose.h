/*
 * Which format and which algorithm, for what the user wants: docs/guarantees.md, "Which format and
 * algorithm", has the rules and their reasons.
 *
 * For independent elements of equal variance v, the exact result has N v, so that the normalized
 * mean square error, the mean square of the error over that of the exact result, is
 *
 *   NMSE = (c_reduce R(N) + c_gather N) / N,   R(N) the sum of the depths of all vertices
 *
 * and with error feedback twice that: a call has its own error and what the one before it left, as
 * large if the numbers are (quant_element.h).
 *
 * Cost: 0.4 ms for each format that is tried; nothing for a format that is named, without a target.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_CHOOSE_H
#define QUANT_CHOOSE_H

#include "quant_error.h"

/*
 * The most NMSE that is predicted where the format is auto and there is no target: int8 on the
 * usual algorithm keeps it with up to 103 ranks.
 */
#define QUANT_AUTO_NMSE 1e-3

/*
 * Fill in what a configuration leaves open as NULL: formats and the algorithm, which is also open
 * if it has levels and the ranks have none.  The result depends on nothing but `ranks`, at least 2,
 * the target, 0: none, and in the configuration on what is named, block_rows (the most that a call
 * may have: its error is the largest), feedback, bounded, per_node and alone.  False: nothing that
 * is allowed is accurate enough, and the configuration is unchanged.
 *
 * Where each message takes a format of its own (bounded; quant_fit.h) and the format is open,
 * messages have room for the most exact one with scales, and take none of fewer bits than what the
 * target allows, `coarsest`.
 */
bool quant_choose(quant_config_t *config, unsigned ranks, double target_nmse);

/*
 * The NMSE of a choice is below a limit if it is so with this factor: errors so large that they
 * raise later scales, 3 percent in int4, and the chance of a sample
 * (tests/sim/test_quant_errors.c).
 */
#define QUANT_CHOOSE_MARGIN 1.05

#endif
