/*
 * What a call says, and what becomes of it: one function decides, whatever the form of the call.
 *
 * Once the communicator is set up a nonblocking operation is the same task that a blocking call
 * runs.  All else is that call in a fiber (mca_request.h): set-ups, calls that are timed, vectors
 * that are packed, and between nodes 16-bit floats.
 * Whether a call is admitted follows from its type, operation and length, and from what the module
 * was when the last blocking call ended, which is the same on all ranks: `settled`.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "coll_lowlat_allreduce.h"
#include "coll_lowlat_choice.h"
#include "mca_entry.h"
#include "mca_presence.h"
#include "sizes.h"

/*
 * The algorithm for reductions that not all algorithms are for.  A function of the program
 * gets whole vectors: one block of one-shot, or one chunk with one owner in each node.
 * What rounds once is added in one go on a node; between nodes it travels as floats, or is to be
 * rounded by every exchange.
 */
static __attribute__((noinline)) unsigned choose_special(const lowlat_module_t *module,
                                                         const arc_reduction_t *reduction,
                                                         size_t bytes, unsigned algorithm)
{
    const lowlat_net_t *net = module->group.net;
    const size_t arena_limit = module->max_arena_bytes / LOWLAT_MIN_SLOTS;

    if (!reduction->packed) {
        return NULL != net || lowlat_algorithms[algorithm].reproducible ? algorithm
                                                                        : LOWLAT_ALGORITHM_TWOSHOT;
    }
    if (NULL == net) {
        return bytes <= arc_min(module->group.block_bytes, arena_limit) ? LOWLAT_ALGORITHM_ONESHOT
                                                                        : LOWLAT_PASS_DOWN;
    }
    /* Packed elements have no gaps, so ranks that are alone on their nodes stage nothing. */
    const size_t limit = net->single ? net->leader_bytes : arc_min(net->leader_bytes, arena_limit);
    const bool may_reorder = ompi_op_is_commute(reduction->op);
    return bytes <= limit && (may_reorder || module->topology.in_order) ? LOWLAT_ALGORITHM_DOUBLING
                                                                        : LOWLAT_PASS_DOWN;
}

/* The algorithm for a message of `bytes` bytes, or LOWLAT_PASS_DOWN, or LOWLAT_LEARNED. */
static inline unsigned choose_algorithm(const lowlat_module_t *module,
                                        const arc_reduction_t *reduction, size_t bytes)
{
    const unsigned algorithm = lowlat_map_lookup(&module->map, bytes);
    const bool special = reduction->packed || reduction->reducer.rounds_once;

    return OPAL_LIKELY(!special || LOWLAT_PASS_DOWN == algorithm)
               ? algorithm
               : choose_special(module, reduction, bytes, algorithm);
}

/* What the call is to the component; *bytes is set if that is ARC_REASON_NONE. */
static inline arc_reason_t read_call(mca_bridge_t *bridge, const arc_call_t *call,
                                     arc_reduction_t *reduction, size_t *bytes)
{
    if (OPAL_UNLIKELY(call->count <= 0)) {
        return ARC_REASON_EMPTY;
    }
    const arc_reason_t reason = mca_bridge_reduction(bridge, call->op, call->type, reduction);
    if (OPAL_UNLIKELY(ARC_REASON_NONE != reason)) {
        return reason;
    }
    /* First the element: its product with an int, or what memory can hold, is then no overflow. */
    if (OPAL_UNLIKELY(reduction->reducer.stride_bytes > LOWLAT_MAX_ELEMENT_BYTES)) {
        return ARC_REASON_TOO_LARGE;
    }
    *bytes = arc_reducer_span_bytes(&reduction->reducer, (size_t) call->count);
    return ARC_REASON_NONE;
}

/* Should there be more memory first?  What is learned is looked at again when it is chosen. */
static inline bool lacks_memory(const lowlat_module_t *module, unsigned algorithm, size_t bytes)
{
    return bytes > module->enough_bytes && LOWLAT_LEARNED != algorithm;
}

/*
 * Calls that the module is not ready for: agree on the configuration where it is not known to be
 * the same, set up at the first that is eligible, get more memory at the first that is
 * long.  All ranks make the same calls, so all are here together.  Returns the
 * verdict, and the algorithm that now counts.  Integers decide, whatever each one's program does
 * about floating point.
 */
static __attribute__((noinline, cold)) arc_reason_t prepare(lowlat_module_t *module,
                                                            arc_reason_t verdict,
                                                            const arc_reduction_t *reduction,
                                                            size_t bytes, unsigned *algorithm)
{
    arc_module_t *base = &module->base;

    if (ARC_PHASE_FRESH == base->phase) {
        arc_presence_agree(base);
    }
    if (ARC_PHASE_AGREED == base->phase && ARC_REASON_NONE == verdict) {
        coll_lowlat_setup(module, bytes);
    }
    if (ARC_PHASE_DECLINED == base->phase || ARC_PHASE_BROKEN == base->phase) {
        return base->declined;
    }
    if (ARC_REASON_NONE != verdict) {
        return verdict;
    }
    *algorithm = choose_algorithm(module, reduction, bytes);
    if (LOWLAT_PASS_DOWN != *algorithm && lacks_memory(module, *algorithm, bytes)) {
        coll_lowlat_grow(module, bytes);
        *algorithm = choose_algorithm(module, reduction, bytes);
    }
    return LOWLAT_PASS_DOWN == *algorithm ? ARC_REASON_TOO_LARGE : ARC_REASON_NONE;
}

