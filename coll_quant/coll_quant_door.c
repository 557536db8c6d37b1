/*
 * What a call of the program says, and what becomes of it: one function decides, whatever the form
 * of the call.
 *
 * Which allgathers are served, and why none in place is: docs/algorithms_quant.md, "Stages".  MPI
 * requires the count, the type and the operation of a sum to be the same on all ranks.
 *
 * Nonblocking calls are the blocking ones, in a fiber (mca_request.h).  Whether one is admitted
 * follows from its arguments, from the settings, and, where the last call was a blocking one, from
 * what the module has learned by then.  They are not timed, so they teach nothing: where blocking
 * calls have taught nothing either, ranks on several nodes quantize and those on one node do not.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "coll_quant_call.h"
#include "mca_entry.h"
#include "mca_presence.h"

/* ---- what a call says ---- */

static size_t bytes_of(mca_compat_count_t count, struct ompi_datatype_t *type)
{
    size_t bytes = 0;

    (void) ompi_datatype_type_size(type, &bytes);
    return (size_t) count * bytes;
}

static size_t bytes_of_all(const quant_module_t *module, const arc_call_t *said)
{
    return coll_quant_blocks(module, (exchange_collective_t) said->collective) *
           bytes_of(said->count, said->type);
}

/* What numbers of this type are here; NULL: the user wants them exact, or they are none. */
static const quant_element_t *element_of(const quant_module_t *module,
                                         const struct ompi_datatype_t *type)
{
    const quant_types_t *types = quant_settings_types(&module->settings);

    if (mca_bridge_is(type, OPAL_DATATYPE_FLOAT4) && types->floats) {
        return &quant_floats;
    }
    return mca_bridge_is(type, OPAL_DATATYPE_FLOAT8) && types->doubles ? &quant_doubles : NULL;
}

static const quant_element_t *element_of_halves(const quant_module_t *module,
                                                exchange_collective_t collective)
{
    /* What the component below makes of sums that are too far off would be integers. */
    return EXCHANGE_ALLREDUCE == collective && module->settings.target_rel > 0
               ? NULL
               : element_of(module, &ompi_mpi_float.dt);
}

/* Field by field: to fill all of a call with zeros takes as long as to pass it down. */
static void read_call(const quant_module_t *module, const arc_call_t *said, arc_type_t uint16,
                      quant_call_t *call)
{
    const exchange_collective_t collective = (exchange_collective_t) said->collective;
    struct ompi_datatype_t *type = NULL == said->op ? mca_bridge_all_of(said->type) : said->type;
    const bool is_half = NULL != type && mca_half_is_named(uint16, type) &&
                         (NULL == said->op || OMPI_OP_SUM == said->op->op_type);
    const quant_element_t *element = NULL == type ? NULL
                                     : is_half    ? element_of_halves(module, collective)
                                                  : element_of(module, type);

    call->said = said;
    call->type = type;
    call->is_half_sum = is_half && NULL != said->op && said->count > 0;
    call->said_bytes = bytes_of_all(module, said);
    call->bytes = 0;
    call->number = said->number;
    call->operation.element = element;
    call->operation.storage = is_half ? &module->storage : NULL;
    call->operation.count = (size_t) said->count;
    call->operation.collective = collective;
    call->timed.select = NULL;
    call->timed.end_ns = 0;
    if (NULL == element) {
        return;
    }
    if (NULL == said->op) {
        call->operation.count = bytes_of(said->count, said->type) / bytes_of(1, type);
    }
    call->bytes = coll_quant_blocks(module, collective) * call->operation.count * element->bytes;
    call->operation.send = MPI_IN_PLACE == said->send ? said->receive : said->send;
    call->operation.recv = said->receive;
    call->operation.parts = NULL;
    call->operation.residual = NULL;
}

/* ---- what becomes of it ---- */

