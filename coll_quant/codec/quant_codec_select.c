/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "quant_codec.h"

quant_kernels_t quant_kernels_select(arc_isa_t isa)
{
    quant_kernels_t kernels = quant_kernels_scalar;

#if HAVE_ISA_NEON
    kernels = isa >= ARC_ISA_NEON ? quant_kernels_neon : kernels;
#endif
#if HAVE_ISA_AVX2
    kernels = isa >= ARC_ISA_AVX2 ? quant_kernels_avx2 : kernels;
#endif
#if HAVE_ISA_AVX512
    kernels = isa >= ARC_ISA_AVX512 ? quant_kernels_avx512 : kernels;
#endif
    (void) isa; /* a build without vector kernels has no use for it */
    return kernels;
}
