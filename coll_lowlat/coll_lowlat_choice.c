/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdio.h>

#include "agreement.h"
#include "coll_lowlat_choice.h"
#include "coll_lowlat_puts.h"
#include "coll_lowlat_settled.h"
#include "hash.h"
#include "sizes.h"

_Static_assert((int) ARC_SELECT_VALUES <= (int) ARC_AGREEMENT_VALUES,
               "one agreement has room for all");
_Static_assert((int) ARC_SELECT_CLASSES <= 32, "a bit for each");
_Static_assert((int) LOWLAT_CALLS_BLOCKING == (int) ARC_FORM_BLOCKING &&
                   (int) LOWLAT_CALLS_NONBLOCKING == (int) ARC_FORM_NONBLOCKING,
               "rules have these forms");

static const lowlat_span_t over_puts = {LOWLAT_OVER_PUTS, LOWLAT_OVER_PUTS};

static uint64_t hash_of(const lowlat_learned_t *learned)
{
    uint64_t hash = ARC_HASH_EMPTY;

    for (unsigned class = 0; class < ARC_SELECT_CLASSES; ++class) {
        hash = arc_hash_add(hash, learned->of[class].chosen);
        for (unsigned i = 0; i < ARC_SELECT_CANDIDATES; ++i) {
            hash = arc_hash_add(hash, learned->of[class].call_ns[i]);
        }
    }
    return hash;
}

/*
 * What this process remembers of communicators of this shape, if all ranks remember the same.
 * *may_open: all of them may have puts beside messages.
 */
static arc_status_t recall(lowlat_module_t *module, bool *may_open)
{
    const lowlat_component_t *component = &mca_coll_lowlat_component;
    const bool both = LOWLAT_TRANSPORT_AUTO == component->config.nodes_transport;
    /* A persistent request learns nothing. */
    const bool may = both && NULL != component->puts && NULL == module->base.of;
    const arc_topology_t *topology = &module->topology;
    const size_t over = NULL != module->port ? LOWLAT_OVER_PUTS : LOWLAT_OVER_MESSAGES;
    lowlat_choice_t *choice = module->choice;
    lowlat_span_t *fact = choice->shape.fact;

    choice->shape = lowlat_shape_of(&module->group);
    fact[LOWLAT_FACT_RANKS] = (lowlat_span_t){topology->owners, topology->largest};
    fact[LOWLAT_FACT_NODES] = (lowlat_span_t){topology->nodes, topology->nodes};
    fact[LOWLAT_FACT_OVER] = (lowlat_span_t){over, over};
    uint64_t all[2 * LOWLAT_FORMS + 1] = {[2 * LOWLAT_FORMS] = may};
    for (unsigned form = 0; form < LOWLAT_FORMS; ++form) {
        lowlat_learned_t *learned = &choice->learned[form];
        learned->shape = choice->shape;
        learned->shape.fact[LOWLAT_FACT_CORES] = lowlat_shape_any.fact[LOWLAT_FACT_CORES];
        learned->shape.fact[LOWLAT_FACT_CACHES] = lowlat_shape_any.fact[LOWLAT_FACT_CACHES];
        learned->shape.fact[LOWLAT_FACT_OVER].most = both ? LOWLAT_OVER_PUTS : over;
        learned->shape.fact[LOWLAT_FACT_CALLS] = (lowlat_span_t){form, form};
        (void) lowlat_book_recall(LOWLAT_TOPIC_CHOICE, learned);
        all[2 * form] = hash_of(learned);
        all[2 * form + 1] = ~all[2 * form];
    }
    arc_status_t status = arc_module_min(&module->base, all, sizeof all / sizeof all[0]);
    for (unsigned form = 0; form < LOWLAT_FORMS; ++form) {
        if (all[2 * form] != ~all[2 * form + 1]) {
            memset(choice->learned[form].of, 0, sizeof choice->learned[form].of);
        }
    }
    *may_open = 0 != all[2 * LOWLAT_FORMS];
    return status;
}

