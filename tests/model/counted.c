/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "counted.h"

#include <stdio.h>
#include <unistd.h>

#undef __atomic_load_n
#undef memcpy

enum { MOST_RANKS = 32, MOST_LINES = 1 << 14 /* of a segment */, LENGTHS = 32 };

/* Of one length: calls; lines that copies and sums read; lines with flags, each once a call; lines
 * of both, one with flag and data once. */
static struct {
    unsigned long calls;
    unsigned long read;
    unsigned long looked;
    unsigned long lines;
} all[LENGTHS], *now = all;
static const lowlat_group_t *group;
static unsigned long call;
static unsigned long looked_in[MOST_RANKS][MOST_LINES];
static arc_reducer_t real;
static arc_reducer_t counting;

static void see(const void *address, bool looks)
{
    for (unsigned i = 0; i < group->ranks; ++i) {
        const size_t offset = (uintptr_t) address - (uintptr_t) group->segment[i];
        if (i != group->rank && offset < lowlat_segment_bytes(group->arena_bytes)) {
            unsigned long *looked = &looked_in[i][offset / LOWLAT_CACHE_LINE_BYTES];
            const bool is_new = call != *looked;
            now->lines += is_new;
            now->looked += looks && is_new;
            now->read += !looks;
            /* A longer call writes a line of data anew, which is then another one. */
            *looked = looks ? call : 0;
        }
    }
}

static void see_data(const void *from, size_t bytes)
{
    const unsigned char *at = from;

    for (const unsigned char *end = at + bytes; at < end;
         at += LOWLAT_CACHE_LINE_BYTES - (uintptr_t) at % LOWLAT_CACHE_LINE_BYTES) {
        see(at, false);
    }
}

uint64_t counted_load(const void *address)
{
    see(address, true);
    return __atomic_load_n((const uint64_t *) address, __ATOMIC_ACQUIRE);
}

void *counted_copy(void *to, const void *from, size_t bytes)
{
    see_data(from, bytes);
    return memcpy(to, from, bytes);
}

static void counted_sum(const void *const *parts, unsigned n, void *out, size_t count,
                        const void *context)
{
    for (unsigned i = 0; i < n; ++i) {
        see_data(parts[i], count * real.stride_bytes);
    }
    real.reduce(parts, n, out, count, context);
}

void counted_store(const lowlat_task_t *task, int order)
{
    if (__ATOMIC_RELAXED == order) {
        group = task->group;
        now = &all[__builtin_ctzl(task->span_bytes)]; /* the test has powers of two */
        now->calls += 1;
        call += 1;
        counting = real = *task->reducer;
        counting.reduce = counted_sum;
        ((lowlat_task_t *) (uintptr_t) task)->reducer = &counting; /* no task is const */
    }
}

__attribute__((destructor)) static void tell(void)
{
    for (unsigned i = 0; i < LENGTHS; ++i) {
        if (all[i].calls > 0) {
            dprintf(STDERR_FILENO, "counted %lu %lu %lu %lu %lu\n", 1UL << i, all[i].calls,
                    all[i].read, all[i].looked, all[i].lines);
        }
    }
}
