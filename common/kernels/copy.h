/*
 * Copies of long stretches into memory that this core does not read again soon.
 *
 *   ordinary    memcpy(): a store first fetches its cache line for writing, from the core that
 *               read it last, and leaves it in this core's cache, where readers find it
 *   streaming   non-temporal stores: a line is written whole, past the caches, and is fetched by
 *               nobody; readers find it in memory or in the last level
 *
 * Which one is faster depends on the processor, on how far apart the cores are, and on the length:
 * docs/algorithms.md, "coll_lowlat: staging".
 *
 * The fence.  x86 keeps ordinary stores in their order, so that a release store is a plain one.
 * Non-temporal stores are an exception (Intel SDM, volume 3, chapter on memory ordering; AMD64
 * manual, volume 2, "Memory System"): without SFENCE the flag may be seen before the data that it
 * announces.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_COPY_H
#define ARC_COPY_H

#include <stddef.h>

#include "cpu.h"

typedef struct arc_copier {
    /* As memcpy(), any alignment; reads and writes those bytes only. */
    void (*copy)(void *to, const void *from, size_t bytes);
    /* Between copies and the store that announces them.  NULL: a release store is enough. */
    void (*fence)(void);
} arc_copier_t;

/* By the non-temporal stores of `isa`, of arc_cpu_isa(); ordinary where it has none. */
arc_copier_t arc_copier_streaming(arc_isa_t isa);

extern const arc_copier_t arc_copier_avx2;
extern const arc_copier_t arc_copier_avx512;

#endif
