/*
 * Calls of 16-bit floats that are served: widened a segment at a time where they are quantized
 * (quant_coder.c); all at once where they are verified, which takes the vector again.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdlib.h>

#include "coll_quant.h"
#include "float_env.h"

/* What is sent, and behind it the result; the same place if both are as long. */
typedef struct widened {
    size_t sent; /* numbers */
    size_t received;
    float *floats; /* NULL: some rank has no memory */
} widened_t;

static float *result_of(const widened_t *widened)
{
    return widened->floats + (widened->sent == widened->received ? 0 : widened->sent);
}

/* Memory on all ranks or on none, which is said once.  An MPI error code. */
static int agree_to_widen(quant_module_t *module, const quant_operation_t *operation,
                          widened_t *widened)
{
    const size_t sent = coll_quant_blocks_sent(module, operation->collective) * operation->count;
    const size_t received =
        coll_quant_blocks_received(module, operation->collective) * operation->count;
    const size_t bytes = (sent == received ? sent : sent + received) * sizeof(float);
    float *memory = malloc(bytes + 1);
    uint64_t ok = NULL != memory;
    const arc_status_t status = arc_module_min(&module->base, &ok, 1);

    if (ARC_OK != status || !ok) {
        free(memory);
        memory = NULL;
    }
    *widened = (widened_t){.sent = sent, .received = received, .floats = memory};
    if (ARC_OK != status) {
        return arc_module_break_call(&module->base, coll_quant_slot(operation->collective), status,
                                     " in an agreement on memory to verify it");
    }
    if (!ok) {
        coll_quant_warn_unverified(module, bytes);
    }
    return MPI_SUCCESS;
}

/* What `operation` is with all of it as floats, which are its vector. */
static int verify_widened(quant_module_t *module, const quant_operation_t *operation,
                          const widened_t *widened)
{
    const quant_storage_t *storage = operation->storage;
    quant_operation_t of_floats = *operation;

    of_floats.storage = NULL;
    of_floats.send = widened->floats;
    of_floats.recv = result_of(widened);
    arc_float_env_t of_program = arc_float_env_enter();
    storage->widen(operation->send, widened->floats, widened->sent);
    arc_float_env_leave(of_program);
    const int status = coll_quant_run_call(module, &of_floats, true);
    if (MPI_SUCCESS == status) {
        of_program = arc_float_env_enter();
        quant_storage_clamp(storage, module->config.kernels, module->bound, of_floats.recv,
                            widened->received);
        storage->narrow(of_floats.recv, operation->recv, widened->received);
        arc_float_env_leave(of_program);
    }
    return status;
}

int coll_quant_run_halves(quant_module_t *module, const quant_operation_t *operation)
{
    widened_t widened = {.floats = NULL};

    if (coll_quant_is_verified_next(module, operation->collective)) {
        const int status = agree_to_widen(module, operation, &widened);
        if (MPI_SUCCESS != status) {
            return status;
        }
    }
    if (NULL == widened.floats) {
        return coll_quant_run_call(module, operation, false);
    }
    const int status = verify_widened(module, operation, &widened);
    arc_module_free(&module->base, widened.floats);
    return status;
}