/*
 * Nothing is set up yet: does that stay so?  Only calls that could be served count.  16-bit floats,
 * which a rank without the component adds as integers, are passed down only if none is.
 */
static bool is_young(lowlat_module_t *module, const arc_call_t *call, arc_reason_t verdict,
                     size_t bytes)
{
    arc_module_t *base = &module->base;

    return ARC_PHASE_FRESH == base->phase && ARC_PRESENCE_SAID != base->presence &&
           !(ARC_PRESENCE_UNKNOWN == base->presence &&
             mca_half_is(module->bridge.uint16, call->op, call->type)) &&
           (ARC_REASON_NONE != verdict || arc_module_is_young(base, bytes));
}

/* Between nodes, the lengths at which rules of the user pass down what is not blocking. */
static uint32_t find_below(const lowlat_module_t *module)
{
    return NULL == module->choice ? 0 : module->choice->below;
}

static bool is_below(uint32_t below, size_t bytes)
{
    return 0 != (below >> arc_select_class(bytes) & 1);
}

/* choose_algorithm() by what the module was when the last blocking call ended. */
static unsigned choose_settled(const lowlat_module_t *module, const arc_reduction_t *reduction,
                               size_t bytes)
{
    if (reduction->packed) {
        return bytes <= module->group.block_bytes ? LOWLAT_ALGORITHM_ONESHOT : LOWLAT_PASS_DOWN;
    }
    return lowlat_map_lookup(&module->settled.map, bytes);
}

/*
 * Why the call is passed down; ARC_REASON_NONE: *algorithm serves it.  The component below would
 * add 16-bit floats as integers, so they are served by whoever is asked first.  And a call that is
 * started is admitted where ranks may have other parameters: they find out when a call agrees, and
 * not from what each of them makes of its arguments.
 */
static inline __attribute__((always_inline)) arc_reason_t
decide(lowlat_module_t *module, const arc_call_t *call, arc_moment_t moment,
       arc_reduction_t *reduction, size_t *bytes, unsigned *algorithm)
{
    arc_module_t *base = &module->base;
    mca_bridge_t *bridge = &module->bridge;
    mca_bridge_t own;

    if (ARC_AT_START == moment) {
        /* Another thread, which runs an operation, may use that of the module meanwhile. */
        mca_bridge_init(&own, module->bridge.kernels, module->settled.uint16);
        bridge = &own;
        if (call->count > 0 && (module->settled.unknown ||
                                mca_half_is(module->settled.uint16, call->op, call->type))) {
            return ARC_REASON_NONE;
        }
        if (!base->unsettled && ARC_PHASE_DECLINED == base->phase) {
            return base->declined;
        }
    }
    arc_reason_t reason = read_call(bridge, call, reduction, bytes);
    if (OPAL_LIKELY(ARC_REASON_NONE == reason)) {
        *algorithm =
            (ARC_AT_START == moment ? choose_settled : choose_algorithm)(module, reduction, *bytes);
        reason = LOWLAT_PASS_DOWN == *algorithm ? ARC_REASON_TOO_LARGE : ARC_REASON_NONE;
    }
    if (ARC_AT_START == moment) {
        /* Who has the component may still be unknown, when it has made enough calls. */
        const bool unknown =
            ARC_PHASE_FRESH == base->phase && ARC_PRESENCE_UNKNOWN == base->presence;
        if (!base->unsettled && (is_young(module, call, reason, *bytes) || unknown)) {
            return ARC_REASON_NONE == reason ? ARC_REASON_YOUNG : reason;
        }
        return ARC_REASON_NONE == reason && is_below(module->settled.below, *bytes)
                   ? ARC_REASON_SLOWER
                   : reason;
    }
    if (OPAL_UNLIKELY(ARC_PHASE_READY != base->phase ||
                      (ARC_REASON_NONE == reason && lacks_memory(module, *algorithm, *bytes)))) {
        if (ARC_PHASE_BROKEN == base->phase) {
            return reason; /* which counts for nothing */
        }
        if (ARC_AT_RUN == moment && is_young(module, call, reason, *bytes)) {
            return ARC_REASON_NONE == reason ? ARC_REASON_YOUNG : reason;
        }
        reason = prepare(module, reason, reduction, *bytes, algorithm);
    }
    if (ARC_AT_INIT == moment && ARC_REASON_EMPTY != reason) {
        if (mca_half_is(module->bridge.uint16, call->op, call->type)) {
            return ARC_REASON_NONE;
        }
        return ARC_REASON_NONE == reason && is_below(find_below(module), *bytes) ? ARC_REASON_SLOWER
                                                                                 : reason;
    }
    return reason;
}

