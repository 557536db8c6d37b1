/*
 * Error feedback: what a call lost by quantizing is added to the next one.
 *
 * In a call each rank encodes each element of the vector once: the partial sum, or the own part,
 * that it sends to its parent, or the total of a shard that it owns (exchange_tree.h: each rank is
 * each node once).  So one number per element of the vector holds what the rank lost:
 *
 *   y_k = x_k + r_k            the own part of call k
 *   v_k = y_k + sums received
 *   r_k+1 = v_k - decode(encode(v_k))
 *
 * Why the error of many calls then stays that of one, what else it costs, and when to use it:
 * docs/guarantees.md, "Error feedback".  Which residual belongs to a call, coll_quant_residual.c
 * says.
 *
 *   cost   memory for one more vector, and for each encoding one more decoding; the hop in one
 *          pass over tiles (quant_payload_hop()) becomes two
 *
 * Source: Seide et al., "1-Bit Stochastic Gradient Descent" (2014), and Karimireddy et al.,
 * "Error Feedback Fixes SignSGD" (2019); here for every quantization of an allreduce, not only
 * for the contributions.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_FEEDBACK_H
#define QUANT_FEEDBACK_H

#include "quant_wire.h"

/*
 * own = x + residual for `elems` elements, which do not overlap.  Returns how far numbers of `own`
 * may be from those of `x`; infinity if some are not finite.
 */
float quant_feedback_add(const float *x, const float *residual, size_t elems, float *own);

/*
 * residual = value - what the message `coded` of `segment`, made of `value`, decodes to; zeros if
 * that message is exact, and where infinity or NaN was kept.
 */
void quant_feedback_keep(const quant_wire_segment_t *segment, const quant_kernels_t *kernels,
                         const float *value, const void *coded, float *residual);

#endif
