/*
 * All kernels in vectors.  A file for one instruction set includes its vector_<isa>.h, defines
 * ARC_REDUCE_TABLE, the name of its table, and includes this one.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "reduce_steps.h"

ARC_KERNELS

const arc_reduce_table_t ARC_REDUCE_TABLE = {.reduce = {ARC_KERNEL_ENTRIES}};
