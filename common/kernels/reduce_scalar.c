/*
 * The specification: no vector instructions beyond what every build has.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#define ARC_REDUCE_TABLE arc_reduce_table_scalar
#include "reduce_loops.h"