static arc_reason_t reason_of_arguments(const quant_call_t *call)
{
    const arc_call_t *said = call->said;

    if (said->count <= 0) {
        return ARC_REASON_EMPTY;
    }
    /* Open MPI 4 and 5, and all packing, count in 31 bits. */
    if (call->operation.count > INT32_MAX) {
        return ARC_REASON_TOO_LARGE;
    }
    if (NULL != said->op) {
        return call->is_half_sum ? ARC_REASON_NONE : mca_bridge_is_sum(said->op, said->type);
    }
    if (NULL != call->operation.element && MPI_IN_PLACE == said->send) {
        return ARC_REASON_IN_PLACE;
    }
    return ARC_REASON_NONE;
}

/* Why it is not served as the program makes it, whatever the state of the module. */
static arc_reason_t reason_of_call(const quant_module_t *module, const quant_call_t *call)
{
    if (!module->active) {
        return ARC_REASON_OFF;
    }
    const arc_reason_t reason = reason_of_arguments(call);
    if (ARC_REASON_NONE != reason) {
        return reason;
    }
    if (NULL == call->operation.element) {
        return ARC_REASON_TYPE_OR_OP;
    }
    if (!quant_settings_want_collective(&module->settings, call->operation.collective)) {
        return ARC_REASON_NOT_CHOSEN;
    }
    return call->bytes < module->settings.min_bytes ? ARC_REASON_TOO_SMALL : ARC_REASON_NONE;
}

/* Why no call is served in this state of the module; ARC_REASON_NONE: those that can be are. */
static arc_reason_t reason_of_module(const quant_module_t *module)
{
    switch (module->base.phase) {
    case ARC_PHASE_FRESH:
        return ARC_REASON_YOUNG;
    case ARC_PHASE_DECLINED:
        return module->base.declined;
    case ARC_PHASE_BROKEN:
        return ARC_REASON_NONE; /* who serves it returns the error */
    default:
        return module->attainable ? ARC_REASON_NONE : ARC_REASON_INACCURATE;
    }
}

/* Where a call is not timed: is it known, or to be expected, that the component below is faster? */
static arc_reason_t reason_of_gain(const quant_module_t *module, const quant_call_t *call)
{
    const arc_reason_t reason = coll_quant_gain_reason(module, module->settled.gain, call);

    return ARC_REASON_LEARNING == reason && !mca_compat_on_one_node(module->base.comm)
               ? ARC_REASON_NONE
               : reason;
}

/*
 * Why the call is passed down; ARC_REASON_NONE: it is served.  A call that could be quantized, by
 * what it is, has a number: whatever was learned, and whatever form the calls before it had, it is
 * the same.
 */
static arc_reason_t decide(quant_module_t *module, quant_call_t *call, arc_moment_t moment)
{
    arc_module_t *base = &module->base;
    const bool is_blocking = ARC_FORM_BLOCKING == call->said->form;
    arc_reason_t reason = reason_of_call(module, call);

    if (ARC_REASON_NONE == reason && (ARC_AT_START == moment || is_blocking)) {
        module->sums += EXCHANGE_ALLGATHER != call->operation.collective;
        call->number = module->sums; /* how many of these and before it add */
    }
    if (ARC_AT_RUN != moment && module->active && !module->settled.same && !call->is_half_sum) {
        reason = ARC_PHASE_DECLINED == base->phase ? base->declined : ARC_REASON_YOUNG;
    }
    if (ARC_AT_RUN != moment && ARC_REASON_NONE == reason) {
        reason = reason_of_gain(module, call);
    }
    if (ARC_AT_START == moment) {
        if (call->is_half_sum || base->unsettled) {
            return call->is_half_sum ? ARC_REASON_NONE : reason; /* at least exact, as what it is */
        }
        /* Counted only where the other ranks are in the slot, too. */
        if (ARC_PHASE_FRESH == base->phase && module->settled.same &&
            !arc_module_is_young(base, call->said_bytes)) {
            return reason; /* it sets the module up */
        }
    }
    if (ARC_REASON_NONE == reason) {
        reason = reason_of_module(module);
    }
    if (ARC_AT_START != moment && ARC_PHASE_READY != base->phase &&
        (ARC_AT_RUN == moment || module->settled.same)) {
        reason = coll_quant_set_up_if_needed(module, reason);
    }
    if (ARC_AT_RUN != moment) {
        return call->is_half_sum ? ARC_REASON_NONE : reason;
    }
    /* What a set-up that broke lacks is not touched; who asks looks at the phase. */
    if (ARC_PHASE_BROKEN == base->phase) {
        return reason;
    }
    if (ARC_REASON_NONE == reason) {
        reason = coll_quant_limit_reason(module, call->operation.collective);
    }
    return ARC_REASON_NONE == reason && is_blocking ? coll_quant_learned(module, call) : reason;
}

