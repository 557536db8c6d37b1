/*
 * Which vector instruction sets this process may use.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_CPU_H
#define ARC_CPU_H

/* Ascending: a later one includes all before it. */
typedef enum arc_isa {
    ARC_ISA_SCALAR = 0,
    ARC_ISA_AVX2 = 1,   /* and F16C */
    ARC_ISA_NEON = 1,   /* of 64-bit Arm, which has nothing above it */
    ARC_ISA_AVX512 = 2, /* F, BW, DQ and VL */
    ARC_ISA_AVX512_BF16 = 3,
    ARC_ISA_BEST = ARC_ISA_AVX512_BF16,
} arc_isa_t;

/* The best instruction set that this build has kernels for and this CPU runs, at most `limit`. */
arc_isa_t arc_cpu_isa(arc_isa_t limit);

const char *arc_isa_name(arc_isa_t isa);

/* Hint: this thread will soon write the cache line at `address`. */
static inline void arc_cpu_prefetch_for_write(const void *address)
{
#if defined(__x86_64__)
    /* Not the builtin: unless told of a CPU that has it, compilers fall back to a read. */
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *) address));
#else
    __builtin_prefetch(address, 1);
#endif
}

#endif
