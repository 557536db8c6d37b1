/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>
#include <stdlib.h>

#include "float_env.h"
#include "half.h"
#include "mca_bridge.h"
#include "sizes.h"

enum { SCRATCH_BYTES = 4096, STRICTEST_BYTES = 16 };

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
    [OPAL_DATATYPE_FLOAT2] = 1 + ARC_TYPE_FP16,
    [OPAL_DATATYPE_FLOAT4] = 1 + ARC_TYPE_FLOAT,
    [OPAL_DATATYPE_FLOAT8] = 1 + ARC_TYPE_DOUBLE,
    [OPAL_DATATYPE_FLOAT_COMPLEX] = 1 + ARC_TYPE_FLOAT_COMPLEX,
    [OPAL_DATATYPE_DOUBLE_COMPLEX] = 1 + ARC_TYPE_DOUBLE_COMPLEX,
    [OPAL_DATATYPE_LONG] = 1 + ARC_TYPE_INT64,
    [OPAL_DATATYPE_UNSIGNED_LONG] = 1 + ARC_TYPE_UINT64,
};
_Static_assert(8 == sizeof(long), "the rows for long assume an LP64 system");

/* The same for pairs, which have no format; by Open MPI's name for the function of an operation. */
static const signed char type_of_pair[OMPI_OP_BASE_TYPE_MAX] = {
    [OMPI_OP_BASE_TYPE_FLOAT_INT] = 1 + ARC_TYPE_FLOAT_INT,
    [OMPI_OP_BASE_TYPE_DOUBLE_INT] = 1 + ARC_TYPE_DOUBLE_INT,
    [OMPI_OP_BASE_TYPE_LONG_INT] = 1 + ARC_TYPE_LONG_INT,
    [OMPI_OP_BASE_TYPE_2INT] = 1 + ARC_TYPE_INT_INT,
    [OMPI_OP_BASE_TYPE_SHORT_INT] = 1 + ARC_TYPE_SHORT_INT,
    /* Fortran's may have been made longer by an option of its compiler. */
    [OMPI_OP_BASE_TYPE_2REAL] =
        sizeof(ompi_fortran_real_t) == sizeof(float) ? 1 + ARC_TYPE_FLOAT_FLOAT : 0,
    [OMPI_OP_BASE_TYPE_2DOUBLE_PRECISION] =
        sizeof(ompi_fortran_double_precision_t) == sizeof(double) ? 1 + ARC_TYPE_DOUBLE_DOUBLE : 0,
    [OMPI_OP_BASE_TYPE_2INTEGER] =
        sizeof(ompi_fortran_integer_t) == sizeof(int) ? 1 + ARC_TYPE_INT_INT : 0,
};

/* Our name for an operation plus 1, by Open MPI's; 0: no kernels, as for the last one, MPI_NO_OP.
 */
static const signed char op_of_op[OMPI_OP_NUM_OF_TYPES + 1] = {
    [OMPI_OP_SUM] = 1 + ARC_OP_SUM,       [OMPI_OP_PROD] = 1 + ARC_OP_PROD,
    [OMPI_OP_MAX] = 1 + ARC_OP_MAX,       [OMPI_OP_MIN] = 1 + ARC_OP_MIN,
    [OMPI_OP_LAND] = 1 + ARC_OP_LAND,     [OMPI_OP_LOR] = 1 + ARC_OP_LOR,
    [OMPI_OP_LXOR] = 1 + ARC_OP_LXOR,     [OMPI_OP_BAND] = 1 + ARC_OP_BAND,
    [OMPI_OP_BOR] = 1 + ARC_OP_BOR,       [OMPI_OP_BXOR] = 1 + ARC_OP_BXOR,
    [OMPI_OP_MAXLOC] = 1 + ARC_OP_MAXLOC, [OMPI_OP_MINLOC] = 1 + ARC_OP_MINLOC,
};

/* ---- elements between vectors of the reduction and elements as the type describes them ---- */

/* The first error counts. */
static void note_error(arc_reduction_t *reduction, int status)
{
    if (OPAL_UNLIKELY(OMPI_SUCCESS != status && MPI_SUCCESS == reduction->error)) {
        reduction->error = status;
    }
}

