/*
 * Fibers of the C library's contexts: each switch saves and restores the signal mask, a system
 * call, and the floating-point environment.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "fiber.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARC_SANITIZED_STACKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARC_SANITIZED_STACKS 1
#endif
#endif
#ifdef ARC_SANITIZED_STACKS
#include <sanitizer/common_interface_defs.h>
#endif

/* Functions of the program run there, too: operations with vectors on the stack. */
enum { LEAST_STACK_BYTES = 8 << 20, MOST_STACK_BYTES = 64 << 20 };

struct arc_fiber {
    ucontext_t own;
    ucontext_t resumer;
    unsigned char *memory; /* guard page, then the stack */
    size_t guard_bytes;
    size_t stack_bytes;
    void (*body)(void *context);
    void *context;
    bool (*is_there)(void *context); /* what it awaits; NULL: nothing */
    void *awaited;
    bool ended;
    const void *resumer_stack; /* for the sanitizer */
    size_t resumer_stack_bytes;
};

static _Thread_local arc_fiber_t *current;

/* Out of line: a fiber may have changed its thread since its function last looked. */
static __attribute__((noinline)) arc_fiber_t *get_current(void)
{
    __asm__ volatile("" ::: "memory");
    return current;
}

/* What the sanitizer must know before and after a switch of stacks; a fiber that ends is `gone`. */
static void before_switch(void **fake, const void *stack, size_t bytes, bool gone)
{
#ifdef ARC_SANITIZED_STACKS
    __sanitizer_start_switch_fiber(gone ? NULL : fake, stack, bytes);
#else
    (void) fake;
    (void) stack;
    (void) bytes;
    (void) gone;
#endif
}

static void after_switch(void *fake, const void **stack, size_t *bytes)
{
#ifdef ARC_SANITIZED_STACKS
    __sanitizer_finish_switch_fiber(fake, stack, bytes);
#else
    (void) fake;
    (void) stack;
    (void) bytes;
#endif
}

/* makecontext() hands on ints only: the fiber is that which is current. */
static void run_body(void)
{
    arc_fiber_t *fiber = get_current();

    after_switch(NULL, &fiber->resumer_stack, &fiber->resumer_stack_bytes);
    fiber->body(fiber->context);
    fiber->ended = true;
    before_switch(NULL, fiber->resumer_stack, fiber->resumer_stack_bytes, true);
    /* Returns to uc_link, the resumer of now. */
}

static size_t size_of_stack(void)
{
    struct rlimit limit;

    if (0 != getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur < LEAST_STACK_BYTES) {
        return LEAST_STACK_BYTES;
    }
    return limit.rlim_cur < MOST_STACK_BYTES
               ? (size_t) limit.rlim_cur / LEAST_STACK_BYTES * LEAST_STACK_BYTES
               : MOST_STACK_BYTES;
}

arc_fiber_t *arc_fiber_new(void)
{
    arc_fiber_t *fiber = calloc(1, sizeof *fiber);

    if (NULL == fiber) {
        return NULL;
    }
    fiber->guard_bytes = (size_t) sysconf(_SC_PAGESIZE);
    fiber->stack_bytes = size_of_stack();
    fiber->memory = mmap(NULL, fiber->guard_bytes + fiber->stack_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (MAP_FAILED == fiber->memory) {
        free(fiber);
        return NULL;
    }
    if (0 != mprotect(fiber->memory, fiber->guard_bytes, PROT_NONE)) {
        arc_fiber_free(fiber);
        return NULL;
    }
    fiber->ended = true;
    return fiber;
}

void arc_fiber_free(arc_fiber_t *fiber)
{
    if (NULL != fiber) {
        (void) munmap(fiber->memory, fiber->guard_bytes + fiber->stack_bytes);
        free(fiber);
    }
}

void arc_fiber_begin(arc_fiber_t *fiber, void (*body)(void *context), void *context)
{
    (void) getcontext(&fiber->own);
    fiber->own.uc_stack.ss_sp = fiber->memory + fiber->guard_bytes;
    fiber->own.uc_stack.ss_size = fiber->stack_bytes;
    fiber->own.uc_link = &fiber->resumer;
    fiber->body = body;
    fiber->context = context;
    fiber->is_there = NULL;
    fiber->ended = false;
    makecontext(&fiber->own, run_body, 0);
}

bool arc_fiber_resume(arc_fiber_t *fiber)
{
    void *fake = NULL;

    if (NULL != fiber->is_there && !fiber->is_there(fiber->awaited)) {
        return true;
    }
    fiber->is_there = NULL;
    current = fiber;
    (void) pthread_sigmask(SIG_SETMASK, NULL, &fiber->own.uc_sigmask);
    before_switch(&fake, fiber->memory + fiber->guard_bytes, fiber->stack_bytes, false);
    (void) swapcontext(&fiber->resumer, &fiber->own);
    after_switch(fake, NULL, NULL);
    current = NULL;
    return !fiber->ended;
}

/* ---- within a fiber: ours, or one of the others' ---- */

static const arc_fibers_t *joined;

static const arc_fibers_t *get_joined(void)
{
    return __atomic_load_n(&joined, __ATOMIC_ACQUIRE);
}

void arc_fiber_join(const arc_fibers_t *others)
{
    __atomic_store_n(&joined, others, __ATOMIC_RELEASE);
}

/*
 * By the stack: what a fiber calls may drive the progress, in which one of the others goes on, on a
 * stack of its own.
 */
static bool is_inside(void)
{
    const arc_fiber_t *fiber = get_current();

    if (NULL == fiber) {
        return false;
    }
    const uintptr_t stack = (uintptr_t) fiber->memory + fiber->guard_bytes;
    return (uintptr_t) __builtin_frame_address(0) - stack < fiber->stack_bytes;
}

static void yield(void)
{
    arc_fiber_t *fiber = get_current();
    void *fake = NULL;

    before_switch(&fake, fiber->resumer_stack, fiber->resumer_stack_bytes, false);
    (void) swapcontext(&fiber->own, &fiber->resumer);
    after_switch(fake, &fiber->resumer_stack, &fiber->resumer_stack_bytes);
}

static void await(bool (*is_there)(void *context), void *context)
{
    arc_fiber_t *fiber = get_current();

    fiber->is_there = is_there;
    fiber->awaited = context;
    yield();
}

const arc_fibers_t arc_fibers_own = {.inside = is_inside, .yield = yield, .await = await};

bool arc_fiber_inside(void)
{
    const arc_fibers_t *others = get_joined();

    return is_inside() || (NULL != others && others->inside());
}

void arc_fiber_yield(void)
{
    (is_inside() ? &arc_fibers_own : get_joined())->yield();
}

void arc_fiber_await(bool (*is_there)(void *context), void *context)
{
    (is_inside() ? &arc_fibers_own : get_joined())->await(is_there, context);
}
