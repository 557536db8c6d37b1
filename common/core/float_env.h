/*
 * The floating-point environment of the program, put aside and restored.
 *
 * On x86-64 only SSE and wider instructions are used, whose state is MXCSR: 10 ns
 * to change, where C's fegetenv() and fesetenv(), which handle the x87 unit too,
 * take 300 each.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_FLOAT_ENV_H
#define ARC_FLOAT_ENV_H

#if defined(__SSE2__)

#include <xmmintrin.h>

typedef unsigned arc_float_env_t;

/* MXCSR at program start: round to nearest, no traps, denormals as they are. */
enum { ARC_FLOAT_ENV_DEFAULT = 0x1f80 };

/* Put the program's environment aside and enter C's default one. */
static inline arc_float_env_t arc_float_env_enter(void)
{
    const arc_float_env_t of_program = _mm_getcsr();
    _mm_setcsr(ARC_FLOAT_ENV_DEFAULT);
    return of_program;
}

/* Restore it; what was raised in between is forgotten. */
static inline void arc_float_env_leave(arc_float_env_t of_program)
{
    _mm_setcsr(of_program);
}

#else

#include <fenv.h>

typedef fenv_t arc_float_env_t;

static inline arc_float_env_t arc_float_env_enter(void)
{
    fenv_t of_program;
    (void) fegetenv(&of_program);
    (void) fesetenv(FE_DFL_ENV);
    return of_program;
}

static inline void arc_float_env_leave(arc_float_env_t of_program)
{
    (void) fesetenv(&of_program);
}

#endif

#endif
