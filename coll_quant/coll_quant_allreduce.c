/*
 * MPI_Allreduce of coll_quant, also of 16-bit floats.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdlib.h>

#include "coll_quant.h"
#include "float_env.h"
#include "mca_below.h"
#include "mca_half.h"

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

/* Memory to widen a vector that is to be verified: on all ranks or on none, which is said once. */
static int agree_to_widen(quant_module_t *module, size_t count, float **floats)
{
    float *memory = malloc(count * sizeof *memory + 1);
    uint64_t ok = NULL != memory;
    const arc_status_t status = arc_module_min(&module->base, &ok, 1);

    *floats = ARC_OK == status && ok ? memory : NULL;
    if (NULL == *floats) {
        free(memory);
    }
    if (ARC_OK != status) {
        return arc_module_break_call(&module->base, ARC_SLOT_allreduce, status,
                                     " in an agreement on memory to verify it");
    }
    if (!ok) {
        coll_quant_warn_unverified(module, count * sizeof *memory);
    }
    return MPI_SUCCESS;
}

/* Of 16-bit floats what `operation` is with all of it as floats, which are its vector. */
static int verify_widened(quant_module_t *module, const quant_operation_t *operation, float *floats)
{
    const quant_storage_t *storage = operation->storage;
    quant_operation_t widened = *operation;

    widened.storage = NULL;
    widened.send = floats;
    widened.recv = floats;
    arc_float_env_t of_program = arc_float_env_enter();
    storage->widen(operation->send, floats, operation->count);
    arc_float_env_leave(of_program);
    const int status = coll_quant_run_call(module, &widened, true);
    if (MPI_SUCCESS == status) {
        of_program = arc_float_env_enter();
        quant_storage_clamp(storage, module->config.kernels, module->bound, floats,
                            operation->count);
        storage->narrow(floats, operation->recv, operation->count);
        arc_float_env_leave(of_program);
    }
    return status;
}

/* Serve a sum of 16-bit floats; one that is to be verified if there is memory for all of it. */
static int run_call_of_halves(quant_module_t *module, const quant_operation_t *operation)
{
    float *floats = NULL;

    if (coll_quant_is_verified_next(module, operation->collective)) {
        const int status = agree_to_widen(module, operation->count, &floats);
        if (MPI_SUCCESS != status) {
            return status;
        }
    }
    if (NULL == floats) {
        return coll_quant_run_call(module, operation, false);
    }
    const int status = verify_widened(module, operation, floats);
    if (ARC_PHASE_BROKEN != module->base.phase) {
        free(floats); /* otherwise a message may still be under way */
    }
    return status;
}

/*
 * 16-bit floats: checked as floats.  A segment at a time they are floats where they are quantized;
 * all at once where they are passed down, or verified, which takes the vector again.
 */
static int allreduce_halves(quant_module_t *module, const void *send, void *receive, int count)
{
    const quant_element_t *floats = coll_quant_element(module, &ompi_mpi_float.dt);
    arc_reason_t verdict = ARC_REASON_NONE;
    const int status = coll_quant_check_call(module, EXCHANGE_ALLREDUCE, floats,
                                             (size_t) count * sizeof(float), &verdict);

    if (MPI_SUCCESS != status) {
        return status;
    }
    if (ARC_REASON_NONE == verdict) {
        const quant_operation_t operation =
            operation_of(module, floats, &module->storage, send, receive, (size_t) count);
        return coll_quant_learn(module, run_call_of_halves(module, &operation));
    }
    arc_module_count_pass(&module->base, verdict, count, &ompi_mpi_float.dt, &ompi_mpi_op_sum.op);
    return coll_quant_learn(module, mca_half_allreduce(&module->base, module->uint16, send, receive,
                                                       count, arc_below_allreduce));
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