/* Elements [first, first + count) of the vector at `vector` -> typed[0 .. count), or back. */
static void move_elements(arc_reduction_t *reduction, const void *vector, size_t first,
                          size_t count, void *typed, bool back)
{
    char *at = (char *) vector + first * reduction->reducer.stride_bytes;
    const size_t bytes = count * reduction->reducer.stride_bytes;
    struct ompi_datatype_t *type = reduction->type;

    assert(bytes <= INT32_MAX);
    note_error(reduction, !reduction->packed
                              ? ompi_datatype_copy_content_same_ddt(
                                    type, (int32_t) count, back ? at : typed, back ? typed : at)
                          : back ? ompi_datatype_sndrcv(typed, (int32_t) count, type, at,
                                                        (int32_t) bytes, &ompi_mpi_packed.dt)
                                 : ompi_datatype_sndrcv(at, (int32_t) bytes, &ompi_mpi_packed.dt,
                                                        typed, (int32_t) count, type));
}

/*
 * arc_reduce_fn_t of Open MPI's functions and of the program's: part(0) op (part(1) op (...)). From
 * the right, because they replace their right operand.  Always the one for two buffers: the one for
 * three treats NaN differently.
 *
 * Compilers load a _Float128, MPI_REAL16, by instructions that fault where it is not aligned: what
 * lies behind the number of a packet is copied.
 *
 * A function of the program gets elements as its type describes them, in memory of its own, which
 * it may scribble on, and whole vectors: MPI does not promise that, but there are programs that
 * rely on it.
 */
static void reduce_by_ompi(const void *const *parts, unsigned n, void *out, size_t count,
                           const void *context)
{
    arc_reduction_t *reduction = (arc_reduction_t *) context;
    const size_t stride_bytes = reduction->reducer.stride_bytes;
    const size_t at_once = reduction->packed ? count : SCRATCH_BYTES / stride_bytes;
    _Alignas(ARC_ALIGN_BYTES) unsigned char scratch[2][SCRATCH_BYTES];
    unsigned char *sum = reduction->packed ? reduction->typed[0] : scratch[0];
    unsigned char *apart = reduction->packed ? reduction->typed[1] : scratch[1];

    if (NULL == sum) {
        return; /* no memory: the call ends in that error */
    }
    for (size_t first = 0; first < count; first += at_once) {
        const size_t elems = arc_min(count - first, at_once);
        move_elements(reduction, parts[n - 1], first, elems, sum, false);
        for (unsigned i = n - 1; i-- > 0;) {
            unsigned char *left = (unsigned char *) parts[i] + first * stride_bytes;
            if (reduction->packed || 0 != (uintptr_t) left % STRICTEST_BYTES) {
                move_elements(reduction, parts[i], first, elems, apart, false);
                left = apart;
            }
            ompi_op_reduce(reduction->op, left, sum, elems, reduction->type);
        }
        move_elements(reduction, out, first, elems, sum, true);
    }
}

/* ---- which reducer ---- */

static arc_reason_t reduction_by_ompi(struct ompi_op_t *op, struct ompi_datatype_t *type,
                                      arc_reduction_t *reduction)
{
    const int index = ompi_op_ddt_map[type->id];
    ptrdiff_t extent_bytes = 0;
    ptrdiff_t lower_bound = 0;
    ptrdiff_t true_extent_bytes = 0;

    if (index < 0 || NULL == op->o_func.intrinsic.fns[index]) {
        return ARC_REASON_TYPE_OR_OP;
    }
    (void) ompi_datatype_type_extent(type, &extent_bytes);
    (void) ompi_datatype_get_true_extent(type, &lower_bound, &true_extent_bytes);
    if (0 != lower_bound || extent_bytes <= 0 || extent_bytes > SCRATCH_BYTES) {
        return ARC_REASON_TYPE_OR_OP;
    }
    reduction->reducer = (arc_reducer_t){
        .reduce = reduce_by_ompi,
        .context = reduction,
        .stride_bytes = (size_t) extent_bytes,
        .last_bytes = (size_t) true_extent_bytes,
        .has_gaps = type->super.size != (size_t) extent_bytes,
    };
    return ARC_REASON_NONE;
}

