/*
 * In front of the files of common/node, for a component that counts under mpirun which cache lines
 * of other ranks' memory its calls read (tests/mpi/lowlat/test_lines.sh).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COUNTED_H
#define COUNTED_H

#include "config.h"

#include <string.h>

#include "lowlat.h"

uint64_t counted_load(const void *address);
void *counted_copy(void *to, const void *from, size_t bytes);
/* The only store with this order begins a call: these go to LOWLAT_ENTERED. */
void counted_store(const lowlat_task_t *task, int order);

#define __atomic_load_n(_address, _order) ((__typeof__(*(_address))) counted_load(_address))
#define __atomic_store_n(_address, _value, _order) \
    (counted_store(task, _order), __atomic_store_n(_address, _value, _order))
#undef memcpy
#define memcpy counted_copy

#endif
