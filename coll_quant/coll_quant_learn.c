/*
 * Does quantizing a collective gain time on this communicator, for vectors of about this length?
 * Learned from the program's own calls (select.h), the component below against the algorithm that
 * the settings choose:
 *
 *     calls   | below ............ | below and quantized take turns, timed; agree | ... | decided
 *
 * A class of lengths begins exact.  Once it is decided it stays so, on this communicator and on
 * later ones of the same processes, in the same order, with the same settings and the same
 * components below: the process remembers it.
 *
 * Of a call that is verified only the quantized part is timed.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <string.h>

#include "coll_quant_learn.h"
#include "coll_quant_show.h"
#include "hash.h"
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

arc_reason_t coll_quant_learned(quant_module_t *module, quant_call_t *call)
{
    const unsigned tried = coll_quant_tried(call->operation.collective, call->operation.element);
    const unsigned class = arc_select_class(call->bytes);
    const quant_gain_t *gain = &module->gain[tried];
    bool is_timed = false;

    if (quant_gain_is_decided(gain, class)) {
        return quant_gain_at(gain, class) ? ARC_REASON_NONE : ARC_REASON_SLOWER;
    }
    arc_select_t *select = select_of(module, tried, class);
    const unsigned picked = arc_select_pick(select, &is_timed);
    if (is_timed) {
        call->timed =
            (quant_timed_t){.select = select, .class = class, .begin_ns = (uint64_t) arc_now_ns()};
    }
    return QUANTIZED == picked ? ARC_REASON_NONE : ARC_REASON_LEARNING;
}

static void remember(const quant_module_t *module)
{
    quant_component_t *component = &mca_coll_quant_component;

    (void) pthread_mutex_lock(&component->base.lock);
    unsigned place = 0;
    while (place < QUANT_REMEMBERED && component->remembered[place].key != module->gain_key) {
        ++place;
    }
    if (QUANT_REMEMBERED == place) {
        place = component->remembered_next++ % QUANT_REMEMBERED;
    }
    quant_remembered_t *one = &component->remembered[place];
    if (one->key != module->gain_key) {
        *one = (quant_remembered_t){.key = module->gain_key};
    }
    for (unsigned tried = 0; tried < QUANT_TRIED; ++tried) {
        quant_gain_merge(&one->gain[tried], &module->gain[tried]);
    }
    (void) pthread_mutex_unlock(&component->base.lock);
}

/*
 * What decides how fast the two sides are.  Others that give the same number are unlikely, and
 * would only be slower.
 */
static uint64_t key_of(const quant_module_t *module)
{
    struct ompi_communicator_t *comm = module->base.comm;
    const arc_module_t *base = &module->base;
    const uintptr_t below[] = {
#define X(_name, _call) (uintptr_t) base->below_##_name,
        ARC_COLLECTIVE_TABLE(X)
#undef X
    };
    uint64_t key = arc_param_hash(quant_params, quant_params_count, &module->settings);

    for (size_t slot = 0; slot < ARC_COLLECTIVES; ++slot) {
        key = arc_hash_add(key, below[slot]);
    }
    for (int rank = 0; rank < ompi_comm_size(comm); ++rank) {
        const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, rank);
        key = arc_hash_add(key, name.jobid);
        key = arc_hash_add(key, name.vpid);
    }
    return 0 != key ? key : 1;
}

uint64_t coll_quant_recall(quant_module_t *module)
{
    static const uint64_t factor = 0x9e3779b97f4a7c15; /* odd: no number is lost */
    enum { HALF = 32 };
    uint64_t number = 0;
    quant_component_t *component = &mca_coll_quant_component;

    for (unsigned tried = 0; tried < QUANT_TRIED; ++tried) {
        module->gain[tried] =
            0 == module->settings.arc_explore_percent ? quant_gain_always() : (quant_gain_t){0};
    }
    module->gain_key = key_of(module);
    (void) pthread_mutex_lock(&component->base.lock);
    for (unsigned i = 0; i < QUANT_REMEMBERED; ++i) {
        if (component->remembered[i].key == module->gain_key) {
            memcpy(module->gain, component->remembered[i].gain, sizeof module->gain);
        }
    }
    (void) pthread_mutex_unlock(&component->base.lock);
    for (unsigned tried = 0; tried < QUANT_TRIED; ++tried) {
        const quant_gain_t *gain = &module->gain[tried];
        number = (number * factor) ^ ((uint64_t) gain->decided << HALF | gain->gains);
    }
    return number;
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
        quant_gain_decide(
            &module->gain[coll_quant_tried(call->operation.collective, call->operation.element)],
            timed->class, QUANTIZED == timed->select->chosen);
        log_decision(module, call);
        remember(module);
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
    const uint64_t end_ns = was_below ? (uint64_t) arc_now_ns() : timed->end_ns;
    const uint64_t weight = was_below ? BELOW_WEIGHT : 1;
    /* Also after an error: the other ranks know nothing of it. */
    if (arc_select_note(timed->select, end_ns - weight * (end_ns - timed->begin_ns), end_ns)) {
        const int agreed = agree_on_times(module, call);
        return MPI_SUCCESS == status ? agreed : status;
    }
    return status;
}
