/*
 * In front of the files of common/node, which are compiled as they are for the model: their
 * accesses to memory take simulated time.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MODEL_HOOKS_H
#define MODEL_HOOKS_H

#include "config.h"

#include <string.h>

#include "cpu.h"
#include "model_access.h"

#define __atomic_load_n(_address, _order) ((__typeof__(*(_address))) model_load(_address))
#define __atomic_store_n(_address, _value, _order) model_store(_address, _value)
#undef memcpy
#define memcpy model_copy
#define arc_cpu_prefetch_for_write model_own

#endif
