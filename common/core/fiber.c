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

#include "fiber_tools.h"
#include "float_env.h"

/* Functions of the program run there, too: operations with vectors on the stack. */
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
    arc_fiber_t *next;
    arc_fiber_tools_t tools;
};

static _Thread_local arc_fiber_t *current;

/* Out of line: a fiber may have changed its thread since its function last looked. */
static __attribute__((noinline)) arc_fiber_t *get_current(void)
{
    __asm__ volatile("" ::: "memory");
    return current;
}

/* makecontext() hands on ints only: the fiber is that which is current. */
static ARC_ENDS_ELSEWHERE void run_body(void)
{
    arc_fiber_t *fiber = get_current();

    arc_fiber_tools_entered(&fiber->tools, NULL);
    fiber->body(fiber->context);
    fiber->ended = true;
    arc_fiber_tools_leave(&fiber->tools, NULL);
    /* Returns to uc_link, the resumer of now. */
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

/* Guard page and stack, if `spare_bytes` more of address space are left. */
static bool map_stack(arc_fiber_t *fiber, size_t stack_bytes, size_t spare_bytes)
{
    fiber->guard_bytes = (size_t) sysconf(_SC_PAGESIZE);
    fiber->stack_bytes = stack_bytes;
    const size_t bytes = fiber->guard_bytes + stack_bytes;
    fiber->memory = mmap(NULL, bytes + spare_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (MAP_FAILED == fiber->memory) {
        return false;
    }
    if (0 != spare_bytes) {
        (void) munmap(fiber->memory + bytes, spare_bytes);
    }
    return true;
}

static bool map_any_stack(arc_fiber_t *fiber)
{
    size_t stack_bytes = size_of_stack();

    while (!map_stack(fiber, stack_bytes, 0)) {
        stack_bytes /= 2;
        if (stack_bytes < LEAST_STACK_BYTES) {
            return false;
        }
    }
    return true;
}

arc_fiber_t *arc_fiber_new(unsigned spare_stacks)
{
    arc_fiber_t *fiber = calloc(1, sizeof *fiber);

    if (NULL == fiber) {
        return NULL;
    }
    const size_t stack_bytes = size_of_stack();
    if (!(0 == spare_stacks ? map_any_stack(fiber)
                            : map_stack(fiber, stack_bytes, spare_stacks * stack_bytes))) {
        free(fiber);
        return NULL;
    }
    arc_fiber_tools_begin(&fiber->tools, fiber->memory + fiber->guard_bytes, fiber->stack_bytes);
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
        arc_fiber_tools_end(&fiber->tools);
        (void) munmap(fiber->memory, fiber->guard_bytes + fiber->stack_bytes);
        free(fiber);
    }
}

void arc_fiber_link(arc_fiber_t *fiber, arc_fiber_t *next)
{
    fiber->next = next;
}

arc_fiber_t *arc_fiber_next(const arc_fiber_t *fiber)
{
    return fiber->next;
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
    void *kept = NULL;

    if (NULL != fiber->is_there && !has_come(fiber)) {
        return true;
    }
    fiber->is_there = NULL;
    current = fiber;
    (void) pthread_sigmask(SIG_SETMASK, NULL, &fiber->own.uc_sigmask);
    arc_fiber_tools_enter(&fiber->tools, &kept);
    (void) swapcontext(&fiber->resumer, &fiber->own);
    arc_fiber_tools_left(&fiber->tools, kept);
    current = NULL;
    return !fiber->ended;
}

/* ---- within a fiber ---- */

bool arc_fiber_inside(void)
{
    return NULL != get_current();
}

void arc_fiber_yield(void)
{
    arc_fiber_t *fiber = get_current();
    void *kept = NULL;

    arc_fiber_tools_leave(&fiber->tools, &kept);
    (void) swapcontext(&fiber->own, &fiber->resumer);
    arc_fiber_tools_entered(&fiber->tools, kept);
}

void arc_fiber_await(bool (*is_there)(void *context), void *context)
{
    arc_fiber_t *fiber = get_current();

    fiber->is_there = is_there;
    fiber->awaited = context;
    fiber->mode = arc_float_mode_get();
    arc_fiber_yield();
}
