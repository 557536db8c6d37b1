/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mca_bridge.h"

/* Our name for a predefined type's format plus 1, by Open MPI's name for it; 0: no kernels. */
static const signed char type_of_format[OPAL_DATATYPE_MAX_PREDEFINED] = {
    [OPAL_DATATYPE_INT1] = 1 + ARC_TYPE_INT8,
    [OPAL_DATATYPE_INT2] = 1 + ARC_TYPE_INT16,
    [OPAL_DATATYPE_INT4] = 1 + ARC_TYPE_INT32,
    [OPAL_DATATYPE_INT8] = 1 + ARC_TYPE_INT64,
    [OPAL_DATATYPE_UINT1] = 1 + ARC_TYPE_UINT8,
    [OPAL_DATATYPE_UINT2] = 1 + ARC_TYPE_UINT16,
    [OPAL_DATATYPE_UINT4] = 1 + ARC_TYPE_UINT32,
    [OPAL_DATATYPE_UINT8] = 1 + ARC_TYPE_UINT64,
    [OPAL_DATATYPE_FLOAT4] = 1 + ARC_TYPE_FLOAT,
    [OPAL_DATATYPE_FLOAT8] = 1 + ARC_TYPE_DOUBLE,
    [OPAL_DATATYPE_LONG] = 1 + ARC_TYPE_INT64,
    [OPAL_DATATYPE_UNSIGNED_LONG] = 1 + ARC_TYPE_UINT64,
};
_Static_assert(8 == sizeof(long), "the rows for long assume an LP64 system");

/* Our name for an operation plus 1, by Open MPI's; 0: no kernels. */
static const signed char op_of_op[OMPI_OP_NUM_OF_TYPES] = {
    [OMPI_OP_SUM] = 1 + ARC_OP_SUM,   [OMPI_OP_PROD] = 1 + ARC_OP_PROD,
    [OMPI_OP_MAX] = 1 + ARC_OP_MAX,   [OMPI_OP_MIN] = 1 + ARC_OP_MIN,
    [OMPI_OP_LAND] = 1 + ARC_OP_LAND, [OMPI_OP_LOR] = 1 + ARC_OP_LOR,
    [OMPI_OP_LXOR] = 1 + ARC_OP_LXOR, [OMPI_OP_BAND] = 1 + ARC_OP_BAND,
    [OMPI_OP_BOR] = 1 + ARC_OP_BOR,   [OMPI_OP_BXOR] = 1 + ARC_OP_BXOR,
};

/*
 * Open MPI's own function: out = left op right.  Always the one for two buffers:
 * the one for three treats NaN differently, and whether `out` is `left` differs
 * between ranks when only some of them are called in place.
 */
static void combine_by_ompi(const void *left, const void *right, void *out, size_t count,
                            const void *context)
{
    const arc_reduction_t *reduction = context;
    if (out != left) {
        (void) ompi_datatype_copy_content_same_ddt(reduction->type, (int32_t) count, out,
                                                   (char *) left);
    }
    ompi_op_reduce(reduction->op, (void *) right, out, (int) count, reduction->type);
}

/* Does Open MPI have its function for this pair? */
static bool ompi_can_reduce(const struct ompi_op_t *op, const struct ompi_datatype_t *type)
{
    int index = ompi_op_ddt_map[type->id];
    return index >= 0 && NULL != op->o_func.intrinsic.fns[index];
}

static arc_reason_t reduction_by_ompi(struct ompi_op_t *op, struct ompi_datatype_t *type,
                                      arc_reduction_t *reduction)
{
    ptrdiff_t extent_bytes = 0;
    ptrdiff_t lower_bound = 0;
    ptrdiff_t true_extent_bytes = 0;

    if (!ompi_can_reduce(op, type)) {
        return ARC_REASON_TYPE_OR_OP;
    }
    (void) ompi_datatype_type_extent(type, &extent_bytes);
    (void) ompi_datatype_get_true_extent(type, &lower_bound, &true_extent_bytes);
    if (0 != lower_bound || extent_bytes <= 0) {
        return ARC_REASON_TYPE_OR_OP;
    }
    reduction->op = op;
    reduction->type = type;
    reduction->reducer.combine = combine_by_ompi;
    reduction->reducer.context = reduction;
    reduction->reducer.stride_bytes = (size_t) extent_bytes;
    reduction->reducer.last_bytes = (size_t) true_extent_bytes;
    reduction->reducer.out_may_be_right = false;
    return ARC_REASONS;
}

arc_reason_t mca_bridge_reduction(const arc_reduce_table_t *kernels, struct ompi_op_t *op,
                                  struct ompi_datatype_t *type, arc_reduction_t *reduction)
{
    if (!ompi_op_is_intrinsic(op)) {
        return ARC_REASON_USER_OP;
    }
    if (!ompi_datatype_is_predefined(type)) {
        return ARC_REASON_DERIVED_TYPE;
    }
    const int our_type = type_of_format[type->super.id] - 1;
    const int our_op = op_of_op[op->op_type] - 1;
    if (our_type >= 0 && our_op >= 0 && NULL != kernels->combine[our_op][our_type]) {
        reduction->reducer.combine = kernels->combine[our_op][our_type];
        reduction->reducer.context = NULL;
        reduction->reducer.stride_bytes = type->super.size;
        reduction->reducer.last_bytes = type->super.size;
        reduction->reducer.out_may_be_right = true;
        return ARC_REASONS;
    }
    return reduction_by_ompi(op, type, reduction);
}

arc_reason_t mca_bridge_float_sum(struct ompi_op_t *op, struct ompi_datatype_t *type)
{
    if (!ompi_op_is_intrinsic(op)) {
        return ARC_REASON_USER_OP;
    }
    if (!ompi_datatype_is_predefined(type)) {
        return ARC_REASON_DERIVED_TYPE;
    }
    if (OMPI_OP_SUM != op->op_type || OPAL_DATATYPE_FLOAT4 != type->super.id) {
        return ARC_REASON_TYPE_OR_OP;
    }
    return ARC_REASONS;
}