/* 16-bit floats as floats, which are added there. */
static int pass_down(quant_module_t *module, const quant_call_t *call, arc_reason_t reason)
{
    coll_quant_stats_note(module, reason, 0);
    if (!call->is_half_sum) {
        return arc_module_pass(&module->base, reason, call->said);
    }
    arc_call_t as_floats = *call->said;
    as_floats.type = &ompi_mpi_float.dt;
    arc_module_count_pass(&module->base, reason, &as_floats);
    return mca_half_call(&module->base, module->uint16, call->said, arc_below_call);
}

/* ---- an allgather of other types than floats and doubles ---- */

/*
 * An MPI_Allgather of other types than floats and doubles: numbers that do not lie one after the
 * other pass through memory of this call:
 *
 *   send --pack--> own block --> algorithm --> N blocks --unpack--> receive
 *
 * Which ranks need that memory no other rank knows, and to ask would cost every call a round trip:
 * docs/algorithms_quant.md, "Without memory to pack".
 */

/* Where the program wants a block. */
static void *block_at(const arc_call_t *said, int block)
{
    ptrdiff_t extent_bytes = 0;

    (void) ompi_datatype_type_extent(said->type, &extent_bytes);
    return (char *) said->receive + (ptrdiff_t) block * (ptrdiff_t) said->count * extent_bytes;
}

static int gather_packed(quant_module_t *module, quant_call_t *call)
{
    const uint64_t begin_ns = coll_quant_timed_ns(call);
    const arc_call_t *said = call->said;
    const int ranks = (int) module->stream.base.ranks;
    const size_t block_bytes = call->said_bytes / (size_t) ranks;
    const int32_t count = (int32_t) call->operation.count;
    uint8_t *blocks = malloc(call->said_bytes);

    if (NULL == blocks) {
        (void) arc_module_break(&module->base, arc_call_slot(said), ARC_ERR_NO_MEMORY,
                                " to pack a derived type");
        return MPI_ERR_NO_MEM;
    }
    uint8_t *own = blocks + module->stream.base.rank * block_bytes;
    /* A rank that fails alone takes part nevertheless, with zeros; the call ends in its error. */
    int error =
        ompi_datatype_sndrcv(said->send, said->send_count, said->send_type, own, count, call->type);
    if (OMPI_SUCCESS != error) {
        memset(own, 0, block_bytes);
    }
    call->operation.send = own;
    call->operation.recv = blocks;
    const uint64_t packed_ns = coll_quant_timed_ns(call);
    const int status = coll_quant_run_call(module, call);
    const uint64_t ran_ns = coll_quant_timed_ns(call);
    for (int block = 0; MPI_SUCCESS == status && OMPI_SUCCESS == error && block < ranks; ++block) {
        error = ompi_datatype_sndrcv(blocks + (size_t) block * block_bytes, count, call->type,
                                     block_at(said, block), said->count, said->type);
    }
    call->timed.packing_ns = packed_ns - begin_ns + coll_quant_timed_ns(call) - ran_ns;
    arc_module_free(&module->base, blocks);
    return MPI_SUCCESS == status ? error : status;
}

/* ---- calls that are served ---- */

static int run_gather(quant_module_t *module, quant_call_t *call)
{
    const arc_call_t *said = call->said;

    if (module->config.feedback && arc_module_first(&module->base, QUANT_SAID_STAGE)) {
        arc_module_log(&module->base, ARC_LOG_WARN,
                       "coll_quant_error_feedback is for sums and has no effect on MPI_Allgather");
    }
    if (bytes_of(said->send_count, said->send_type) != bytes_of(said->count, said->type)) {
        /* MPI does not allow it.  Ranks that do send must not take our next call for this one. */
        ++module->sequence;
        return MPI_ERR_COUNT;
    }
    return mca_bridge_is(said->type, call->type->super.id) &&
                   mca_bridge_is(said->send_type, call->type->super.id)
               ? coll_quant_run_call(module, call)
               : gather_packed(module, call);
}

