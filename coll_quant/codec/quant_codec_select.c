/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "quant_codec.h"

#define OVERWRITE(_to, _from, _function)           \
    do {                                           \
        if (NULL != (_from)->_function) {          \
            (_to)->_function = (_from)->_function; \
        }                                          \
    } while (0)

static inline void overwrite_kernels(quant_kernels_t *to, const quant_kernels_t *from)
{
    OVERWRITE(to, from, absmax);
    OVERWRITE(to, from, peak);
    OVERWRITE(to, from, scales);
    for (unsigned i = 0; i < QUANT_CODES; ++i) {
        OVERWRITE(&to->code[i], &from->code[i], encode);
        OVERWRITE(&to->code[i], &from->code[i], decode);
        OVERWRITE(&to->code[i], &from->code[i], decode_add);
    }
}

quant_kernels_t quant_kernels_select(arc_isa_t isa)
{
    quant_kernels_t kernels = quant_kernels_scalar;

#if HAVE_ISA_NEON
    if (isa >= ARC_ISA_NEON) {
        overwrite_kernels(&kernels, &quant_kernels_neon);
    }
#endif
#if HAVE_ISA_AVX2
    if (isa >= ARC_ISA_AVX2) {
        overwrite_kernels(&kernels, &quant_kernels_avx2);
    }
#endif
#if HAVE_ISA_AVX512
    if (isa >= ARC_ISA_AVX512) {
        overwrite_kernels(&kernels, &quant_kernels_avx512);
    }
#endif
    (void) isa; /* a build without vector kernels has no use for it */
    return kernels;
}