/* Is anything known of the class?  The least time. */
static uint64_t least_ns(const lowlat_choice_t *choice, arc_form_t form, unsigned class)
{
    const uint64_t *call_ns = choice->learned[form].of[class].call_ns;
    uint64_t least = 0;

    for (unsigned i = 0; i < choice->list.count; ++i) {
        least = 0 != call_ns[i] && (0 == least || call_ns[i] < least) ? call_ns[i] : least;
    }
    return least;
}

/*
 * The rule for messages of `bytes` bytes, and the number of its candidate.  Where there are puts
 * beside messages only rules of the user that name puts are for them.
 */
static const lowlat_rule_t *find_rule(const lowlat_choice_t *choice, arc_form_t form, size_t bytes,
                                      unsigned *number)
{
    const lowlat_rules_t *rules = &mca_coll_lowlat_component.rules;
    lowlat_shape_t shape = choice->shape;

    shape.fact[LOWLAT_FACT_CALLS] = (lowlat_span_t){form, form};
    const lowlat_rule_t *rule = lowlat_rules_find(rules, &shape, bytes);
    lowlat_candidate_t candidate = rule->candidate;

    if (choice->has_both) {
        shape.fact[LOWLAT_FACT_OVER] = over_puts;
        const lowlat_rule_t *of_puts = lowlat_rules_find(rules, &shape, bytes);
        if (LOWLAT_OVER_PUTS == of_puts->shape.fact[LOWLAT_FACT_OVER].least) {
            rule = of_puts;
            candidate = rule->candidate;
            candidate.puts = LOWLAT_PASS_DOWN != candidate.algorithm;
        }
    }
    *number = lowlat_candidates_find(&choice->list, candidate);
    return rule;
}

static bool is_ours(const lowlat_choice_t *choice, unsigned number)
{
    return LOWLAT_PASS_DOWN != choice->list.candidate[number].algorithm;
}

/* The component below, which is the first in the list, is not tried; the best guess is instead. */
static void take_ours(const lowlat_choice_t *choice, arc_select_config_t *config)
{
    const bool is_open = !is_ours(choice, config->first);

    for (unsigned i = 0; i < choice->list.count; ++i) {
        if (!is_ours(choice, i)) {
            config->guess[i] = ARC_SELECT_NEVER;
        } else if (is_open && config->guess[i] < config->guess[config->first]) {
            config->first = i;
        }
    }
}

/* Nonblocking calls of which nothing is known begin with what blocking ones have learned. */
static void begin_class(lowlat_module_t *module, arc_form_t form, unsigned class)
{
    lowlat_choice_t *choice = module->choice;
    const size_t bytes = arc_select_class_bytes(class);
    const arc_form_t known = 0 == least_ns(choice, form, class) ? ARC_FORM_BLOCKING : form;
    const uint64_t least = least_ns(choice, known, class);
    const unsigned learned = choice->learned[known].of[class].chosen;
    unsigned number = 0;
    const lowlat_rule_t *rule = find_rule(choice, form, bytes, &number);
    arc_select_config_t config = {
        .candidates = choice->list.count,
        .first = 0 == least || learned >= choice->list.count ? number : learned,
        .explore_percent = (unsigned) mca_coll_lowlat_component.config.arc_explore_percent,
        .margin_percent = LOWLAT_NODES_MARGIN_PERCENT,
        .start_calls =
            bytes <= LOWLAT_EXPLORE_SOON_BYTES ? LOWLAT_EXPLORE_CALLS : LOWLAT_EXPLORE_SOON_CALLS,
    };

    for (unsigned i = 0; i < choice->list.count; ++i) {
        const uint64_t call_ns = choice->learned[known].of[class].call_ns[i];
        config.guess[i] =
            0 == call_ns ? lowlat_candidate_guess(choice->list.candidate[i], &module->net, bytes)
                         : (uint32_t) arc_min(call_ns * ARC_RATIO_ONE / least, UINT16_MAX);
    }
    const bool ruled = !lowlat_rules_builtin(&mca_coll_lowlat_component.rules, rule);
    config.first = ruled ? number : config.first;
    if (ARC_FORM_BLOCKING == form) {
        choice->ruled[class] = ruled;
    } else {
        take_ours(choice, &config);
    }
    arc_select_init(&choice->select[form][class], &config);
    if (ruled) {
        arc_select_fix(&choice->select[form][class], config.first);
    }
}

