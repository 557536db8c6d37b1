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
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#include "float_env.h"

/*
 * What AddressSanitizer, ThreadSanitizer and valgrind must be told of stacks that are switched; all
 * of it is nothing where none of them is there.
 */
#if defined(__has_feature)
#define HAS_FEATURE(_feature) __has_feature(_feature)
#else
#define HAS_FEATURE(_feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HAS_FEATURE(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#define TELL_ASAN(_call) _call
#else
#define TELL_ASAN(_call) ((void) 0)
#endif
#if defined(__SANITIZE_THREAD__) || HAS_FEATURE(thread_sanitizer)
#include <sanitizer/tsan_interface.h>
#define TELL_TSAN(_call) _call
/* ThreadSanitizer follows calls: one that begins in a fiber must end there. */
#if defined(__clang__)
#define ENDS_ELSEWHERE __attribute__((disable_sanitizer_instrumentation))
#else
#define ENDS_ELSEWHERE __attribute__((no_sanitize("thread")))
#endif
#else
#define TELL_TSAN(_call) ((void) 0)
#define ENDS_ELSEWHERE
#endif
#ifdef HAVE_VALGRIND_VALGRIND_H
#include <valgrind/valgrind.h>
#define TELL_VALGRIND(_call) _call
#else
#define TELL_VALGRIND(_call) ((void) 0)
#endif

/* Open MPI, UCX and operations of Open MPI run there, which count on the stack of a thread. */
enum { USUAL_STACK_BYTES = 8 << 20, MOST_STACK_BYTES = 64 << 20, LEAST_STACK_BYTES = 1 << 20 };

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
    arc_float_mode_t mode; /* of who awaits it */
    bool ended;
    /* AddressSanitizer's: of the stacks that were left, and where the resumer's is. */
    void *own_kept;
    void *resumer_kept;
    const void *resumer_stack;
    size_t resumer_stack_bytes;
    void *thread; /* ThreadSanitizer's, for it each fiber is one; of the resumer likewise */
    void *resumer_thread;
    unsigned number; /* valgrind's */
};

bool arc_fiber_exists;
static _Thread_local arc_fiber_t *current;

/* Out of line: a fiber may have changed its thread since its function last looked. */
static __attribute__((noinline)) arc_fiber_t *get_current(void)
{
    __asm__ volatile("" ::: "memory");
    return current;
}

/* On the fiber's stack. */
static inline __attribute__((always_inline)) void has_entered(arc_fiber_t *fiber)
{
    (void) fiber;
    TELL_ASAN(__sanitizer_finish_switch_fiber(fiber->own_kept, &fiber->resumer_stack,
                                              &fiber->resumer_stack_bytes));
}

/* `kept`: of this stack; NULL: the fiber ends. */
static inline __attribute__((always_inline)) void will_leave(arc_fiber_t *fiber, void **kept)
{
    (void) fiber;
    (void) kept;
    TELL_ASAN(
        __sanitizer_start_switch_fiber(kept, fiber->resumer_stack, fiber->resumer_stack_bytes));
    TELL_TSAN(__tsan_switch_to_fiber(fiber->resumer_thread, 0));
}

/* makecontext() hands on ints only: the fiber is that which is current. */
static ENDS_ELSEWHERE void run_body(void)
{
    arc_fiber_t *fiber = get_current();

    has_entered(fiber);
    fiber->body(fiber->context);
    fiber->ended = true;
    will_leave(fiber, NULL);
    /* Returns to uc_link, the resumer of now. */
}

static unsigned char *stack_of(const arc_fiber_t *fiber)
{
    return fiber->memory + fiber->guard_bytes;
}

static size_t size_of_stack(void)
{
    struct rlimit limit;

    if (0 != getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur < USUAL_STACK_BYTES) {
        return USUAL_STACK_BYTES;
    }
    return limit.rlim_cur < MOST_STACK_BYTES
               ? (size_t) limit.rlim_cur / USUAL_STACK_BYTES * USUAL_STACK_BYTES
               : MOST_STACK_BYTES;
}

/*
 * Guard page and stack, if `spare_bytes` more of address space are left.  What a program that locks
 * its memory maps is there at once: not so what may not be touched, nor what is unlocked.
 */
