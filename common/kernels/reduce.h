/*
 * out = parts[0] op parts[1] op ... op parts[n - 1] for every type and operation
 * of element.h, element by element and from the left.
 *
 *   cost   one pass: n loads and one store for each element; partial results
 *          stay in registers, or in the scalar kernels in a block of L1 cache
 *
 * The scalar table is the specification.  The others give the same bytes: the order of operations
 * of one element does not depend on how many elements are reduced at a time.  Floating-point
 * arithmetic follows the program's rounding mode; what follows is for the default one.
 *
 *   MAX, MIN         a > b ? a : b and a < b ? a : b, a being the result so far:
 *                    with a NaN, or with zeros of both signs, the right one wins
 *   BF16, FP16       every part is converted to float, the reduction is done in
 *                    float, and its result rounded once, to nearest, ties to even;
 *                    too large becomes infinite, too small subnormal.  A NaN comes
 *                    out as ARC_BF16_NAN or ARC_FP16_NAN, whatever its bits were
 *   MAXLOC, MINLOC   the pair whose value wins; of equal values the right one with
 *                    the smaller index; where a NaN is compared the right pair.
 *                    Padding is never written
 *   complex          SUM only.  C's product has rules of its own for infinities
 *                    (Annex G), which are Open MPI's business: its functions do it
 *   one part         a copy, NaN and all
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_REDUCE_H
#define ARC_REDUCE_H

#include "cpu.h"
#include "element.h"
#include "half.h"

/*
 * The kernels of an instruction set.  A NULL entry: the kernel is that of `lower`, or if that is
 * NULL there is none, because the operation is not defined for the type (bit operations on floats).
 */
typedef struct arc_reduce_table {
    arc_reduce_fn_t reduce[ARC_OPS][ARC_TYPES];
    arc_half_t half[ARC_TYPES]; /* of types of 16-bit floats */
    const struct arc_reduce_table *lower;
} arc_reduce_table_t;

extern const arc_reduce_table_t arc_reduce_table_scalar;
extern const arc_reduce_table_t arc_reduce_table_neon;
extern const arc_reduce_table_t arc_reduce_table_avx2;
extern const arc_reduce_table_t arc_reduce_table_avx512;
extern const arc_reduce_table_t arc_reduce_table_avx512_bf16;

/* The table for an instruction set; `isa` must come from arc_cpu_isa(). */
const arc_reduce_table_t *arc_reduce_table(arc_isa_t isa);

/* The kernel of `table`, or of a lower one; NULL if there is none. */
arc_reduce_fn_t arc_reduce_kernel(const arc_reduce_table_t *table, arc_op_t op, arc_type_t type);

/* The reducer of `table` for a type and an operation.  Is there one? */
bool arc_reduce_make(const arc_reduce_table_t *table, arc_op_t op, arc_type_t type,
                     arc_reducer_t *reducer);

#endif