static arc_reason_t reduction_by_user(struct ompi_datatype_t *type, arc_reduction_t *reduction)
{
    size_t packed_bytes = 0;

    (void) ompi_datatype_type_size(type, &packed_bytes);
    if (0 == packed_bytes) {
        return ARC_REASON_EMPTY;
    }
    reduction->packed = true;
    reduction->reducer = (arc_reducer_t){
        .reduce = reduce_by_ompi,
        .context = reduction,
        .stride_bytes = packed_bytes,
        .last_bytes = packed_bytes,
    };
    return ARC_REASON_NONE;
}

/* Our name for a type, or -1. */
static int our_type(arc_type_t uint16, const struct ompi_op_t *op,
                    const struct ompi_datatype_t *type)
{
    if (mca_half_is(uint16, op, type)) {
        return (int) uint16;
    }
    if (OMPI_OP_MAXLOC == op->op_type || OMPI_OP_MINLOC == op->op_type) {
        const int index = ompi_op_ddt_map[type->id];
        return index >= 0 ? type_of_pair[index] - 1 : -1;
    }
    return type_of_format[type->super.id] - 1;
}

void mca_bridge_init(mca_bridge_t *bridge, const arc_reduce_table_t *kernels, arc_type_t uint16)
{
    *bridge = (mca_bridge_t){.kernels = kernels, .uint16 = uint16};
}

arc_reason_t mca_bridge_find(mca_bridge_t *bridge, struct ompi_op_t *op,
                             struct ompi_datatype_t *type, arc_reduction_t *reduction)
{
    if (!ompi_op_is_intrinsic(op)) {
        return reduction_by_user(type, reduction);
    }
    if (!ompi_datatype_is_predefined(type)) {
        return ARC_REASON_DERIVED_TYPE;
    }
    const int kernel_type = our_type(bridge->uint16, op, type);
    const int kernel_op = op_of_op[op->op_type] - 1;
    if (kernel_type >= 0 && kernel_op >= 0 &&
        arc_reduce_make(bridge->kernels, (arc_op_t) kernel_op, (arc_type_t) kernel_type,
                        &reduction->reducer)) {
        bridge->last_op = op;
        bridge->last_type = type;
        bridge->last_reducer = reduction->reducer;
        return ARC_REASON_NONE;
    }
    return reduction_by_ompi(op, type, reduction);
}

/* ---- packed reductions ---- */

bool mca_bridge_allocate(const struct ompi_datatype_t *type, size_t count, unsigned vectors,
                         void **memory, unsigned char *typed[])
{
    ptrdiff_t lower_bound = 0;
    ptrdiff_t extent_bytes = 0;
    ptrdiff_t true_extent_bytes = 0;
    ptrdiff_t to_last_bytes = 0;
    ptrdiff_t gap_bytes = 0; /* from the address of element 0 to where the data begin */
    size_t span_bytes = 0;
    size_t all_bytes = 0;

    /* opal_datatype_span() is not for negative extents, with which element 0 is the last. */
    (void) ompi_datatype_type_extent(type, &extent_bytes);
    (void) ompi_datatype_get_true_extent(type, &lower_bound, &true_extent_bytes);
    const size_t step_bytes = extent_bytes < 0 ? -(size_t) extent_bytes : (size_t) extent_bytes;
    if (__builtin_mul_overflow(extent_bytes, count - 1, &to_last_bytes) ||
        __builtin_add_overflow(lower_bound, to_last_bytes < 0 ? to_last_bytes : 0, &gap_bytes) ||
        !arc_checked_bytes(count - 1, step_bytes, (size_t) true_extent_bytes, &span_bytes)) {
        return false;
    }
    const size_t shift_bytes = (size_t) gap_bytes % ARC_ALIGN_BYTES;
    const size_t each_bytes = arc_round_up(shift_bytes + span_bytes, ARC_ALIGN_BYTES);
    if (!arc_checked_bytes(vectors, each_bytes, ARC_ALIGN_BYTES, &all_bytes)) {
        return false;
    }
    *memory = malloc(all_bytes);
    /*
     * The address that MPI takes as that of an element is the one to be aligned; where it is not
     * far away, what is in between is ours, too.
     */
    for (unsigned i = 0; NULL != *memory && i < vectors; ++i) {
        typed[i] = (unsigned char *) arc_align(*memory) + i * each_bytes + shift_bytes - gap_bytes;
    }
    return NULL != *memory;
}

