/*
 * In front of the files of common/node and of put_ring.c, which are compiled as they are: their
 * accesses to shared memory go to c11_memory.h.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef C11_HOOKS_H
#define C11_HOOKS_H

#include "config.h"

#include <string.h>

#include "c11_memory.h"
#include "cpu.h"

#define C11_HERE ((c11_place_t){.file = __FILE__, .line = __LINE__})
#define __atomic_load_n(_address, _order) \
    ((__typeof__(*(_address))) c11_load(_address, _order, C11_HERE))
#define __atomic_store_n(_address, _value, _order) c11_store(_address, _value, _order, C11_HERE)
/* Where nobody else adds meanwhile. */
#define __atomic_add_fetch(_address, _value, _order) \
    c11_store(_address, c11_load(_address, __ATOMIC_RELAXED, C11_HERE) + (_value), _order, C11_HERE)
#define __atomic_thread_fence(_order) c11_fence(_order, C11_HERE)
#undef memcpy
#define memcpy c11_copy
#define arc_cpu_prefetch_for_write(_address) ((void) (_address))

#endif
