/*
 * Sums of a node for an exchange of the component above (mca_fold.h).
 *
 * The task is that of direct and ring between nodes (lowlat_pipe.c).  It runs in memory and with
 * agreements of a module that is in no slot: the program's own calls may be elsewhere meanwhile.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <string.h>

#include "coll_lowlat.h"
#include "coll_lowlat_fold.h"
#include "coll_lowlat_settled.h"
#include "float_env.h"
#include "lowlat_memory.h"
#include "lowlat_oneshot.h"
#include "sizes.h"

_Static_assert((int) MCA_FOLD_SLOTS >= (int) LOWLAT_MIN_SLOTS, "a pipeline needs so many chunks");

static size_t bytes_of(const mca_fold_call_t *call)
{
    size_t type_bytes = 0;

    (void) ompi_datatype_type_size(call->type, &type_bytes);
    return (size_t) call->count * type_bytes;
}

static arc_module_t *open_for(arc_module_t *below, arc_module_t *above, const arc_fibers_t *fibers)
{
    arc_module_t *base = arc_module_new(below->component, below->comm);

    if (NULL != base) {
        base->params_known = below->params_known;
        base->agreement_tag = above->agreement_tag; /* who is above agrees before or after us */
        base->timeout = above->timeout;
        base->component->enabled(base);
        ((lowlat_module_t *) base)->for_above = true;
        arc_fiber_join(fibers);
    }
    return base;
}

/* Of all nodes, which have equally many. */
static unsigned ranks_of(const lowlat_module_t *module)
{
    return (unsigned) ompi_comm_size(module->base.comm);
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

static arc_status_t prepare(arc_module_t *base, const arc_topology_t *topology,
                            const mca_fold_call_t *call)
{
    lowlat_module_t *module = (lowlat_module_t *) base;

    arc_module_agree_on_params(base);
    if (ARC_PHASE_AGREED == base->phase) {
        module->folded_arena_bytes = arena_for(module, call);
        coll_lowlat_setup_for_above(module, topology, module->folded_arena_bytes);
    }
    if (ARC_PHASE_BROKEN == base->phase) {
        return ARC_ERR_TRANSPORT;
    }
    return ARC_PHASE_READY == base->phase ? ARC_OK : ARC_UNSUPPORTED;
}

/* Will memory have to grow for the call?  What was not granted is not asked for again. */
static bool has_to_grow(const lowlat_module_t *module, const mca_fold_call_t *call)
{
    const size_t arena_bytes = arena_for(module, call);

    return ARC_PHASE_READY == module->base.phase && arena_bytes > module->folded_arena_bytes &&
           arena_bytes > module->group.arena_bytes;
}

static arc_status_t admit(arc_module_t *base, const mca_fold_call_t *call)
{
    lowlat_module_t *module = (lowlat_module_t *) base;

    if (has_to_grow(module, call)) {
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
    task->leader_bytes = module->net.leader_bytes;
    task->widened = NULL;
}

static arc_task_t *start(arc_module_t *base, const mca_fold_call_t *call, exchange_fold_t *fold)
{
    lowlat_module_t *module = (lowlat_module_t *) base;

    begin_task(module, call->send, call->receive, (size_t) call->count, &ompi_mpi_op_sum.op,
               call->type);
    lowlat_fold_start(&module->pending, &module->folded, fold);
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

    mca_share_describe_missing(&module->topology, &module->pending, text, text_bytes);
}

static void fail(arc_module_t *base)
{
    arc_task_abort(&((lowlat_module_t *) base)->pending.task);
    base->phase = ARC_PHASE_BROKEN; /* who called us says so */
}

const mca_fold_ops_t coll_lowlat_fold_ops = {
    .open = open_for,
    .prepare = prepare,
    .admit = admit,
    .start = start,
    .start_largest = start_largest,
    .describe = describe,
    .fail = fail,
};
