/*
 * What AddressSanitizer, ThreadSanitizer and valgrind must be told of stacks that are switched; all
 * of it is nothing where none of them is there.
 *
 *     begin ... enter -->           entered ... leave -->            left ... end
 *               resumer's stack     fiber's stack                    resumer's stack
 *
 * `kept` is AddressSanitizer's, of the stack that is left; NULL in `leave`: the fiber ends.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_FIBER_TOOLS_H
#define ARC_FIBER_TOOLS_H

#include <stddef.h>

#if defined(__has_feature)
#define ARC_HAS_FEATURE(_feature) __has_feature(_feature)
#else
#define ARC_HAS_FEATURE(_feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || ARC_HAS_FEATURE(address_sanitizer)
#define ARC_ADDRESS_SANITIZED 1
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__) || ARC_HAS_FEATURE(thread_sanitizer)
#define ARC_THREAD_SANITIZED 1
#include <sanitizer/tsan_interface.h>
#endif
#ifdef HAVE_VALGRIND_VALGRIND_H
#include <valgrind/valgrind.h>
#endif

/* ThreadSanitizer follows calls: one that begins in a fiber must end there. */
#define ARC_FIBER_TOOL static inline __attribute__((always_inline))
#if !defined(ARC_THREAD_SANITIZED)
#define ARC_ENDS_ELSEWHERE
#elif defined(__clang__)
#define ARC_ENDS_ELSEWHERE __attribute__((disable_sanitizer_instrumentation))
#else
#define ARC_ENDS_ELSEWHERE __attribute__((no_sanitize("thread")))
#endif

typedef struct arc_fiber_tools {
    const void *stack;
    size_t stack_bytes;
    const void *resumer_stack; /* AddressSanitizer's */
    size_t resumer_stack_bytes;
    void *thread; /* ThreadSanitizer's, for it each fiber is one; of the resumer likewise */
    void *resumer_thread;
    unsigned number; /* valgrind's */
} arc_fiber_tools_t;

ARC_FIBER_TOOL void arc_fiber_tools_begin(arc_fiber_tools_t *tools, const void *stack, size_t bytes)
{
    tools->stack = stack;
    tools->stack_bytes = bytes;
#ifdef ARC_THREAD_SANITIZED
    tools->thread = __tsan_create_fiber(0);
#endif
#ifdef HAVE_VALGRIND_VALGRIND_H
    tools->number = VALGRIND_STACK_REGISTER(stack, (const char *) stack + bytes);
#endif
}

ARC_FIBER_TOOL void arc_fiber_tools_end(arc_fiber_tools_t *tools)
{
    (void) tools;
#ifdef ARC_THREAD_SANITIZED
    __tsan_destroy_fiber(tools->thread);
#endif
#ifdef HAVE_VALGRIND_VALGRIND_H
    VALGRIND_STACK_DEREGISTER(tools->number);
#endif
}

ARC_FIBER_TOOL void arc_fiber_tools_enter(arc_fiber_tools_t *tools, void **kept)
{
    (void) tools;
    (void) kept;
#ifdef ARC_ADDRESS_SANITIZED
    __sanitizer_start_switch_fiber(kept, tools->stack, tools->stack_bytes);
#endif
#ifdef ARC_THREAD_SANITIZED
    tools->resumer_thread = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(tools->thread, 0);
#endif
}

ARC_FIBER_TOOL void arc_fiber_tools_entered(arc_fiber_tools_t *tools, void *kept)
{
    (void) tools;
    (void) kept;
#ifdef ARC_ADDRESS_SANITIZED
    __sanitizer_finish_switch_fiber(kept, &tools->resumer_stack, &tools->resumer_stack_bytes);
#endif
}

ARC_FIBER_TOOL void arc_fiber_tools_leave(arc_fiber_tools_t *tools, void **kept)
{
    (void) tools;
    (void) kept;
#ifdef ARC_ADDRESS_SANITIZED
    __sanitizer_start_switch_fiber(kept, tools->resumer_stack, tools->resumer_stack_bytes);
#endif
#ifdef ARC_THREAD_SANITIZED
    __tsan_switch_to_fiber(tools->resumer_thread, 0);
#endif
}

ARC_FIBER_TOOL void arc_fiber_tools_left(arc_fiber_tools_t *tools, void *kept)
{
    (void) tools;
    (void) kept;
#ifdef ARC_ADDRESS_SANITIZED
    __sanitizer_finish_switch_fiber(kept, NULL, NULL);
#endif
}

#endif
