/*
 * The floating-point environment of the program, put aside and restored.
 *
 * On x86-64 only SSE and wider instructions are used, whose state is MXCSR: 10 ns
 * to change, where C's fegetenv() and fesetenv(), which handle the x87 unit too,
 * take 300 each.  64-bit Arm has what is asked for in FPCR and what was raised in FPSR; glibc's
 * default environment keeps there what the program has asked of NaNs and of FP16.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_FLOAT_ENV_H
#define ARC_FLOAT_ENV_H

#if defined(__SSE2__)

#include <stdint.h>
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

/*
 * How a thread rounds, what traps, what becomes of denormal numbers.  Long doubles, which Open MPI
 * adds for us, go by the control word of the x87 unit.
 */
typedef struct arc_float_mode {
    uint32_t mxcsr;
    uint16_t x87;
} arc_float_mode_t;

enum { ARC_FLOAT_RAISED = 0x3f }; /* bits of MXCSR: exceptions that were raised */

static inline arc_float_mode_t arc_float_mode_get(void)
{
    arc_float_mode_t mode = {.mxcsr = _mm_getcsr()};

    __asm__ volatile("fnstcw %0" : "=m"(mode.x87));
    return mode;
}

/* Enter `mode`; what was raised stays raised.  Returns the mode before, to be entered again. */
static inline arc_float_mode_t arc_float_mode_enter(arc_float_mode_t mode)
{
    const arc_float_mode_t before = arc_float_mode_get();

    if (__builtin_expect(0 != ((mode.mxcsr ^ before.mxcsr) & ~(uint32_t) ARC_FLOAT_RAISED), 0)) {
        _mm_setcsr((mode.mxcsr & ~(uint32_t) ARC_FLOAT_RAISED) | (before.mxcsr & ARC_FLOAT_RAISED));
    }
    if (__builtin_expect(mode.x87 != before.x87, 0)) {
        uint16_t raised;
        __asm__ volatile("fnstsw %0" : "=m"(raised));
        /* The x87 unit would trap what is raised as soon as it may; in MXCSR that stays raised. */
        if (0 != (raised & before.x87 & ~mode.x87 & ARC_FLOAT_RAISED)) {
            _mm_setcsr(_mm_getcsr() | (raised & ARC_FLOAT_RAISED));
            __asm__ volatile("fnclex");
        }
        __asm__ volatile("fldcw %0" : : "m"(mode.x87));
    }
    return before;
}

#elif defined(__aarch64__)

#include <stdint.h>

/* How a thread rounds, what traps, what becomes of denormal numbers and NaNs. */
typedef uint64_t arc_float_mode_t;

typedef struct arc_float_env {
    arc_float_mode_t mode;
    uint64_t raised;
} arc_float_env_t;

static inline arc_float_mode_t arc_float_mode_get(void)
{
    arc_float_mode_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode) : : "memory");
    return mode;
}

/* Enter `mode`; what was raised stays raised.  Returns the mode before, to be entered again. */
static inline arc_float_mode_t arc_float_mode_enter(arc_float_mode_t mode)
{
    const arc_float_mode_t before = arc_float_mode_get();

    if (__builtin_expect(mode != before, 0)) {
        __asm__ volatile("msr fpcr, %0" : : "r"(mode) : "memory");
    }
    return before;
}

static inline arc_float_env_t arc_float_env_enter(void)
{
    arc_float_env_t of_program = {.mode = arc_float_mode_enter(0)};
    __asm__ volatile("mrs %0, fpsr" : "=r"(of_program.raised) : : "memory");
    return of_program;
}

static inline void arc_float_env_leave(arc_float_env_t of_program)
{
    (void) arc_float_mode_enter(of_program.mode);
    __asm__ volatile("msr fpsr, %0" : : "r"(of_program.raised) : "memory");
}

#else
#error "where is the floating-point environment of this processor?"
#endif

static inline void arc_float_env_end(const arc_float_env_t *of_program)
{
    arc_float_env_leave(*of_program);
}

/* To the end of the block, however it is left: C's default environment. */
#define ARC_IN_DEFAULT_FLOAT_ENV                                                           \
    __attribute__((cleanup(arc_float_env_end), unused)) const arc_float_env_t of_program = \
        arc_float_env_enter()

#endif
