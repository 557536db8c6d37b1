/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce.h"

/* How a type lies in memory, and whether its kernels round once for all parts. */
typedef struct shape {
    size_t stride_bytes;
    size_t last_bytes;
    bool rounds_once;
} shape_t;

/* clang-format off */
#define PLAIN(_id, _type, ...) [ARC_TYPE_##_id] = {sizeof(_type), sizeof(_type), false},
#define HALF(_id, _type, ...)  [ARC_TYPE_##_id] = {sizeof(_type), sizeof(_type), true},
#define PAIR(_id, _type, _value, _index) \
    [ARC_TYPE_##_id] = {sizeof(_type), offsetof(_type, index) + sizeof(_index), false},
/* clang-format on */

static const shape_t shapes[ARC_TYPES] = {ARC_INTEGER_TABLE(PLAIN) ARC_FLOAT_TABLE(
    PLAIN) ARC_COMPLEX_TABLE(PLAIN) ARC_HALF_TABLE(HALF) ARC_PAIR_TABLE(PAIR)};

const arc_reduce_table_t *arc_reduce_table(arc_isa_t isa)
{
    static const arc_reduce_table_t *const tables[] = {
        [ARC_ISA_SCALAR] = &arc_reduce_table_scalar,
#if HAVE_ISA_NEON
        [ARC_ISA_NEON] = &arc_reduce_table_neon,
#endif
#if HAVE_ISA_AVX2
        [ARC_ISA_AVX2] = &arc_reduce_table_avx2,
#endif
#if HAVE_ISA_AVX512
        [ARC_ISA_AVX512] = &arc_reduce_table_avx512,
#endif
#if HAVE_ISA_AVX512_BF16
        [ARC_ISA_AVX512_BF16] = &arc_reduce_table_avx512_bf16,
#endif
    };
    return tables[isa];
}

arc_reduce_fn_t arc_reduce_kernel(const arc_reduce_table_t *table, arc_op_t op, arc_type_t type)
{
    while (NULL == table->reduce[op][type] && NULL != table->lower) {
        table = table->lower;
    }
    return table->reduce[op][type];
}

bool arc_reduce_make(const arc_reduce_table_t *table, arc_op_t op, arc_type_t type,
                     arc_reducer_t *reducer)
{
    const arc_reduce_fn_t reduce = arc_reduce_kernel(table, op, type);

    if (NULL == reduce) {
        return false;
    }
    *reducer = (arc_reducer_t){
        .reduce = reduce,
        .context = NULL,
        .stride_bytes = shapes[type].stride_bytes,
        .last_bytes = shapes[type].last_bytes,
        .rounds_once = shapes[type].rounds_once,
    };
    return true;
}
