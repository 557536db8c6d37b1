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
enum { EAX, ECX = 2, AVX512_BF16_BIT = 1 << 5 };

/* Not all compilers that we support know these by name. */
static bool cpu_has(unsigned leaf, unsigned subleaf, unsigned in, unsigned bit)
{
    unsigned found[4] = {0};
    return 0 != __get_cpuid_count(leaf, subleaf, &found[0], &found[1], &found[2], &found[3]) &&
           0 != (found[in] & bit);
}
#endif

static arc_isa_t isa_of_this_cpu(void)
{
#if HAVE_ISA_AVX2
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !cpu_has(1, 0, ECX, bit_F16C)) {
        return ARC_ISA_SCALAR;
    }
#if HAVE_ISA_AVX512
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
#if HAVE_ISA_AVX512_BF16
        if (cpu_has(7, 1, EAX, AVX512_BF16_BIT)) {
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
