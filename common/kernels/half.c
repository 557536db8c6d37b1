/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "half_loops.h"

static const arc_halves_t halves_scalar = HALF_LOOPS;

arc_half_t arc_half_select(arc_type_t type, arc_isa_t isa)
{
    const arc_halves_t *halves = &halves_scalar;

#if HAVE_ISA_AVX2
    halves = isa >= ARC_ISA_AVX2 ? &arc_halves_avx2 : halves;
#endif
#if HAVE_ISA_AVX512
    halves = isa >= ARC_ISA_AVX512 ? &arc_halves_avx512 : halves;
#endif
    (void) isa; /* a build without vector kernels has no use for it */
    return ARC_TYPE_BF16 == type ? halves->bf16 : halves->fp16;
}
