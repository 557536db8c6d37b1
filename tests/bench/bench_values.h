/*
 * Values on the command lines of benchmarks, and their defaults: message sizes,
 * and how many calls are made of each.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_BENCH_VALUES_H
#define ARC_BENCH_VALUES_H

#include <stdbool.h>
#include <stddef.h>

enum { BENCH_DEFAULT_MAX_BYTES = 1 << 20 };

/* What bench_parse_sizes() takes, in words. */
#define BENCH_SIZES_ALLOWED "MAX or MIN:MAX, from 1 to 2147483647, MIN <= MAX"

/**
 * MAX or MIN:MAX, whole numbers with an optional k, M or G behind them. False when it is none. MAX
 * alone leaves *min_bytes as it is, and may not be less. A MIN may be written where false is
 * returned.
 */
bool bench_parse_sizes(const char *text, size_t *min_bytes, size_t *max_bytes);

/** Timed calls of this size: `told`, if that is not 0. */
int bench_iterations(size_t bytes, int told);

/** Calls before them: `told`, if that is not negative. */
int bench_warmup(size_t bytes, int told);

#endif
