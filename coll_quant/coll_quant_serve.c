/*
 * A call that is served.  16-bit floats are widened a segment at a time where they are quantized
 * (quant_coder.c); all at once where they are verified, which takes the vector again.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdlib.h>

#include "coll_quant_fold.h"
#include "float_env.h"
#include "quant_pipeline.h"

static int run(quant_module_t *module, quant_call_t *call, bool verified)
{
    const quant_operation_t *operation = &call->operation;
    const size_t elems = coll_quant_blocks(module, operation->collective) * operation->count;
    const int status = coll_quant_fold_look(module, operation);

    if (MPI_SUCCESS != status) {
        return status;
    }
    call->operation.sequence = ++module->sequence;
    ++module->calls[operation->collective];
    arc_module_count_served(&module->base, call->said,
                            quant_pipeline_is_doubling(module->task, operation) ? QUANT_ALGOS
                                                                                : module->algo,
                            elems * operation->element->bytes);
    return verified ? coll_quant_verify(module, call) : coll_quant_run_and_note(module, call);
}

/* What is sent, and behind it the result; the same place if both are as long. */
typedef struct widened {
    size_t sent; /* numbers */
    size_t received;
    float *floats; /* NULL: some rank has no memory */
} widened_t;

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
        return arc_module_broken_error();
    }
    if (!ok) {
        coll_quant_warn_unverified(module, bytes);
    }
    return MPI_SUCCESS;
}

/* The call with all of it as floats, which are its vector. */
static int verify_widened(quant_module_t *module, quant_call_t *call, const widened_t *widened)
{
    const quant_storage_t *storage = call->operation.storage;
    void *result = call->operation.recv;
    void *received = widened->floats + (widened->sent == widened->received ? 0 : widened->sent);

    arc_float_env_t of_program = arc_float_env_enter();
    storage->widen(call->operation.send, widened->floats, widened->sent);
    arc_float_env_leave(of_program);
    call->operation.storage = NULL;
    call->operation.send = widened->floats;
    call->operation.recv = received;
    const int status = run(module, call, true);
    if (MPI_SUCCESS == status) {
        of_program = arc_float_env_enter();
        quant_storage_clamp(storage, module->config.kernels, call->bound, received,
                            widened->received);
        storage->narrow(received, result, widened->received);
        arc_float_env_leave(of_program);
    }
    return status;
}

int coll_quant_run_call(quant_module_t *module, quant_call_t *call)
{
    const unsigned every = (unsigned) module->settings.verify_every;
    const bool verified =
        0 != every && 0 == (module->calls[call->operation.collective] + 1) % every;
    widened_t widened = {.floats = NULL};

    if (!verified || NULL == call->operation.storage) {
        return run(module, call, verified);
    }
    int status = agree_to_widen(module, &call->operation, &widened);
    if (MPI_SUCCESS == status) {
        status = NULL == widened.floats ? run(module, call, false)
                                        : verify_widened(module, call, &widened);
    }
    arc_module_free(&module->base, widened.floats);
    return status;
}
