/*
 * A function with a stack of its own, which can stop in the middle and go on later.
 *
 * A nonblocking call runs the code of a blocking one in a fiber, whose waits return to whoever
 * drives the progress:
 *
 *     MPI_Test ... arc_fiber_resume() ---> body ... wait: arc_fiber_yield()
 *              <--- true: not at its end <------------+
 *
 * A fiber may go on in another thread, one at a time.  What it keeps across a yield is that of the
 * function: floating-point environment and stack, but not errno.  It begins in the environment of
 * arc_fiber_begin().  Blocked signals are those of whoever resumes it.
 *
 * Functions of the program, which are its operations, do not run in a fiber but in what it awaits:
 * Java and Python know the stacks of their threads, and fail on any other.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_FIBER_H
#define ARC_FIBER_H

#include <stdbool.h>

typedef struct arc_fiber arc_fiber_t;

/*
 * With a stack as large as that of the process may become, and a page below it that may not be
 * touched; only what is used takes memory.  Batch systems may limit address space: NULL if not
 * `spare_stacks` more of that size are left.  With none to spare a stack may be smaller, and NULL
 * is returned if there is none.
 */
arc_fiber_t *arc_fiber_new(unsigned spare_stacks);

/* Not while it is inside of its body. */
void arc_fiber_free(arc_fiber_t *fiber);

/* The next resume calls body(context).  The one before, if any, has returned. */
void arc_fiber_begin(arc_fiber_t *fiber, void (*body)(void *context), void *context);

/*
 * Run it until it yields: true; or until its body returns: false.  One that awaits something is
 * only asked whether that is there.  Not from within a fiber.
 */
bool arc_fiber_resume(arc_fiber_t *fiber);

/* Is the caller within a fiber?  Most programs have none: these pay for a look at one flag. */
extern bool arc_fiber_exists; /* one was made */
bool arc_fiber_is_current(void);
static inline bool arc_fiber_inside(void)
{
    return __atomic_load_n(&arc_fiber_exists, __ATOMIC_RELAXED) && arc_fiber_is_current();
}

/* Back to arc_fiber_resume(), and on from here at the next one.  Only within a fiber. */
void arc_fiber_yield(void);

/*
 * The same until is_there(context) is true, which each resume calls on its own stack, in the
 * floating-point mode of the caller of this: a switch costs half a microsecond, ten times a poll.
 */
void arc_fiber_await(bool (*is_there)(void *context), void *context);

#endif
