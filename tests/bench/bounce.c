/*
 * Two counters in shared memory, each in a cache line of its own, written by side 0
 * and by side 1 alone, as the flags of a collective are:
 *
 *   side 0   set own to k, poll other's for k      side 1   poll other's for k, set own to k
 *
 * Not one line that both write: processors recognize a line that migrates and hand
 * it over for reading and writing at once, which takes half the time. The numbers go on
 * from one measurement to the next, so that nobody has to reset them. The polls yield after a
 * while, and so come to an end also where both sides share a core; the result is then the time of
 * the scheduler, not of the cache.
 *
 * The median of a few batches: a batch that an interrupt hit does not count, and
 * neither does the first one, which finds the line somewhere else.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <sched.h>

#include "bounce.h"
#include "../lib/seconds.h"

enum {
    BATCHES = 5,
    BATCH_TRIPS = 20, /* with the first batch 120 in all: 60 us where half of one takes 0.25 us */
    POLLS_BEFORE_YIELD = 1000, /* tens of microseconds, far more than any round trip */
};

static void pause_core(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

void bounce_await(const uint64_t *counter, uint64_t number)
{
    unsigned polls = 0;

    while (__atomic_load_n(counter, __ATOMIC_ACQUIRE) < number) {
        pause_core();
        if (++polls == POLLS_BEFORE_YIELD) {
            polls = 0;
            (void) sched_yield();
        }
    }
}

/* One batch, on both sides; returns its seconds. */
static double run_batch(bounce_t *bounce)
{
    uint64_t *own = bounce->counter[bounce->side];
    const uint64_t *other = bounce->counter[BOUNCE_SIDES - 1 - bounce->side];
    double start = seconds_now();

    for (int trip = 0; trip < BATCH_TRIPS; trip++) {
        uint64_t number = ++bounce->served;

        if (bounce->side == 0) {
            __atomic_store_n(own, number, __ATOMIC_RELEASE);
            bounce_await(other, number);
        } else {
            bounce_await(other, number);
            __atomic_store_n(own, number, __ATOMIC_RELEASE);
        }
    }
    return seconds_now() - start;
}

double bounce_nanoseconds(bounce_t *bounce)
{
    double seconds[BATCHES];

    (void) run_batch(bounce);
    for (int batch = 0; batch < BATCHES; batch++) {
        seconds[batch] = run_batch(bounce);
    }
    return seconds_median(seconds, BATCHES) * 1e9 / BATCH_TRIPS / 2;
}
