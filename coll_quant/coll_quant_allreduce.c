/*
 * MPI_Allreduce of coll_quant, also of 16-bit floats.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "coll_quant.h"
#include "mca_below.h"
#include "mca_half.h"
#include "mca_request.h"

/* An allreduce that is served; of 16-bit floats with what these are, otherwise NULL. */
static quant_operation_t operation_of(quant_module_t *module, const quant_element_t *element,
                                      const quant_storage_t *storage, const void *send,
                                      void *receive, size_t elems)
{
    quant_operation_t operation = {
        .send = MPI_IN_PLACE == send ? receive : send,
        .recv = receive,
        .element = element,
        .storage = storage,
        .count = elems,
        .collective = EXCHANGE_ALLREDUCE,
    };

    operation.residual = coll_quant_residual(module, &operation);
    return operation;
}

/*
 * 16-bit floats: checked as floats.  A segment at a time they are floats where they are quantized;
 * all at once where they are passed down, or verified, which takes the vector again.
 */
static int allreduce_halves(quant_module_t *module, const void *send, void *receive, int count)
{
    const quant_element_t *floats = coll_quant_element_of_halves(module, EXCHANGE_ALLREDUCE);
    arc_reason_t verdict = ARC_REASON_NONE;
    const int status = coll_quant_check_call(module, EXCHANGE_ALLREDUCE, floats,
                                             (size_t) count * sizeof(float), &verdict);

    if (MPI_SUCCESS != status) {
        return status;
    }
    if (ARC_REASON_NONE == verdict) {
        const quant_operation_t operation =
            operation_of(module, floats, &module->storage, send, receive, (size_t) count);
        return coll_quant_learn(module, coll_quant_run_halves(module, &operation));
    }
    arc_module_count_pass(&module->base, ARC_SLOT_allreduce, verdict, count, &ompi_mpi_float.dt,
                          &ompi_mpi_op_sum.op);
    return coll_quant_learn(module,
                            mca_half_allreduce(&module->base, module->uint16, send, receive, count,
                                               &ompi_mpi_op_sum.op, arc_below_allreduce));
}

int coll_quant_allreduce(const void *send, void *receive, int count, struct ompi_datatype_t *type,
                         struct ompi_op_t *op, struct ompi_communicator_t *comm,
                         mca_coll_base_module_t *base)
{
    quant_module_t *module =
        (quant_module_t *) arc_module_own(base, OBJ_CLASS(quant_module_t), comm);

    if (NULL == module) {
        return OMPI_ERR_NOT_FOUND;
    }
    arc_module_settle(&module->base);
    if (module->base.nested) {
        return arc_module_pass(&module->base, ARC_REASON_NESTED, send, receive, count, type, op);
    }
    size_t type_bytes = 0;
    (void) ompi_datatype_type_size(type, &type_bytes);
    coll_quant_agree_if_due(module, (size_t) count * type_bytes);
    if (mca_half_is(module->uint16, op, type)) {
        return allreduce_halves(module, send, receive, count);
    }
    const quant_element_t *element = coll_quant_element(module, type);
    const size_t bytes = (size_t) count * (NULL == element ? 0 : element->bytes);
    arc_reason_t verdict = mca_bridge_is_sum(op, type);
    const int status = coll_quant_check_call(module, EXCHANGE_ALLREDUCE, element, bytes, &verdict);
    if (MPI_SUCCESS != status) {
        return status;
    }
    if (ARC_REASON_NONE != verdict) {
        return coll_quant_learn(
            module, arc_module_pass(&module->base, verdict, send, receive, count, type, op));
    }
    const quant_operation_t operation =
        operation_of(module, element, NULL, send, receive, (size_t) count);
    const bool verified = coll_quant_is_verified_next(module, EXCHANGE_ALLREDUCE);
    return coll_quant_learn(module, coll_quant_run_call(module, &operation, verified));
}