static int run_sum(quant_module_t *module, quant_call_t *call)
{
    call->operation.residual = coll_quant_residual(module, call);
    return coll_quant_run_call(module, call);
}

int coll_quant_serve(arc_module_t *base, const arc_call_t *said)
{
    quant_module_t *module = (quant_module_t *) base;

    arc_module_settle(base);
    if (0 != base->inside) {
        return arc_module_pass(base, ARC_REASON_NESTED, said);
    }
    if (ARC_PHASE_FRESH == base->phase) {
        if (ARC_PRESENCE_UNKNOWN == base->presence && NULL != said->op &&
            mca_half_is(module->uint16, said->op, said->type)) {
            base->calls_to_go = 0; /* a rank without the component would add them as integers */
        }
        coll_quant_agree_if_due(module, bytes_of_all(module, said));
    }
    if (ARC_PHASE_BROKEN == base->phase) {
        return arc_module_broken_error();
    }
    quant_call_t call;
    read_call(module, said, module->uint16, &call);
    const arc_reason_t reason = decide(module, &call, ARC_AT_RUN);
    if (ARC_PHASE_BROKEN == base->phase) {
        return arc_module_broken_error();
    }
    return coll_quant_learn(module, &call,
                            ARC_REASON_NONE != reason ? pass_down(module, &call, reason)
                            : NULL == said->op        ? run_gather(module, &call)
                                                      : run_sum(module, &call));
}

/* ---- calls that are not blocking (mca_module.h) ---- */

/*
 * Settings that ranks may have alone, by the info key, are compared in the first blocking call.
 * Before that, and where they differ, some ranks may not be in the slots of nonblocking calls at
 * all, or want nothing quantized, so nobody serves them.
 */
void coll_quant_settled(arc_module_t *base)
{
    quant_module_t *module = (quant_module_t *) base;

    if (!arc_module_may_be_alone(base)) {
        arc_presence_look(base);
    }
    module->settled.same = ARC_PHASE_FRESH == base->phase
                               ? ARC_PRESENCE_KNOWN == base->presence && !base->key_was_set
                               : !arc_module_has_differed(base);
    module->settled.uint16 = module->uint16;
    memcpy(module->settled.gain, module->gain, sizeof module->gain);
}

arc_reason_t coll_quant_decide(arc_module_t *base, arc_call_t *said, arc_moment_t moment)
{
    quant_module_t *module = (quant_module_t *) base;
    const bool is_init = ARC_AT_INIT == moment;
    quant_call_t call;

    if (is_init) {
        coll_quant_settled(base);
    }
    if (is_init && module->settled.same) {
        base->calls_to_go = 0; /* who makes a persistent request will use it */
        coll_quant_agree_if_due(module, 0);
        coll_quant_settled(base);
    }
    read_call(module, said, module->settled.uint16, &call);
    const arc_reason_t reason = decide(module, &call, moment);
    said->number = call.number;
    if (ARC_REASON_NONE != reason) {
        coll_quant_stats_note(module, reason, 0);
    }
    if (is_init && ARC_REASON_NONE == reason && ARC_PHASE_READY == base->phase) {
        (void) coll_quant_fold_look(module, &call.operation); /* who called us looks at the phase */
    }
    return reason;
}

ARC_DEFINE_SUM(allreduce, quant_module_t, coll_quant_serve)
ARC_DEFINE_SUM(reduce_scatter_block, quant_module_t, coll_quant_serve)
ARC_DEFINE_GATHER(allgather, quant_module_t, coll_quant_serve)
const arc_entries_t coll_quant_entries = {
    ARC_ENTRIES(allreduce),
    ARC_ENTRIES(reduce_scatter_block),
    ARC_ENTRIES(allgather),
};
