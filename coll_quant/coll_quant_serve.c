/*
 * A call that is served.  16-bit floats are widened a segment at a time where they are quantized
 * (quant_coder.c); all at once where they are verified, which takes the vector again.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "coll_quant_call.h"
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

/* All of the call as floats: what is sent, and behind it the result, or in its place. */
static int verify_halves(quant_module_t *module, quant_call_t *call)
{
    quant_operation_t *operation = &call->operation;
    const quant_storage_t *storage = operation->storage;
    const size_t sent = coll_quant_blocks_sent(module, operation->collective) * operation->count;
    const size_t received =
        coll_quant_blocks_received(module, operation->collective) * operation->count;
    const size_t result_at = sent == received ? 0 : sent;
    void *halves = operation->recv;
    void *memory = NULL;

    int status = coll_quant_get_memory(module, (result_at + received) * sizeof(float), &memory);
    float *floats = memory;
    if (MPI_SUCCESS != status || NULL == floats) {
        return MPI_SUCCESS != status ? status : run(module, call, false);
    }
    arc_float_env_t of_program = arc_float_env_enter();
    storage->widen(operation->send, floats, sent);
    arc_float_env_leave(of_program);
    operation->storage = NULL;
    operation->send = floats;
    operation->recv = floats + result_at;
    status = run(module, call, true);
    if (MPI_SUCCESS == status) {
        of_program = arc_float_env_enter();
        quant_storage_clamp(storage, module->config.kernels, call->bound, floats + result_at,
                            received);
        storage->narrow(floats + result_at, halves, received);
        arc_float_env_leave(of_program);
    }
    arc_module_free(&module->base, floats);
    return status;
}

int coll_quant_run_call(quant_module_t *module, quant_call_t *call)
{
    const unsigned every = (unsigned) module->settings.verify_every;
    const bool verified =
        0 != every && 0 == (module->calls[call->operation.collective] + 1) % every;

    return verified && NULL != call->operation.storage ? verify_halves(module, call)
                                                       : run(module, call, verified);
}
