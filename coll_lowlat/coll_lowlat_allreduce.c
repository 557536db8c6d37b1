/*
 * MPI_Allreduce of coll_lowlat: check the call; run it or pass it down.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>

#include "coll_lowlat_choice.h"
#include "coll_lowlat_net.h"
#include "float_env.h"
#include "lowlat_memory.h"
#include "lowlat_turn.h"
#include "mca_below.h"
#include "mca_entry.h"
#include "mca_half.h"
#include "sizes.h"

/* So many bytes of 16-bit floats for each node go as floats; longer ones straight to owners. */
enum { DIRECT_NODE_BYTES = 2 << 10 };

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
    /* The 31 bits are those of Open MPI's packing. */
    const size_t arena_limit = arc_min(INT32_MAX, module->max_arena_bytes / LOWLAT_MIN_SLOTS);

    if (!reduction->packed) {
        return NULL != net || lowlat_algorithms[algorithm].reproducible ? algorithm
                                                                        : LOWLAT_ALGORITHM_TWOSHOT;
    }
    if (NULL == net) {
        return bytes <= arc_min(module->group.block_bytes, arena_limit) ? LOWLAT_ALGORITHM_ONESHOT
                                                                        : LOWLAT_PASS_DOWN;
    }
    const size_t one_owner_bytes = 1 == net->owners ? SIZE_MAX : net->leader_bytes;
    const size_t limit = arc_min(arena_limit, arc_min(one_owner_bytes, net->chunk_bytes));
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

unsigned coll_lowlat_choose(const lowlat_module_t *module, const arc_reduction_t *reduction,
                            size_t bytes)
{
    return choose_algorithm(module, reduction, bytes);
}

/*
 * Calls that the module is not ready for: agree on the configuration where it is not known to be
 * the same, set up at the first that is eligible, get more memory at the first that is
 * long.  All ranks make the same calls, so all are here together.  Returns the
 * verdict, and the algorithm that now counts.
 */
static arc_reason_t prepare_call(lowlat_module_t *module, arc_reason_t verdict,
                                 const arc_reduction_t *reduction, size_t bytes,
                                 unsigned *algorithm)
{
    arc_module_t *base = &module->base;

    if (ARC_PHASE_FRESH == base->phase) {
        arc_module_agree_on_params(base);
        if (ARC_PHASE_DECLINED == base->phase) {
            /* Perhaps not all ranks take them for floats: then nobody must. */
            mca_bridge_init(&module->bridge, module->bridge.kernels, ARC_TYPE_UINT16);
        }
    }
    if (ARC_PHASE_AGREED == base->phase && ARC_REASON_NONE == verdict) {
        coll_lowlat_setup(module, *algorithm, bytes);
    }
    if (ARC_PHASE_DECLINED == base->phase || ARC_PHASE_BROKEN == base->phase) {
        return base->declined;
    }
    if (ARC_REASON_NONE != verdict) {
        return verdict;
    }
    *algorithm = choose_algorithm(module, reduction, bytes);
    if (LOWLAT_PASS_DOWN != *algorithm && bytes > module->enough_bytes[*algorithm]) {
        coll_lowlat_grow(module, *algorithm, bytes);
        *algorithm = choose_algorithm(module, reduction, bytes);
    }
    return LOWLAT_PASS_DOWN == *algorithm ? ARC_REASON_TOO_LARGE : ARC_REASON_NONE;
}

/* What all ranks decide alike must not follow how each one's program rounds, or traps. */
__attribute__((noinline, cold)) arc_reason_t coll_lowlat_prepare(lowlat_module_t *module,
                                                                 arc_reason_t verdict,
                                                                 const arc_reduction_t *reduction,
                                                                 size_t bytes, unsigned *algorithm)
{
    const arc_float_env_t of_program = arc_float_env_enter();
    const arc_reason_t now = prepare_call(module, verdict, reduction, bytes, algorithm);
    arc_float_env_leave(of_program);
    return now;
}