arc_status_t mca_bridge_pack(arc_reduction_t *reduction, const void *in, size_t count)
{
    size_t vector_bytes = 0;

    if (!arc_checked_bytes(count, reduction->reducer.stride_bytes, ARC_ALIGN_BYTES,
                           &vector_bytes)) {
        return ARC_ERR_NO_MEMORY;
    }
    reduction->vector_memory = malloc(vector_bytes);
    if (NULL == reduction->vector_memory) {
        return ARC_ERR_NO_MEMORY;
    }
    reduction->vector = arc_align(reduction->vector_memory);
    reduction->typed_memory = NULL;
    reduction->typed[0] = NULL;
    move_elements(reduction, reduction->vector, 0, count, (void *) in, true);
    if (MPI_SUCCESS != reduction->error) {
        memset(reduction->vector, 0, count * reduction->reducer.stride_bytes);
    }
    if (!mca_bridge_allocate(reduction->type, count, 2, &reduction->typed_memory,
                             reduction->typed)) {
        note_error(reduction, MPI_ERR_NO_MEM);
    }
    return ARC_OK;
}

int mca_bridge_unpack(arc_reduction_t *reduction, void *out, size_t count)
{
    if (MPI_SUCCESS == reduction->error) {
        move_elements(reduction, reduction->vector, 0, count, out, false);
    }
    mca_bridge_discard(reduction);
    return reduction->error;
}

void mca_bridge_discard(arc_reduction_t *reduction)
{
    free(reduction->vector_memory);
    free(reduction->typed_memory);
}

arc_reason_t mca_bridge_is_sum(struct ompi_op_t *op, struct ompi_datatype_t *type)
{
    if (!ompi_op_is_intrinsic(op)) {
        return ARC_REASON_USER_OP;
    }
    if (!ompi_datatype_is_predefined(type)) {
        return ARC_REASON_DERIVED_TYPE;
    }
    return OMPI_OP_SUM == op->op_type && (mca_bridge_is(type, OPAL_DATATYPE_FLOAT4) ||
                                          mca_bridge_is(type, OPAL_DATATYPE_FLOAT8))
               ? ARC_REASON_NONE
               : ARC_REASON_TYPE_OR_OP;
}

struct ompi_datatype_t *mca_bridge_all_of(const struct ompi_datatype_t *type)
{
    static struct ompi_datatype_t *const known[] = {
        &ompi_mpi_float.dt,
        &ompi_mpi_double.dt,
        &ompi_mpi_uint16_t.dt,
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
        if (UINT32_C(1) << known[i]->super.id == type->super.bdt_used) {
            return known[i];
        }
    }
    return NULL;
}

/* ---- 16-bit floats ---- */

int mca_half_call(arc_module_t *module, arc_type_t half, const arc_call_t *call, arc_serve_fn_t sum)
{
    const arc_half_t scalar = arc_half_select(half, ARC_ISA_SCALAR);
    const size_t received = (size_t) call->count;
    const size_t sent = ARC_SLOT_allreduce == call->collective
                            ? received
                            : received * (size_t) ompi_comm_size(module->comm);
    float *floats = malloc(sent * sizeof *floats + 1);
    arc_call_t of_floats = *call;

    if (NULL == floats) {
        (void) arc_module_break(module, arc_call_slot(call), ARC_ERR_NO_MEMORY,
                                " to widen 16-bit floats");
        return MPI_ERR_NO_MEM;
    }
    /* Ranks must not round in different ways, so not as the program has it. */
    arc_float_env_t of_program = arc_float_env_enter();
    scalar.widen(MPI_IN_PLACE == call->send ? call->receive : call->send, floats, sent);
    arc_float_env_leave(of_program);
    of_floats.send = MPI_IN_PLACE;
    of_floats.receive = floats;
    of_floats.type = &ompi_mpi_float.dt;
    of_floats.widened = true;
    const int status = sum(module, &of_floats);
    if (OMPI_SUCCESS == status) {
        of_program = arc_float_env_enter();
        scalar.narrow(floats, call->receive, received);
        arc_float_env_leave(of_program);
    }
    arc_module_free(module, floats);
    return status;
}
