/*
 * What the reduction kernels must give, and data to try them with.
 *
 * The oracle takes one element at a time and has its own arithmetic: integers in
 * 64 bits, and conversions of 16-bit floats through the definition of their value.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef REDUCE_ORACLE_H
#define REDUCE_ORACLE_H

#include "element.h"
#include "testlib.h"

/* Element i of `out` from element i of all `n` parts, from the left; writes no padding. */
typedef void (*reduce_oracle_fn_t)(arc_op_t op, const void *const *parts, unsigned n, void *out,
                                   size_t i);

reduce_oracle_fn_t reduce_oracle(arc_type_t type);

/* Fill `bytes` bytes with random ones, in them `count` random elements, extremes among them. */
void reduce_fill(arc_type_t type, test_random_t *random, void *data, size_t count, size_t bytes);

#endif