__attribute__((noinline, cold)) int coll_lowlat_fail(lowlat_module_t *module, arc_form_t form,
                                                     lowlat_task_t *task, arc_status_t status)
{
    enum { TEXT_BYTES = 256 };
    char missing[TEXT_BYTES] = "";

    const unsigned lost = lowlat_net_lost(module);
    if (lost < (unsigned) ompi_comm_size(module->base.comm)) {
        (void) snprintf(missing, sizeof missing, "; the connection to rank %u is broken", lost);
    } else if (ARC_ERR_TIMEOUT == status) {
        mca_share_describe_missing(&module->topology, task, missing, sizeof missing);
    }
    if (ARC_ERR_TIMEOUT == status) {
        arc_task_abort(&task->task);
    }
    return arc_module_break(&module->base, arc_slot_of_form(ARC_SLOT_allreduce, form), status,
                            missing);
}

static inline int run_task(lowlat_module_t *module, const arc_call_t *call, unsigned algorithm,
                           lowlat_task_t *task)
{
    lowlat_algorithms[algorithm].start(task);
    /* While what was published is on its way. */
    arc_module_count_served(&module->base, call, algorithm, task->span_bytes);
    arc_status_t status = arc_wait_run(&module->wait, &task->task);

    if (OPAL_UNLIKELY(ARC_OK != status)) {
        return coll_lowlat_fail(module, call->form, task, status);
    }
    module->until_look -= coll_lowlat_look_calls(task->span_bytes);
    return OPAL_LIKELY(module->until_look >= 0) ? MPI_SUCCESS : coll_lowlat_look(module);
}

/* Elements with gaps: the operation itself runs on packed vectors, in place. */
static __attribute__((noinline)) int run_packed(lowlat_module_t *module, const arc_call_t *call,
                                                unsigned algorithm, lowlat_task_t *task,
                                                arc_reduction_t *reduction)
{
    void *receive = task->out;

    /*
     * The other ranks do not know what this one lacks: without it they wait until their time
     * limit, if any.  On one node it can come without reducing, everybody does that for itself.
     */
    arc_status_t status = mca_bridge_pack(reduction, task->in, task->count);
    if (ARC_OK == status && NULL == reduction->typed[0] && NULL != module->group.net) {
        mca_bridge_discard(reduction);
        status = ARC_ERR_NO_MEMORY;
    }
    if (ARC_OK != status) {
        return arc_module_break(&module->base, arc_call_slot(call), status, "");
    }
    task->in = reduction->vector;
    task->out = reduction->vector;
    int result = run_task(module, call, algorithm, task);
    if (MPI_SUCCESS == result) {
        return mca_bridge_unpack(reduction, receive, task->count);
    }
    mca_bridge_discard(reduction);
    return result;
}

/* Down to the next component, which takes 16-bit floats for integers. */
static __attribute__((noinline)) int pass_down(lowlat_module_t *module, arc_reason_t reason,
                                               const arc_call_t *call)
{
    arc_module_t *base = &module->base;

    if (mca_half_is(module->bridge.uint16, call->op, call->type)) {
        arc_module_count_pass(base, reason, call);
        return mca_half_call(base, module->bridge.uint16, call, arc_below_call);
    }
    return arc_module_pass(base, reason, call);
}

bool coll_lowlat_is_young(lowlat_module_t *module, arc_reason_t verdict, size_t bytes)
{
    arc_module_t *base = &module->base;

    return ARC_PHASE_FRESH == base->phase && base->params_known &&
           (ARC_REASON_NONE != verdict || arc_module_is_young(base, bytes));
}

/* More memory for this message and those to come; all ranks are here together. */
static __attribute__((noinline, cold)) void grow(lowlat_module_t *module, unsigned algorithm,
                                                 size_t bytes)
{
    const arc_float_env_t of_program = arc_float_env_enter();
    coll_lowlat_grow(module, algorithm, bytes);
    arc_float_env_leave(of_program);
}