static inline void fill_task(lowlat_task_t *task, lowlat_module_t *module, const arc_call_t *call,
                             const arc_reduction_t *reduction)
{
    task->group = &module->group;
    task->reducer = &reduction->reducer;
    task->in = MPI_IN_PLACE == call->send ? call->receive : call->send;
    task->out = call->receive;
    task->count = (size_t) call->count;
    task->leader_bytes = module->net.leader_bytes;
    task->widened = NULL;
    task->flat = reduction->packed || reduction->reducer.rounds_once ||
                 (!module->group.levels.in_order && !ompi_op_is_commute(call->op));
}

/*
 * Is the blocking call like the last one for which the component below was chosen, and is that
 * choice still good?  What decide() and run_learned() would find, in less time, for programs that
 * gain nothing.
 */
static inline bool is_slower_again(lowlat_module_t *module, const arc_call_t *call)
{
    return NULL != module->slower.select && call->count == module->slower.count &&
           call->op == module->slower.op && call->type == module->slower.type &&
           ARC_FORM_BLOCKING == call->form && ARC_PHASE_READY == module->base.phase &&
           !module->base.unsettled &&
           arc_select_pick_again(module->slower.select, module->slower.chosen);
}

static inline int serve(arc_module_t *base, const arc_call_t *call)
{
    lowlat_module_t *module = (lowlat_module_t *) base;
    arc_reduction_t reduction;
    lowlat_task_t task;
    unsigned algorithm = LOWLAT_PASS_DOWN;

    if (is_slower_again(module, call)) {
        return coll_lowlat_pass_down(module, ARC_REASON_SLOWER, call);
    }
    arc_module_settle(base);
    const arc_reason_t reason =
        decide(module, call, ARC_AT_RUN, &reduction, &task.span_bytes, &algorithm);
    if (OPAL_UNLIKELY(ARC_PHASE_BROKEN == base->phase)) {
        return arc_module_broken_error();
    }
    if (OPAL_UNLIKELY(ARC_REASON_NONE != reason)) {
        return coll_lowlat_pass_down(module, reason, call);
    }
    fill_task(&task, module, call, &reduction);
    if (OPAL_UNLIKELY(reduction.reducer.rounds_once || reduction.packed ||
                      LOWLAT_LEARNED == algorithm)) {
        return coll_lowlat_run_special(module, call, algorithm, &task, &reduction);
    }
    const int result = coll_lowlat_run_task(module, call, algorithm, &task);
    return OPAL_LIKELY(MPI_SUCCESS == result) ? reduction.error : result;
}

int coll_lowlat_serve(arc_module_t *base, const arc_call_t *call)
{
    return serve(base, call);
}

/* ---- calls that are not blocking (mca_module.h) ---- */

void coll_lowlat_settled(arc_module_t *base)
{
    lowlat_module_t *module = (lowlat_module_t *) base;

    /* A look takes 15 us for each rank: not for communicators that are made for a few calls. */
    if (ARC_PHASE_FRESH == base->phase &&
        (base->calls_to_go <= 1 || ARC_TYPE_UINT16 != module->bridge.uint16)) {
        arc_presence_look(base);
    }
    module->settled.unknown = ARC_PHASE_FRESH == base->phase && ARC_PRESENCE_SAID == base->presence;
    module->settled.below = find_below(module);
    module->settled.map = module->map;
    module->settled.uint16 = module->bridge.uint16;
}

arc_reason_t coll_lowlat_decide(arc_module_t *base, arc_call_t *call, arc_moment_t moment)
{
    arc_reduction_t reduction;
    unsigned algorithm = LOWLAT_PASS_DOWN;
    size_t bytes = 0;

    return decide((lowlat_module_t *) base, call, moment, &reduction, &bytes, &algorithm);
}

arc_task_t *coll_lowlat_direct(arc_module_t *base, const arc_call_t *call)
{
    lowlat_module_t *module = (lowlat_module_t *) base;
    lowlat_task_t *task = &module->pending;
    const arc_reduction_t *reduction = &module->reduction;

    if (ARC_PHASE_READY != base->phase ||
        ARC_REASON_NONE !=
            read_call(&module->bridge, call, &module->reduction, &task->span_bytes)) {
        return NULL;
    }
    unsigned algorithm = choose_algorithm(module, reduction, task->span_bytes);
    if (reduction->packed || LOWLAT_PASS_DOWN == algorithm ||
        (reduction->reducer.rounds_once && NULL != module->group.net) ||
        task->span_bytes > module->enough_bytes ||
        module->until_look < coll_lowlat_look_calls(task->span_bytes)) {
        return NULL;
    }
    fill_task(task, module, call, reduction);
    if (LOWLAT_LEARNED == algorithm) {
        algorithm = coll_lowlat_take_learned(module, call, task);
    }
    if (LOWLAT_PASS_DOWN == algorithm) {
        return NULL;
    }
    lowlat_algorithms[algorithm].start(task);
    arc_module_count(base, call, algorithm, task->span_bytes);
    return &task->task;
}

ARC_DEFINE_SUM(allreduce, lowlat_module_t, serve)
const arc_entries_t coll_lowlat_entries = {ARC_ENTRIES(allreduce)};
