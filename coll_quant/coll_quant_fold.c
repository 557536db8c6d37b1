/*
 * hierarchical where the component below adds up on the nodes (mca_fold.h); elsewhere ranks
 * exchange messages on the node, too (exchange_hierarchical.c).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdlib.h>

#include "coll_quant.h"
#include "fiber.h"
#include "float_env.h"
#include "quant_codec.h"
#include "quant_pipeline.h"
#include "sizes.h"

static mca_fold_call_t call_of(const quant_module_t *module, const quant_operation_t *operation)
{
    return (mca_fold_call_t){
        .send = operation->send,
        .receive = operation->recv,
        .count = (int) operation->count,
        .type = coll_quant_datatype(operation->element),
        .message_bytes =
            quant_fold_message_elems(&module->config, module->stream.base.ranks, operation->count) *
            operation->element->bytes,
        .least_message_bytes =
            quant_tile_elems(module->config.block_rows) * operation->element->bytes,
    };
}

/* Memory for the exchange; this rank's. */
static bool make_exchange(quant_module_t *module)
{
    const unsigned ranks = module->stream.base.ranks;
    const size_t bytes = quant_fold_memory_bytes(&module->config, ranks) + EXCHANGE_ALIGN_BYTES - 1;

    module->fold.memory = malloc(bytes);
    if (NULL == module->fold.memory) {
        return false;
    }
    const uintptr_t aligned = arc_round_up((uintptr_t) module->fold.memory, EXCHANGE_ALIGN_BYTES);
    module->fold.exchange =
        quant_fold_init(&module->config, &module->stream.base, (void *) aligned);
    return true;
}

/* The module of the component below, for this one; this rank's. */
static bool open_below(quant_module_t *module)
{
    arc_module_t *below = mca_fold_below(&module->base);

    if (NULL != below) {
        module->fold.below = below->component->fold->open(below, &module->base, &arc_fibers_own);
    }
    return NULL != module->fold.below;
}

/* The ranks agree before they set up what is below, and after. */
static int look_below(quant_module_t *module, const mca_fold_call_t *call)
{
    uint64_t ok = open_below(module) && make_exchange(module);

    module->fold.looked = true;
    if (ARC_OK != arc_module_min(&module->base, &ok, 1)) {
        return arc_module_broken_error();
    }
    arc_module_t *below = module->fold.below;
    if (ok) {
        below->form = module->base.form; /* for what it says */
        const arc_status_t status = below->component->fold->prepare(below, &module->topology, call);
        ok = ARC_OK == status;
        if (ARC_OK != status && ARC_UNSUPPORTED != status) {
            return arc_module_break(&module->base, status,
                                    " where coll_lowlat is to add up on the nodes");
        }
        if (ARC_OK != arc_module_min(&module->base, &ok, 1)) {
            return arc_module_broken_error();
        }
    }
    if (ok) {
        arc_module_log(&module->base, ARC_LOG_CHOICE, "%s adds up on each node, in shared memory",
                       arc_component_name(below->component));
    } else {
        coll_quant_fold_release(module);
        module->fold.looked = true;
    }
    return MPI_SUCCESS;
}

/*
 * Is it for an operation?  Of more ranks than there can be memory for, none is: the same whether
 * there is a component for it or not.
 */
static bool takes(const quant_module_t *module, const quant_operation_t *operation)
{
    if (!quant_fold_takes(&module->config, operation) ||
        quant_pipeline_is_doubling(module->task, operation)) {
        return false;
    }
    const mca_fold_call_t call = call_of(module, operation);
    return mca_fold_arena_least(&call, module->stream.base.ranks) <= MCA_FOLD_ARENA_BYTES;
}

int coll_quant_fold_look(quant_module_t *module, const quant_operation_t *operation)
{
    bool folds = false;

    if (module->fold.looked || !takes(module, operation)) {
        return MPI_SUCCESS;
    }
    const mca_fold_call_t call = call_of(module, operation);
    const arc_float_env_t of_program = arc_float_env_enter();
    const int status = look_below(module, &call);
    arc_float_env_leave(of_program);
    return MPI_SUCCESS == status ? coll_quant_fold_check(module, operation, &folds) : status;
}

int coll_quant_fold_check(quant_module_t *module, const quant_operation_t *operation, bool *folds)
{
    arc_module_t *below = module->fold.below;

    *folds = false;
    if (NULL == below || !takes(module, operation)) {
        return MPI_SUCCESS;
    }
    const mca_fold_call_t call = call_of(module, operation);
    below->form = module->base.form;
    const arc_status_t status = below->component->fold->admit(below, &call);
    if (ARC_OK != status && ARC_UNSUPPORTED != status) {
        return arc_module_break(&module->base, status, " where coll_lowlat adds up on the nodes");
    }
    *folds = ARC_OK == status;
    return MPI_SUCCESS;
}

static int fail(quant_module_t *module, arc_status_t status)
{
    enum { TEXT_BYTES = 256 };
    arc_module_t *below = module->fold.below;
    char missing[TEXT_BYTES] = "";

    if (ARC_ERR_TIMEOUT == status) {
        below->component->fold->describe(below, missing, sizeof missing);
    }
    below->component->fold->fail(below);
    return arc_module_break(&module->base, status, missing);
}

int coll_quant_fold_run(quant_module_t *module, const quant_operation_t *operation)
{
    arc_module_t *below = module->fold.below;
    const mca_fold_ops_t *ops = below->component->fold;
    const mca_fold_call_t call = call_of(module, operation);
    arc_wait_t wait = *below->component->wait(below);

    wait.spins = 0; /* the progress function moves the messages, */
    wait.timeout_ns = module->wait.timeout_ns;
    exchange_fold_t *exchange = quant_fold_prepare(module->fold.exchange, operation);
    arc_status_t status = coll_quant_drive(&wait, ops->start(below, &call, exchange));
    if (ARC_OK == status) {
        module->bound = quant_fold_bound(module->fold.exchange);
        status = coll_quant_drive(&wait, ops->start_largest(below, &module->bound));
    }
    return ARC_OK == status ? MPI_SUCCESS : fail(module, status);
}

void coll_quant_fold_release(quant_module_t *module)
{
    arc_module_free(&module->base, module->fold.memory);
    if (NULL != module->fold.below) {
        OBJ_RELEASE(module->fold.below);
    }
    module->fold.memory = NULL;
    module->fold.exchange = NULL;
    module->fold.below = NULL;
    module->fold.looked = false;
}
