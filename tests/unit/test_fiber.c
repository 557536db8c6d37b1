/*
 * Fibers: they go on where they stopped, keep what they had, and may end up in another thread.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <fenv.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "unit.h"
#include "fiber.h"
#include "float_env.h"

enum { YIELDS = 1000, DEEP_BYTES = 200 * 1024, FIBERS = 3 };

/* What a body counts up to, a yield for each. */
typedef struct counter {
    int until;
    int count;
    bool was_inside;
} counter_t;

static void count_up(void *context)
{
    counter_t *counter = context;

    counter->was_inside = arc_fiber_inside();
    while (counter->count < counter->until) {
        ++counter->count;
        arc_fiber_yield();
    }
}

TEST(a_fiber_goes_on_where_it_stopped)
{
    counter_t counter = {.until = YIELDS};
    arc_fiber_t *fiber = arc_fiber_new(0);

    assert_non_null(fiber);
    arc_fiber_begin(fiber, count_up, &counter);
    assert_int_equal(0, counter.count);
    for (int i = 1; i <= YIELDS; ++i) {
        assert_true(arc_fiber_resume(fiber));
        assert_int_equal(i, counter.count);
        assert_false(arc_fiber_inside());
    }
    assert_false(arc_fiber_resume(fiber));
    assert_true(counter.was_inside);
    arc_fiber_free(fiber);
}

/* How many pages of half a mebibyte below the one in use are there? */
static void count_pages(void *context)
{
    enum { BYTES = 512 * 1024, LEAST_PAGE_BYTES = 4096 };
    const uintptr_t page_bytes = (uintptr_t) sysconf(_SC_PAGESIZE);
    unsigned char is_there[BYTES / LEAST_PAGE_BYTES] = {0};
    const uintptr_t here = (uintptr_t) is_there / page_bytes * page_bytes;

    assert_int_equal(0, mincore((void *) (here - BYTES), BYTES, is_there));
    for (size_t i = 0; i < BYTES / page_bytes; ++i) {
        *(unsigned *) context += is_there[i] & 1;
    }
}

TEST(a_stack_takes_no_memory_also_where_all_is_locked)
{
    enum { FEW = 16 };
    unsigned pages = 0;

    if (0 != mlockall(MCL_FUTURE)) {
        skip();
    }
    arc_fiber_t *fiber = arc_fiber_new(0);
    assert_int_equal(0, munlockall());
    if (NULL == fiber) { /* more than may be locked */
        skip();
    }
    arc_fiber_begin(fiber, count_pages, &pages);
    assert_false(arc_fiber_resume(fiber));
    assert_true(pages <= FEW);
    arc_fiber_free(fiber);
}

/* Of the process, as RLIMIT_DATA counts. */
static size_t data_bytes(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    assert_non_null(file);
    assert_int_equal(1, fscanf(file, "%*u %*u %*u %*u %*u %lu", &pages));
    (void) fclose(file);
    return pages * (size_t) sysconf(_SC_PAGESIZE);
}

