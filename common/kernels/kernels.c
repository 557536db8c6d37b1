/*
 * What each instruction set has, and how the elements of a type are reduced.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <string.h>

#include "copy.h"
#include "reduce.h"

static void copy_ordinary(void *to, const void *from, size_t bytes)
{
    if (bytes > 0) {
        memcpy(to, from, bytes);
    }
}

static const arc_copier_t ordinary = {.copy = copy_ordinary, .fence = NULL};

static const struct {
    const arc_reduce_table_t *reduce;
    const arc_copier_t *streaming;
} sets[] = {
    [ARC_ISA_SCALAR] = {&arc_reduce_table_scalar, &ordinary},
#if HAVE_ISA_NEON
    [ARC_ISA_NEON] = {&arc_reduce_table_neon, &ordinary},
#endif
#if HAVE_ISA_AVX2
    [ARC_ISA_AVX2] = {&arc_reduce_table_avx2, &arc_copier_avx2},
#endif
#if HAVE_ISA_AVX512
    [ARC_ISA_AVX512] = {&arc_reduce_table_avx512, &arc_copier_avx512},
#endif
#if HAVE_ISA_AVX512_BF16
    [ARC_ISA_AVX512_BF16] = {&arc_reduce_table_avx512_bf16, &arc_copier_avx512},
#endif
};

const arc_reduce_table_t *arc_reduce_table(arc_isa_t isa)
{
    return sets[isa].reduce;
}

arc_half_t arc_half_select(arc_type_t type, arc_isa_t isa)
{
    const arc_reduce_table_t *table = arc_reduce_table(isa);

    while (NULL == table->half[type].widen) {
        table = table->lower;
    }
    return table->half[type];
}

arc_copier_t arc_copier_streaming(arc_isa_t isa)
{
    return *sets[isa].streaming;
}

/* ---- reducers ---- */

/* Without a function: how a type lies in memory, and whether kernels round once for all parts. */
/* clang-format off */
#define SHAPE(_id, ...)        [ARC_TYPE_##_id] = {NULL, NULL, __VA_ARGS__},
#define PLAIN(_id, _type, ...) SHAPE(_id, sizeof(_type), sizeof(_type), false, false)
#define HALF(_id, _type, ...)  SHAPE(_id, sizeof(_type), sizeof(_type), true, false)
#define PAIR(_id, _type, _value, _index)                                               \
    SHAPE(_id, sizeof(_type), offsetof(_type, index) + sizeof(_index), false,          \
          sizeof(_type) > sizeof(_value) + sizeof(_index))
/* clang-format on */

static const arc_reducer_t shapes[ARC_TYPES] = {ARC_INTEGER_TABLE(PLAIN) ARC_FLOAT_TABLE(
    PLAIN) ARC_COMPLEX_TABLE(PLAIN) ARC_HALF_TABLE(HALF) ARC_PAIR_TABLE(PAIR)};

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
    *reducer = shapes[type];
    reducer->reduce = reduce;
    return true;
}
