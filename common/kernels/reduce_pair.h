/*
 * Kernels for pairs of a value and an index, in all tables: arc_reduce_MINLOC_FLOAT_INT()
 * and so on, of type arc_reduce_fn_t.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_REDUCE_PAIR_H
#define ARC_REDUCE_PAIR_H

#include "element.h"

#define X(_op, _wins, _id, ...)                                                                  \
    void arc_reduce_##_op##_##_id(const void *const *parts, unsigned n, void *out, size_t count, \
                                  const void *context);
#define ARC_PAIR_KERNELS(...) ARC_PAIR_OP_TABLE(X, __VA_ARGS__)
ARC_PAIR_TABLE(ARC_PAIR_KERNELS)
#undef X
#undef ARC_PAIR_KERNELS

#endif