TEST(stacks_take_at_most_half_of_the_data_that_there_may_be)
{
    enum { MORE_BYTES = 256 << 20, THIRD_BYTES = MORE_BYTES / 3, MOST = 64 };
    arc_fiber_t *fibers[MOST];
    struct rlimit before;
    unsigned count = 0;

    assert_int_equal(0, getrlimit(RLIMIT_DATA, &before));
    struct rlimit limit = {data_bytes() + MORE_BYTES, before.rlim_max};
    assert_int_equal(0, setrlimit(RLIMIT_DATA, &limit));
    while (count < MOST && NULL != (fibers[count] = arc_fiber_new(count + 1))) {
        ++count;
    }
    void *rest =
        mmap(NULL, THIRD_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_int_equal(0, setrlimit(RLIMIT_DATA, &before));
    assert_true(count > 0);
    assert_true(MAP_FAILED != rest);
    assert_int_equal(0, munmap(rest, THIRD_BYTES));
    while (count > 0) {
        arc_fiber_free(fibers[--count]);
    }
}

TEST(a_fiber_is_used_again_and_several_take_turns)
{
    counter_t counters[FIBERS];
    arc_fiber_t *fibers[FIBERS];

    for (int i = 0; i < FIBERS; ++i) {
        fibers[i] = arc_fiber_new(0);
        assert_non_null(fibers[i]);
    }
    for (int again = 0; again < 2; ++again) {
        for (int i = 0; i < FIBERS; ++i) {
            counters[i] = (counter_t){.until = i};
            arc_fiber_begin(fibers[i], count_up, &counters[i]);
        }
        for (int turn = 0; turn < FIBERS; ++turn) {
            for (int i = turn; i < FIBERS; ++i) {
                assert_int_equal(i > turn, arc_fiber_resume(fibers[i]));
            }
        }
    }
    for (int i = 0; i < FIBERS; ++i) {
        assert_int_equal(i, counters[i].count);
        arc_fiber_free(fibers[i]);
    }
}

/* Rounds upwards, on much of the stack; both stay as they are while others run. */
static void use_stack(void *context)
{
    volatile unsigned char deep[DEEP_BYTES];

    memset((unsigned char *) deep, 0x5a, sizeof deep);
    (void) fesetround(FE_UPWARD);
    arc_fiber_yield();
    *(bool *) context =
        FE_UPWARD == fegetround() && 0x5a == deep[0] && 0x5a == deep[DEEP_BYTES - 1];
}

TEST(stack_and_rounding_are_its_own)
{
    bool kept = false;
    arc_fiber_t *fiber = arc_fiber_new(0);

    assert_non_null(fiber);
    arc_fiber_begin(fiber, use_stack, &kept);
    assert_true(arc_fiber_resume(fiber));
    assert_int_equal(FE_TONEAREST, fegetround());
    assert_false(arc_fiber_resume(fiber));
    assert_int_equal(FE_TONEAREST, fegetround());
    assert_true(kept);
    arc_fiber_free(fiber);
}

static bool counts_down(void *context)
{
    return 0 == --*(int *) context;
}

static void await_once(void *context)
{
    assert_true(arc_fiber_inside());
    arc_fiber_await(counts_down, context);
    assert_int_equal(0, *(int *) context);
    *(int *) context = -1;
}

TEST(a_fiber_goes_on_when_what_it_awaits_is_there)
{
    int left = YIELDS;
    arc_fiber_t *fiber = arc_fiber_new(0);

    assert_non_null(fiber);
    arc_fiber_begin(fiber, await_once, &left);
    for (int i = 0; i < YIELDS; ++i) {
        assert_true(arc_fiber_resume(fiber));
        assert_int_equal(YIELDS - i, left);
    }
    assert_false(arc_fiber_resume(fiber));
    assert_int_equal(-1, left);
    arc_fiber_free(fiber);
}

/* What is awaited, and in which rounding that was looked at. */
typedef struct looked {
    int left;
    int rounding;
} looked_t;

static bool notes_rounding(void *context)
{
    looked_t *looked = context;

    looked->rounding = fegetround();
    return 0 == --looked->left;
}

static void await_upwards(void *context)
{
    (void) fesetround(FE_UPWARD);
    arc_fiber_await(notes_rounding, context);
}

TEST(what_it_awaits_is_looked_at_in_its_rounding)
{
    looked_t looked = {.left = 2};
    arc_fiber_t *fiber = arc_fiber_new(0);

    assert_non_null(fiber);
    arc_fiber_begin(fiber, await_upwards, &looked);
    assert_true(arc_fiber_resume(fiber));
    while (arc_fiber_resume(fiber)) {
        assert_int_equal(FE_UPWARD, looked.rounding);
        assert_int_equal(FE_TONEAREST, fegetround());
    }
    assert_int_equal(FE_UPWARD, looked.rounding);
    assert_int_equal(FE_TONEAREST, fegetround());
    arc_fiber_free(fiber);
}

static void *resume_once(void *fiber)
{
    return arc_fiber_resume(fiber) ? fiber : NULL;
}

TEST(a_fiber_goes_on_in_other_threads)
{
    counter_t counter = {.until = FIBERS};
    arc_fiber_t *fiber = arc_fiber_new(0);

    assert_non_null(fiber);
    arc_fiber_begin(fiber, count_up, &counter);
    for (int i = 0; i <= FIBERS; ++i) {
        pthread_t thread;
        void *more = NULL;

        assert_int_equal(0, pthread_create(&thread, NULL, resume_once, fiber));
        assert_int_equal(0, pthread_join(thread, &more));
        assert_int_equal(i < FIBERS, NULL != more);
    }
    assert_int_equal(FIBERS, counter.count);
    arc_fiber_free(fiber);
}

/* On x86 long doubles raise, and trap, in a unit of their own. */
TEST(what_is_raised_does_not_trap_in_another_mode)
{
    volatile long double number = 0;

    (void) feenableexcept(FE_DIVBYZERO);
    const int trapped = fegetexcept(); /* Arm may have no traps */
    const arc_float_mode_t trapping = arc_float_mode_get();
    (void) fedisableexcept(FE_DIVBYZERO);
    number = 1 / number;
    const arc_float_mode_t masking = arc_float_mode_enter(trapping);
    number += 1;
    const int traps = fegetexcept();
    (void) arc_float_mode_enter(masking);
    assert_int_equal(trapped, traps);
    assert_int_equal(0, fegetexcept());
    assert_int_equal(FE_DIVBYZERO, fetestexcept(FE_DIVBYZERO));
    (void) feclearexcept(FE_ALL_EXCEPT);
}