arc_select_t *coll_lowlat_choice_select(lowlat_module_t *module, arc_form_t form, unsigned class)
{
    arc_select_t *select = &module->choice->select[form][class];

    if (0 == select->config.candidates) {
        begin_class(module, form, class);
    }
    return select;
}

/* Where the choice of a class comes from. */
static const char *origin_of(const lowlat_choice_t *choice, unsigned class)
{
    const arc_select_t *select = &choice->select[ARC_FORM_BLOCKING][class];

    return choice->ruled[class]                                                    ? "the user's"
           : select->rounds > 0 || 0 != least_ns(choice, ARC_FORM_BLOCKING, class) ? "learned"
                                                                                   : "expected";
}

/*
 * "doubling:0-6143 (expected),direct:6143-inf (learned)"; expected: nothing was measured so far.
 */
static void describe(const lowlat_choice_t *choice, char *text, size_t text_bytes)
{
    enum { LAST = ARC_SELECT_CLASSES - 1, NOTE_BYTES = 32 };
    const arc_select_t *select = choice->select[ARC_FORM_BLOCKING];
    lowlat_rule_t rule = {.shape = lowlat_shape_any};
    char note[NOTE_BYTES];
    size_t used = 0;

    text[0] = '\0';
    for (unsigned class = 0; class <= LAST && used < text_bytes; ++class) {
        const unsigned chosen = select[class].chosen;
        const char *origin = origin_of(choice, class);

        if (LAST == class || chosen != select[class + 1].chosen ||
            origin != origin_of(choice, class + 1)) {
            rule.bytes = (lowlat_span_t){rule.bytes.most, arc_select_class_most(class)};
            rule.candidate = choice->list.candidate[chosen];
            rule.shape.fact[LOWLAT_FACT_OVER] =
                rule.candidate.puts ? over_puts : lowlat_shape_any.fact[LOWLAT_FACT_OVER];
            (void) snprintf(note, sizeof note, " (%s)%s", origin, LAST == class ? "" : ",");
            used += lowlat_rule_print(&rule, note, text + used, text_bytes - used);
        }
    }
}

void coll_lowlat_show(const lowlat_module_t *module)
{
    char text[ARC_SHOWN_BYTES];

    if (NULL == module->choice) {
        lowlat_map_describe(&module->map, text, sizeof text);
    } else {
        const int used = snprintf(text, sizeof text, "(%u nodes) ", module->topology.nodes);
        describe(module->choice, text + used, sizeof text - (size_t) used);
    }
    arc_module_show(&module->base, text);
}

/* Do rules of the user pass calls down that are not blocking? */
static bool is_passed_down(const lowlat_choice_t *choice, unsigned class)
{
    unsigned number = 0;
    const lowlat_rule_t *rule =
        find_rule(choice, ARC_FORM_NONBLOCKING, arc_select_class_bytes(class), &number);

    return !lowlat_rules_builtin(&mca_coll_lowlat_component.rules, rule) &&
           !is_ours(choice, number);
}