static int run_candidate(lowlat_module_t *module, unsigned number, const arc_call_t *call,
                         lowlat_task_t *task, int error)
{
    const lowlat_candidate_t candidate = module->choice->list.candidate[number];

    if (LOWLAT_PASS_DOWN == candidate.algorithm) {
        return pass_down(module, ARC_REASON_SLOWER, call);
    }
    if (OPAL_UNLIKELY(task->span_bytes > module->enough_bytes[candidate.algorithm])) {
        /* Once, so that the next length finds it. */
        const size_t chunk_bytes = module->net.chunk_bytes;
        grow(module, candidate.algorithm,
             task->span_bytes > chunk_bytes ? task->span_bytes : chunk_bytes);
        if (ARC_PHASE_BROKEN == module->base.phase) {
            return arc_module_broken_error();
        }
    }
    task->leader_bytes = candidate.leaders ? SIZE_MAX : 0;
    const int result = run_task(module, call, candidate.algorithm, task);
    return OPAL_LIKELY(MPI_SUCCESS == result) ? error : result;
}

/* A call that is timed; after the last one of a round the ranks agree on the times. */
static __attribute__((noinline, cold)) int run_timed(lowlat_module_t *module, unsigned class,
                                                     unsigned number, const arc_call_t *call,
                                                     lowlat_task_t *task, int error)
{
    const size_t bytes = task->span_bytes;
    const uint64_t begin_ns = (uint64_t) arc_now_ns();
    const int result = run_candidate(module, number, call, task, error);
    uint64_t took_ns = (uint64_t) arc_now_ns() - begin_ns;

    if (ARC_PHASE_READY != module->base.phase) {
        return result;
    }
    /* The last class has all lengths beyond its own: as if of this one. */
    if (bytes > arc_select_class_bytes(class) && ARC_SELECT_CLASSES - 1 == class) {
        took_ns = took_ns * arc_select_class_bytes(class) / bytes;
    }
    if (arc_select_note(&module->choice->select[class], begin_ns, begin_ns + took_ns)) {
        coll_lowlat_choice_agree(module, class);
    }
    return ARC_PHASE_BROKEN == module->base.phase ? arc_module_broken_error() : result;
}

/* Between nodes: by the candidate that is chosen, or is to be tried. */
static __attribute__((noinline)) int run_learned(lowlat_module_t *module, const arc_call_t *call,
                                                 lowlat_task_t *task, int error)
{
    const unsigned class = arc_select_class(task->span_bytes);
    bool timed = false;

    if (OPAL_UNLIKELY(ARC_FORM_BLOCKING != call->form)) {
        return run_candidate(module, coll_lowlat_choice_served(module, class), call, task, error);
    }
    const unsigned number = arc_select_pick(&module->choice->select[class], &timed);

    return OPAL_LIKELY(!timed) ? run_candidate(module, number, call, task, error)
                               : run_timed(module, class, number, call, task, error);
}

/*
 * Would exchanges between nodes round partial sums of 16-bit floats, and nobody wants that?  Two
 * nodes of a rank each have no partial sums.
 */
static __attribute__((noinline)) bool exchanges_round(const lowlat_module_t *module,
                                                      const struct ompi_op_t *op,
                                                      const struct ompi_datatype_t *type)
{
    const lowlat_net_t *net = module->group.net;

    return NULL != net && !(net->single && 2 == net->nodes) &&
           !mca_coll_lowlat_component.config.nodes_16bit &&
           ARC_TYPE_UINT16 != mca_half_of(module->bridge.uint16, op, type);
}

/*
 * Such a call, rounded once.  Where no node has two ranks, direct does so with 16-bit floats on the
 * wire: for longer messages, which fewer bytes are worth more messages.  Otherwise all travels as
 * floats.
 */
