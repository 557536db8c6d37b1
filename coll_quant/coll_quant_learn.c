/*
 * Does quantizing a collective gain time on this communicator, for vectors of about this length?
 * Learned from the program's own calls (select.h), the component below against the algorithm that
 * the settings choose:
 *
 *     calls   | below ............ | below and quantized take turns, timed; agree | ... | decided
 *
 * A class of lengths begins exact.  Once it is decided it stays so on this communicator.
 *
 * Of a call that is verified only the quantized part is timed.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "coll_quant_call.h"
#include "settled.h"

enum {
    MARGIN_PERCENT = 5,
    /* A class's first call finds its memory and connections cold. */
    START_CALLS = 1,
    /* In thousandths of the time below: with so little to lose it is tried within a few calls. */
    GUESS = 1500,
    /* For tests: what the component below takes counts so many times. */
    BELOW_WEIGHT = ARC_SETTLED(1, 1000),
};

enum { BELOW = ARC_SELECT_BELOW, QUANTIZED, CANDIDATES };

static void log_decision(const quant_module_t *module, const quant_call_t *call)
{
    const quant_timed_t *timed = &call->timed;
    enum { US = 1000 };

    arc_module_log(
        &module->base, ARC_LOG_CHOICE,
        "learned from %llu calls of %s of about %zu bytes of %ss: the component below %llu us, "
        "quantized %llu us: %s",
        (unsigned long long) timed->select->spent_calls, arc_slot_call(call->said->collective),
        arc_select_class_bytes(timed->class), call->operation.element->name,
        (unsigned long long) arc_select_call_ns(timed->select, BELOW) / US,
        (unsigned long long) arc_select_call_ns(timed->select, QUANTIZED) / US,
        QUANTIZED == timed->select->chosen ? "quantized" : "passed down");
}

/* The selector of a class; zero bytes are one that was never used. */
static arc_select_t *select_of(quant_module_t *module, unsigned tried, unsigned class)
{
    arc_select_t *select = &module->selectors[tried * ARC_SELECT_CLASSES + class];

    if (0 == select->config.candidates) {
        const arc_select_config_t config = {
            .candidates = CANDIDATES,
            .first = BELOW,
            .explore_percent = (unsigned) module->settings.arc_explore_percent,
            .margin_percent = MARGIN_PERCENT,
            .start_calls = START_CALLS,
            .settles = true,
            .guess = {[QUANTIZED] = GUESS},
        };
        arc_select_init(select, &config);
        if (class > 0) {
            arc_select_learn(select, select - 1);
        }
    }
    return select;
}

arc_reason_t coll_quant_gain_reason(const quant_module_t *module,
                                    const quant_gain_t gain[QUANT_TRIED], const quant_call_t *call)
{
    const quant_operation_t *operation = &call->operation;
    const quant_gain_t *of = &gain[coll_quant_tried(operation->collective, operation->element)];
    const uint32_t bit = UINT32_C(1) << arc_select_class(call->bytes);

    if (0 == module->settings.arc_explore_percent) {
        return ARC_REASON_NONE;
    }
    return 0 == (of->decided & bit) ? ARC_REASON_LEARNING
           : 0 != (of->gains & bit) ? ARC_REASON_NONE
                                    : ARC_REASON_SLOWER;
}

arc_reason_t coll_quant_learned(quant_module_t *module, quant_call_t *call)
{
    const arc_reason_t reason = coll_quant_gain_reason(module, module->gain, call);
    const unsigned class = arc_select_class(call->bytes);
    bool is_timed = false;

    if (ARC_REASON_LEARNING != reason) {
        return reason;
    }
    arc_select_t *select = select_of(
        module, coll_quant_tried(call->operation.collective, call->operation.element), class);
    const unsigned picked = arc_select_pick(select, &is_timed);
    if (is_timed) {
        const uint64_t now_ns = (uint64_t) arc_now_ns();
        call->timed = (quant_timed_t){
            .select = select, .class = class, .called_ns = now_ns, .begin_ns = now_ns};
    }
    return QUANTIZED == picked ? ARC_REASON_NONE : ARC_REASON_LEARNING;
}

/* All ranks have timed a round: agree on what it tells. */
static int agree_on_times(quant_module_t *module, const quant_call_t *call)
{
    const quant_timed_t *timed = &call->timed;
    uint64_t values[ARC_SELECT_VALUES];
    const unsigned count = arc_select_offer(timed->select, values);

    const uint64_t begin_ns = (uint64_t) arc_now_ns();
    if (ARC_OK != arc_module_min(&module->base, values, (int) count)) {
        return arc_module_broken_error();
    }
    (void) arc_select_take(timed->select, values, (uint64_t) arc_now_ns() - begin_ns);
    if (timed->select->decided) {
        quant_gain_t *gain =
            &module->gain[coll_quant_tried(call->operation.collective, call->operation.element)];
        const uint32_t bit = UINT32_C(1) << timed->class;
        gain->decided |= bit;
        gain->gains |= QUANTIZED == timed->select->chosen ? bit : 0;
        log_decision(module, call);
        coll_quant_show(module);
    }
    return MPI_SUCCESS;
}

int coll_quant_learn(quant_module_t *module, quant_call_t *call, int status)
{
    const quant_timed_t *timed = &call->timed;
    const bool was_below = 0 == timed->end_ns;

    /* Verified sums that were too far off have torn down what they were to be learned in. */
    if (NULL == timed->select || ARC_PHASE_READY != module->base.phase) {
        return status;
    }
    const uint64_t now_ns = (uint64_t) arc_now_ns();
    const uint64_t took_ns = was_below ? BELOW_WEIGHT * (now_ns - timed->begin_ns)
                                       : timed->packing_ns + timed->end_ns - timed->begin_ns;
    /* Also after an error: the other ranks know nothing of it. */
    if (arc_select_note(timed->select, timed->called_ns, now_ns,
                        arc_select_time_ns(call->bytes, took_ns))) {
        const int agreed = agree_on_times(module, call);
        return MPI_SUCCESS == status ? agreed : status;
    }
    return status;
}