/* All classes, with the candidates that there are. */
static void begin_all(lowlat_module_t *module, const char *how)
{
    enum { TEXT_BYTES = 400 };
    char text[TEXT_BYTES];

    module->choice->below = 0;
    for (unsigned class = 0; class < ARC_SELECT_CLASSES; ++class) {
        begin_class(module, ARC_FORM_BLOCKING, class);
        module->choice->below |= (uint32_t) is_passed_down(module->choice, class) << class;
        if (module->choice->select[ARC_FORM_NONBLOCKING][class].config.candidates > 0) {
            begin_class(module, ARC_FORM_NONBLOCKING, class);
        }
    }
    describe(module->choice, text, sizeof text);
    arc_module_log(&module->base, ARC_LOG_CHOICE, "%s with %s", how, text);
}

void coll_lowlat_choice_begin(lowlat_module_t *module)
{
    bool may_open = false;

    if (NULL == module->choice || ARC_OK != recall(module, &may_open)) {
        return;
    }
    lowlat_candidates_list(&module->choice->list, module->net.owners,
                           mca_coll_lowlat_component.config.reproducible);
    begin_all(module, "begins");
    /* Puts beside messages: all ranks begin to connect; that may break the module. */
    const char *why = may_open ? lowlat_puts_open(module) : NULL;
    if (NULL != why) {
        arc_module_log(&module->base, ARC_LOG_CHOICE, "no puts: %s", why);
    }
}

/* A class begins again with what was learned there, or in earlier communicators that had puts. */
void coll_lowlat_choice_add_puts(lowlat_module_t *module)
{
    module->choice->has_both = true;
    lowlat_candidates_add_puts(&module->choice->list);
    begin_all(module, "goes on");
    coll_lowlat_show(module);
}

/* What is known of the class, beside what other communicators of this shape know of others. */
static void remember(lowlat_choice_t *choice, arc_form_t form, unsigned class)
{
    const arc_select_t *select = &choice->select[form][class];
    lowlat_learned_t *learned = &choice->learned[form];
    lowlat_learned_t note = {.shape = learned->shape};

    learned->of[class].chosen = select->chosen;
    for (unsigned i = 0; i < choice->list.count; ++i) {
        const uint64_t call_ns = arc_select_call_ns(select, i);
        uint64_t *known_ns = &learned->of[class].call_ns[i];
        *known_ns = 0 != call_ns ? call_ns : *known_ns;
    }
    (void) lowlat_book_recall(LOWLAT_TOPIC_CHOICE, &note);
    note.of[class] = learned->of[class];
    lowlat_book_remember(LOWLAT_TOPIC_CHOICE, &note);
}

void coll_lowlat_choice_agree(lowlat_module_t *module, arc_form_t form, unsigned class)
{
    enum { TEXT_BYTES = 400 };
    lowlat_choice_t *choice = module->choice;
    arc_select_t *select = &choice->select[form][class];
    uint64_t values[ARC_SELECT_VALUES];
    char text[TEXT_BYTES];

    const int64_t begin_ns = arc_now_ns();
    const int count = (int) arc_select_offer(select, values);
    if (ARC_OK != arc_module_min(&module->base, values, count)) {
        return;
    }
    const bool changed = arc_select_take(select, values, (uint64_t) (arc_now_ns() - begin_ns));
    if (class > 0) {
        arc_select_learn(select - 1, select);
    }
    if (class + 1 < ARC_SELECT_CLASSES) { /* one that has not begun has no candidates */
        arc_select_learn(select + 1, select);
    }
    remember(choice, form, class);
    lowlat_book_describe(&choice->list, &choice->learned[form], class, text, sizeof text);
    arc_module_log(&module->base, ARC_LOG_CHOICE, "%zu bytes, after %llu %scalls: %s%s",
                   arc_select_class_bytes(class), (unsigned long long) arc_select_calls(select),
                   ARC_FORM_BLOCKING == form ? "" : "nonblocking ", text,
                   changed ? "; changes to the first of these" : "");
    if (ARC_FORM_BLOCKING == form && (changed || 1 == select->rounds)) {
        coll_lowlat_show(module);
    }
}
