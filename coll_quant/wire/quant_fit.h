/*
 * Messages that are off by no more than they may be: a limit X for the error of every element of a
 * result, met by the choice of the format of each message.  docs/guarantees.md, "A limit for every
 * element", tells how X is shared out, and what additions do to it.
 *
 * With error feedback a total, which leaves something for the next call, too, has no more than its
 * share, as a partial sum has.
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
