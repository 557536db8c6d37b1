/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <string.h>

#include "copy.h"

static void copy_ordinary(void *to, const void *from, size_t bytes)
{
    if (bytes > 0) {
        memcpy(to, from, bytes);
    }
}

arc_copier_t arc_copier_streaming(arc_isa_t isa)
{
    static const arc_copier_t ordinary = {.copy = copy_ordinary, .fence = NULL};

#if HAVE_ISA_AVX512
    if (isa >= ARC_ISA_AVX512) {
        return arc_copier_avx512;
    }
#endif
#if HAVE_ISA_AVX2
    if (isa >= ARC_ISA_AVX2) {
        return arc_copier_avx2;
    }
#endif
    (void) isa; /* a build without vector kernels has no use for it */
    return ordinary;
}
