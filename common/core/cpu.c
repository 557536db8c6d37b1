/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>

#if HAVE_ISA_AVX2
#include <cpuid.h>
#endif

#include "cpu.h"

#if HAVE_ISA_AVX2
/* Not all compilers that we support know this one as a name. */
static bool cpu_has_f16c(void)
{
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    return 0 != __get_cpuid(1, &eax, &ebx, &ecx, &edx) && 0 != (ecx & bit_F16C);
}
#endif

#if HAVE_ISA_AVX512_BF16
static bool cpu_has_avx512_bf16(void)
{
    enum { LEAF = 7, SUBLEAF = 1, BIT = 1 << 5 };
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    return 0 != __get_cpuid_count(LEAF, SUBLEAF, &eax, &ebx, &ecx, &edx) && 0 != (eax & BIT);
}
#endif

static arc_isa_t isa_of_this_cpu(void)
{
#if HAVE_ISA_AVX2
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !cpu_has_f16c()) {
        return ARC_ISA_SCALAR;
    }
#if HAVE_ISA_AVX512
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
#if HAVE_ISA_AVX512_BF16
        if (cpu_has_avx512_bf16()) {
            return ARC_ISA_AVX512_BF16;
        }
#endif
        return ARC_ISA_AVX512;
    }
#endif
    return ARC_ISA_AVX2;
#elif HAVE_ISA_NEON
    return ARC_ISA_NEON; /* all processors have it */
#else
    return ARC_ISA_SCALAR;
#endif
}

arc_isa_t arc_cpu_isa(arc_isa_t limit)
{
    /*
     * Asked once: a virtual machine traps CPUID, which then takes microseconds.  0: not yet, else 1
     * more than the answer, which is the same for whoever asks first.
     */
    static atomic_int known;
    int isa = atomic_load_explicit(&known, memory_order_relaxed) - 1;

    if (isa < 0) {
        isa = (int) isa_of_this_cpu();
        atomic_store_explicit(&known, isa + 1, memory_order_relaxed);
    }
    return (arc_isa_t) isa < limit ? (arc_isa_t) isa : limit;
}

const char *arc_isa_name(arc_isa_t isa)
{
    static const char *const names[] = {"scalar", HAVE_ISA_NEON ? "neon" : "avx2", "avx512",
                                        "avx512_bf16"};
    static_assert(sizeof names / sizeof names[0] == ARC_ISA_BEST + 1, "a name for each");
    return names[isa];
}
