/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce.h"

const arc_reduce_table_t *arc_reduce_table(arc_isa_t isa)
{
    static const arc_reduce_table_t *const tables[] = {
        [ARC_ISA_SCALAR] = &arc_reduce_table_scalar,
#if HAVE_ISA_AVX2
        [ARC_ISA_AVX2] = &arc_reduce_table_avx2,
#endif
#if HAVE_ISA_AVX512
        [ARC_ISA_AVX512] = &arc_reduce_table_avx512,
#endif
    };
    return tables[isa];
}
