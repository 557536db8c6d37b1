/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cpu.h"

static arc_isa_t isa_of_this_cpu(void)
{
#if HAVE_ISA_AVX2
    __builtin_cpu_init();
#if HAVE_ISA_AVX512
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        return ARC_ISA_AVX512;
    }
#endif
    if (__builtin_cpu_supports("avx2")) {
        return ARC_ISA_AVX2;
    }
#endif
    return ARC_ISA_SCALAR;
}

arc_isa_t arc_cpu_isa(arc_isa_t limit)
{
    arc_isa_t isa = isa_of_this_cpu();
    return isa < limit ? isa : limit;
}

const char *arc_isa_name(arc_isa_t isa)
{
    static const char *const names[] = ARC_ISA_NAMES;
    return names[isa];
}