static bool map_stack(arc_fiber_t *fiber, size_t stack_bytes, size_t spare_bytes)
{
    fiber->guard_bytes = (size_t) sysconf(_SC_PAGESIZE);
    fiber->stack_bytes = stack_bytes;
    const size_t bytes = fiber->guard_bytes + stack_bytes;
    fiber->memory = mmap(NULL, bytes + spare_bytes, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (MAP_FAILED == fiber->memory) {
        return false;
    }
    /* Writable together: a limit of data, or of what may be committed, counts no other memory. */
    const size_t writable_bytes = stack_bytes + spare_bytes;
    (void) munlock(stack_of(fiber), writable_bytes);
    if (0 != mprotect(stack_of(fiber), writable_bytes, PROT_READ | PROT_WRITE)) {
        (void) munmap(fiber->memory, bytes + spare_bytes);
        return false;
    }
    if (0 != spare_bytes) {
        (void) munmap(fiber->memory + bytes, spare_bytes);
    }
    return true;
}

arc_fiber_t *arc_fiber_new(unsigned spare_stacks)
{
    arc_fiber_t *fiber = calloc(1, sizeof *fiber);

    if (NULL == fiber) {
        return NULL;
    }
    size_t stack_bytes = size_of_stack();
    bool mapped = map_stack(fiber, stack_bytes, spare_stacks * stack_bytes);
    while (!mapped && 0 == spare_stacks && stack_bytes / 2 >= LEAST_STACK_BYTES) {
        stack_bytes /= 2;
        mapped = map_stack(fiber, stack_bytes, 0);
    }
    if (!mapped) {
        free(fiber);
        return NULL;
    }
    TELL_TSAN(fiber->thread = __tsan_create_fiber(0));
    TELL_VALGRIND(fiber->number = VALGRIND_STACK_REGISTER(stack_of(fiber),
                                                          stack_of(fiber) + fiber->stack_bytes));
    fiber->ended = true;
    __atomic_store_n(&arc_fiber_exists, true, __ATOMIC_RELAXED);
    return fiber;
}

void arc_fiber_free(arc_fiber_t *fiber)
{
    if (NULL != fiber) {
        TELL_TSAN(__tsan_destroy_fiber(fiber->thread));
        TELL_VALGRIND(VALGRIND_STACK_DEREGISTER(fiber->number));
        (void) munmap(fiber->memory, fiber->guard_bytes + fiber->stack_bytes);
        free(fiber);
    }
}

void arc_fiber_begin(arc_fiber_t *fiber, void (*body)(void *context), void *context)
{
    (void) getcontext(&fiber->own);
    fiber->own.uc_stack.ss_sp = stack_of(fiber);
    fiber->own.uc_stack.ss_size = fiber->stack_bytes;
    fiber->own.uc_link = &fiber->resumer;
    fiber->body = body;
    fiber->context = context;
    fiber->is_there = NULL;
    fiber->own_kept = NULL;
    fiber->ended = false;
    makecontext(&fiber->own, run_body, 0);
}

/* Is what it awaits there?  Looked at as the fiber itself would. */
static bool has_come(const arc_fiber_t *fiber)
{
    const arc_float_mode_t of_resumer = arc_float_mode_enter(fiber->mode);
    const bool is_there = fiber->is_there(fiber->awaited);
    (void) arc_float_mode_enter(of_resumer);
    return is_there;
}

bool arc_fiber_resume(arc_fiber_t *fiber)
{
    if (NULL != fiber->is_there && !has_come(fiber)) {
        return true;
    }
    fiber->is_there = NULL;
    current = fiber;
    (void) pthread_sigmask(SIG_SETMASK, NULL, &fiber->own.uc_sigmask);
    TELL_ASAN(
        __sanitizer_start_switch_fiber(&fiber->resumer_kept, stack_of(fiber), fiber->stack_bytes));
    TELL_TSAN(fiber->resumer_thread = __tsan_get_current_fiber());
    TELL_TSAN(__tsan_switch_to_fiber(fiber->thread, 0));
    (void) swapcontext(&fiber->resumer, &fiber->own);
    TELL_ASAN(__sanitizer_finish_switch_fiber(fiber->resumer_kept, NULL, NULL));
    current = NULL;
    return !fiber->ended;
}

/* ---- within a fiber ---- */

bool arc_fiber_is_current(void)
{
    return NULL != get_current();
}

void arc_fiber_yield(void)
{
    arc_fiber_t *fiber = get_current();

    will_leave(fiber, &fiber->own_kept);
    (void) swapcontext(&fiber->own, &fiber->resumer);
    has_entered(fiber);
}

void arc_fiber_await(bool (*is_there)(void *context), void *context)
{
    arc_fiber_t *fiber = get_current();

    fiber->is_there = is_there;
    fiber->awaited = context;
    fiber->mode = arc_float_mode_get();
    arc_fiber_yield();
}
