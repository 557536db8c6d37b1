/*
 * Verification: what the error of a call really is.
 *
 * Every verify_every-th call also runs exactly, through the component below, and
 * each rank compares:
 *
 *   exact result     send --(component below)--> scratch      first: in place, send is lost after
 *   quantized call   send --------------------> receive
 *   measure          receive, scratch --> MSE, NMSE, largest error
 *   agree            the maximum over the ranks of each       so that all decide alike
 *
 * If the NMSE is above max_nmse, receive is overwritten with the exact result, and
 * the communicator stays exact.
 *
 * Cost of such a call: an exact allreduce, one pass over both results, two
 * allreduces of a few bytes, and memory for one vector.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "coll_quant.h"
#include "float_env.h"

/* The exact result in memory of its own; NULL if there is none on some rank. */
static void *exact_result(quant_module_t *module, const quant_operation_t *operation)
{
    arc_module_t *base = &module->base;
    const size_t bytes = operation->count * operation->numbers->bytes;
    void *exact = malloc(bytes);
    uint64_t ok = NULL != exact;

    if (ARC_OK != arc_module_min(base, &ok, 1) || !ok) {
        free(exact);
        if (!module->skip_warned && 0 == ompi_comm_rank(base->comm)) {
            arc_module_log(base, ARC_LOG_WARN,
                           "a call is not verified: some rank has no memory for %zu bytes of "
                           "exact result. Nor will others be while that is so",
                           bytes);
        }
        module->skip_warned = true;
        return NULL;
    }
    /* The component below may call what is in the slot: us. */
    base->nested = true;
    const int status = base->below_allreduce(
        operation->send, exact, (int) operation->count, coll_quant_datatype(operation->numbers),
        &ompi_mpi_op_sum.op, base->comm, base->below_allreduce_module);
    base->nested = false;
    if (MPI_SUCCESS != status) {
        module->verify_status =
            arc_module_break(base, ARC_ERR_TRANSPORT, " in the exact sum that is to verify it");
        free(exact);
        return NULL;
    }
    return exact;
}

/* The maximum over the ranks of three numbers, none of them negative: their bits have their order.
 */
static ARC_MUST_CHECK arc_status_t agree_on_largest(quant_module_t *module,
                                                    quant_measure_t *measure)
{
    double *const fields[] = {&measure->mse, &measure->nmse, &measure->error};
    enum { FIELDS = sizeof fields / sizeof fields[0] };
    uint64_t bits[FIELDS];

    for (size_t i = 0; i < FIELDS; ++i) {
        memcpy(&bits[i], fields[i], sizeof bits[i]);
        bits[i] = ~bits[i];
    }
    const arc_status_t status = arc_module_min(&module->base, bits, FIELDS);
    for (size_t i = 0; i < FIELDS && ARC_OK == status; ++i) {
        bits[i] = ~bits[i];
        memcpy(fields[i], &bits[i], sizeof bits[i]);
    }
    return status;
}

/* No call of this communicator is quantized any more. */
static void retire(quant_module_t *module, double nmse)
{
    arc_module_t *base = &module->base;

    coll_quant_teardown(module);
    base->phase = ARC_PHASE_DECLINED;
    base->declined = ARC_REASON_ERROR_MEASURED;
    if (0 == ompi_comm_rank(base->comm)) {
        arc_module_log(base, ARC_LOG_WARN,
                       "not used any more: a verified call has a normalized mean square error of "
                       "%.3e, and coll_quant_max_nmse allows %.3e",
                       nmse, module->settings.max_nmse);
    }
}

static quant_measure_t measure(const quant_operation_t *operation, const void *exact)
{
    const arc_float_env_t of_program = arc_float_env_enter();
    const quant_measure_t found =
        &quant_doubles == operation->numbers
            ? quant_measure_doubles(operation->recv, exact, operation->count)
            : quant_measure(operation->recv, exact, operation->count);
    arc_float_env_leave(of_program);
    return found;
}

/* A comparison that does not depend on what the program does to denormals. */
static bool exceeds(double nmse, double max_nmse)
{
    const arc_float_env_t of_program = arc_float_env_enter();
    const bool result = max_nmse > 0 && nmse > max_nmse;
    arc_float_env_leave(of_program);
    return result;
}

static int judge(quant_module_t *module, const quant_operation_t *operation, const void *exact)
{
    quant_measure_t found = measure(operation, exact);
    const arc_status_t status = agree_on_largest(module, &found);

    if (ARC_OK != status) {
        return arc_module_break(&module->base, status, " in the agreement on its error");
    }
    coll_quant_known_measure(&found);
    if (exceeds(found.nmse, module->settings.max_nmse)) {
        memcpy(operation->recv, exact, operation->count * operation->numbers->bytes);
        retire(module, found.nmse);
    }
    return MPI_SUCCESS;
}

int coll_quant_verify(quant_module_t *module, const quant_operation_t *operation)
{
    module->verify_status = MPI_SUCCESS;
    void *exact = exact_result(module, operation);
    int status = module->verify_status;

    if (MPI_SUCCESS == status) {
        status = coll_quant_run(module, operation);
    }
    if (NULL != exact && MPI_SUCCESS == status) {
        status = judge(module, operation, exact);
    }
    free(exact);
    return status;
}
