/*
 * Messages that are off by no more than they may be: a limit X for the error of every element of a
 * result, met by the choice of the format of each message.
 *
 * The sum of a shard is coded E times on the way to its result: once on each edge of the tree, and
 * once as the total; E is the number of ranks, with levels of nodes.  The sender of a message knows
 * how far its numbers are off, b, and the largest of them, and so what each format adds to b
 * (quant_bound.h).  It takes the format of the fewest bits with which
 *
 *   of a partial sum    b + e <= b + X/E
 *   of a total          b + e <= X             what is left of it all
 *
 * and sends the numbers themselves if there is none.  So no message has to know of another one,
 * the ranks have nothing to agree on, and the bound that comes with a total is at most X.
 *
 * But for additions: their roundings, 2^-24 of a sum each, are in b, and a total pays for them with
 * what is left.  Where they alone are more than that, the bound is above X; then they are
 * above X/E, and any sum of floats may have an error of this size.
 *
 * With error feedback b begins with what the call before has left, at most the share of a message
 * then: of a partial sum b + e <= b + X/2E, and a total, which leaves something, too, has no more
 * either.
 *
 *   cost   one pass to find the largest number, and the hop in one pass over tiles becomes two
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_FIT_H
#define QUANT_FIT_H

#include "quant_algos.h"

/* What a call allows. */
typedef struct quant_fit {
    const quant_element_t *element; /* of the numbers */
    double share;                   /* of a message in the limit */
    double most;                    /* the limit; 0: there is none */
    const quant_format_t *coarsest; /* NULL: only the format of the message, and the exact one */
    bool feedback;
} quant_fit_t;

quant_fit_t quant_fit_of(const quant_config_t *config, const quant_operation_t *operation,
                         unsigned ranks);

/* As element->pack(), of a partial sum or a total; where there is a limit in the format that fits.
 */
size_t quant_fit_pack(const quant_fit_t *fit, const quant_wire_segment_t *segment,
                      const void *numbers, float error, bool partial, void *message);

#endif