static __attribute__((noinline)) int run_widened(lowlat_module_t *module, unsigned algorithm,
                                                 const arc_call_t *call, lowlat_task_t *task)
{
    const lowlat_net_t *net = module->group.net;
    const arc_type_t half = mca_half_of(module->bridge.uint16, call->op, call->type);
    const bool is_direct =
        LOWLAT_ALGORITHM_DIRECT == algorithm ||
        (LOWLAT_LEARNED == algorithm && task->span_bytes / net->nodes > DIRECT_NODE_BYTES);

    if (is_direct && net->single && net->nodes <= LOWLAT_ORDER_NODES &&
        OMPI_OP_SUM == call->op->op_type) {
        const lowlat_widened_t widened = {
            arc_half_select(half, arc_cpu_isa(ARC_ISA_BEST)),
            arc_reduce_kernel(module->bridge.kernels, ARC_OP_SUM, ARC_TYPE_FLOAT)};
        task->widened = &widened;
        return run_task(module, call, LOWLAT_ALGORITHM_DIRECT, task);
    }
    return mca_half_call(&module->base, half, call, coll_lowlat_serve);
}

static inline int serve(arc_module_t *base, const arc_call_t *call)
{
    lowlat_module_t *module = (lowlat_module_t *) base;
    arc_reduction_t reduction;
    lowlat_task_t task;
    unsigned algorithm = LOWLAT_PASS_DOWN;
    arc_reason_t verdict = ARC_REASON_EMPTY;

    arc_module_settle(base);
    if (OPAL_LIKELY(call->count > 0)) {
        verdict = mca_bridge_reduction(&module->bridge, call->op, call->type, &reduction);
    }
    if (OPAL_LIKELY(ARC_REASON_NONE == verdict)) {
        /* First the element: its product with an int is then no overflow. */
        if (OPAL_LIKELY(reduction.reducer.stride_bytes <= LOWLAT_MAX_ELEMENT_BYTES)) {
            task.span_bytes = arc_reducer_span_bytes(&reduction.reducer, (size_t) call->count);
            algorithm = choose_algorithm(module, &reduction, task.span_bytes);
        }
        if (LOWLAT_PASS_DOWN == algorithm) {
            verdict = ARC_REASON_TOO_LARGE;
        }
    }
    if (OPAL_UNLIKELY(
            ARC_PHASE_READY != module->base.phase ||
            (ARC_REASON_NONE == verdict && task.span_bytes > module->enough_bytes[algorithm]))) {
        if (ARC_PHASE_BROKEN == module->base.phase) {
            return arc_module_broken_error();
        }
        if (coll_lowlat_is_young(module, verdict, task.span_bytes)) {
            const arc_reason_t reason = ARC_REASON_NONE == verdict ? ARC_REASON_YOUNG : verdict;
            return pass_down(module, reason, call);
        }
        verdict = coll_lowlat_prepare(module, verdict, &reduction, task.span_bytes, &algorithm);
        if (ARC_PHASE_BROKEN == module->base.phase) {
            return arc_module_broken_error();
        }
    }
    if (OPAL_UNLIKELY(ARC_REASON_NONE != verdict)) {
        return pass_down(module, verdict, call);
    }

    task.group = &module->group;
    task.reducer = &reduction.reducer;
    task.in = MPI_IN_PLACE == call->send ? call->receive : call->send;
    task.out = call->receive;
    task.count = (size_t) call->count;
    task.leader_bytes = module->net.leader_bytes;
    task.widened = NULL;
    if (OPAL_UNLIKELY(reduction.reducer.rounds_once &&
                      exchanges_round(module, call->op, call->type))) {
        return run_widened(module, algorithm, call, &task);
    }
    if (OPAL_UNLIKELY(reduction.packed)) {
        return run_packed(module, call, algorithm, &task, &reduction);
    }
    if (LOWLAT_LEARNED == algorithm) {
        return run_learned(module, call, &task, reduction.error);
    }
    const int result = run_task(module, call, algorithm, &task);
    return OPAL_LIKELY(MPI_SUCCESS == result) ? reduction.error : result;
}

int coll_lowlat_serve(arc_module_t *base, const arc_call_t *call)
{
    return serve(base, call);
}

ARC_DEFINE_SUM(allreduce, lowlat_module_t, serve)
const arc_entries_t coll_lowlat_entries = {ARC_ENTRIES(allreduce)};
