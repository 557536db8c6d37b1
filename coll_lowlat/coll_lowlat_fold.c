/*
 * Sums of a node for an exchange of the component above (mca_fold.h).
 *
 * The task is that of direct and ring between nodes (lowlat_pipe.c), in the memory of the module,
 * so that calls of the program and of the component above take turns with it.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <string.h>

#include "coll_lowlat.h"
#include "coll_lowlat_fold.h"
#include "coll_lowlat_settled.h"
#include "float_env.h"
#include "lowlat_hierarchical.h"
#include "lowlat_memory.h"
#include "lowlat_oneshot.h"
#include "mca_request.h"
#include "sizes.h"

_Static_assert((int) MCA_FOLD_SLOTS >= (int) LOWLAT_MIN_SLOTS, "a pipeline needs so many chunks");

static bool is_same(const arc_topology_t *own, const arc_topology_t *other)
{
    return own->nodes == other->nodes && own->local_ranks == other->local_ranks &&
           own->local_rank == other->local_rank && own->owners == own->largest &&
           0 == memcmp(own->peers, other->peers, own->nodes * sizeof *own->peers);
}

static size_t bytes_of(const mca_fold_call_t *call)
{
    size_t type_bytes = 0;

    (void) ompi_datatype_type_size(call->type, &type_bytes);
    return (size_t) call->count * type_bytes;
}

static arc_status_t prepare(arc_module_t *base, const arc_topology_t *topology,
                            const mca_fold_call_t *call)
{
    lowlat_module_t *module = (lowlat_module_t *) base;
    unsigned algorithm = LOWLAT_ALGORITHM_TWOSHOT;

    arc_module_settle(base);
    if (ARC_PHASE_READY != base->phase && ARC_PHASE_BROKEN != base->phase &&
        ARC_REASON_NONE == mca_bridge_reduction(&module->bridge, &ompi_mpi_op_sum.op, call->type,
                                                &module->reduction)) {
        (void) coll_lowlat_prepare(module, ARC_REASON_NONE, &module->reduction, bytes_of(call),
                                   &algorithm);
    }
    if (ARC_PHASE_BROKEN == base->phase) {
        return ARC_ERR_TRANSPORT;
    }
    return ARC_PHASE_READY == base->phase && NULL != module->group.net &&
                   is_same(&module->topology, topology)
               ? ARC_OK
               : ARC_UNSUPPORTED;
}

static unsigned ranks_of(const lowlat_module_t *module)
{
    return module->net.owners * module->net.nodes;
}

/*
 * Arenas for chunks of a message for each rank; doubled, so that they grow seldom.  Never less than
 * what admits the call: whether it is admitted must not depend on the calls before.
 */
static size_t arena_for(const lowlat_module_t *module, const mca_fold_call_t *call)
{
    const size_t chunk_bytes = arc_min(bytes_of(call), call->message_bytes * ranks_of(module));
    const size_t wish_bytes = arc_min(LOWLAT_SLOTS * chunk_bytes, MCA_FOLD_ARENA_BYTES);
    const size_t least_bytes = mca_fold_arena_least(call, ranks_of(module));
    size_t arena_bytes = LOWLAT_MIN_ARENA_BYTES;

    while (arena_bytes < wish_bytes || arena_bytes < least_bytes) {
        arena_bytes *= 2;
    }
    return arena_bytes;
}

/* What was not granted is not asked for again. */
static bool grows(arc_module_t *base, const mca_fold_call_t *call)
{
    lowlat_module_t *module = (lowlat_module_t *) base;

    arc_module_settle(base); /* what is pending may make it grow, too */
    const size_t arena_bytes = arena_for(module, call);
    return ARC_PHASE_READY == base->phase && arena_bytes > module->folded_arena_bytes &&
           arena_bytes > module->group.arena_bytes;
}

static arc_status_t admit(arc_module_t *base, const mca_fold_call_t *call)
{
    lowlat_module_t *module = (lowlat_module_t *) base;

    if (grows(base, call)) {
        const arc_float_env_t of_program = arc_float_env_enter();
        module->folded_arena_bytes = arena_for(module, call);
        coll_lowlat_grow_arena(module, module->folded_arena_bytes);
        arc_float_env_leave(of_program);
    }
    if (ARC_PHASE_READY != base->phase) {
        return ARC_ERR_TRANSPORT;
    }
    return mca_fold_arena_least(call, ranks_of(module)) <= module->group.arena_bytes
               ? ARC_OK
               : ARC_UNSUPPORTED;
}

static void begin_task(lowlat_module_t *module, const void *in, void *out, size_t count,
                       struct ompi_op_t *op, struct ompi_datatype_t *type)
{
    lowlat_task_t *task = &module->pending;

    /* Sums and maxima of floats and doubles are among those that we have. */
    (void) mca_bridge_reduction(&module->bridge, op, type, &module->reduction);
    task->group = &module->group;
    task->reducer = &module->reduction.reducer;
    task->in = in;
    task->out = out;
    task->count = count;
    task->span_bytes = arc_reducer_span_bytes(task->reducer, count);
    task->widened = NULL;
    task->reduced = 0; /* who is awaited: by no exchange of a schedule */
    task->exchanged = 0;
}

static arc_task_t *start(arc_module_t *base, const mca_fold_call_t *call, exchange_fold_t *fold)
{
    lowlat_module_t *module = (lowlat_module_t *) base;

    begin_task(module, call->send, call->receive, (size_t) call->count, &ompi_mpi_op_sum.op,
               call->type);
    lowlat_fold_start(&module->pending, &module->folded, fold);
    module->until_look -= coll_lowlat_look_calls(module->pending.span_bytes);
    return &module->pending.task;
}

static arc_task_t *start_largest(arc_module_t *base, float *value)
{
    lowlat_module_t *module = (lowlat_module_t *) base;

    begin_task(module, value, value, 1, &ompi_mpi_op_max.op, &ompi_mpi_float.dt);
    lowlat_oneshot_start(&module->pending);
    return &module->pending.task;
}

static void describe(const arc_module_t *base, char *text, size_t text_bytes)
{
    const lowlat_module_t *module = (const lowlat_module_t *) base;

    coll_lowlat_describe_missing(module, &module->pending, text, text_bytes);
}

static int end(arc_module_t *base, arc_status_t status)
{
    lowlat_module_t *module = (lowlat_module_t *) base;

    if (ARC_OK != status) {
        lowlat_hierarchical_abort(&module->pending);
        base->phase = ARC_PHASE_BROKEN; /* who called us says so */
    }
    lowlat_fold_end(&module->pending);
    if (ARC_OK != status) {
        return arc_module_broken_error();
    }
    return module->until_look >= 0 ? MPI_SUCCESS : coll_lowlat_look(module);
}

const mca_fold_ops_t coll_lowlat_fold_ops = {
    .prepare = prepare,
    .grows = grows,
    .admit = admit,
    .start = start,
    .start_largest = start_largest,
    .describe = describe,
    .end = end,
};
