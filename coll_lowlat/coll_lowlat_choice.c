/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "agreement.h"
#include "coll_lowlat_choice.h"
#include "coll_lowlat_settled.h"
#include "hash.h"
#include "sizes.h"

_Static_assert((int) ARC_SELECT_VALUES <= (int) ARC_AGREEMENT_VALUES, "with a time limit");

bool coll_lowlat_choice_make(lowlat_module_t *module)
{
    const lowlat_config_t *config = &mca_coll_lowlat_component.config;

    if (LOWLAT_NOT_FORCED != lowlat_forced(config, true)) {
        return true;
    }
    module->choice = calloc(1, sizeof *module->choice);
    return NULL != module->choice;
}

void coll_lowlat_choice_release(lowlat_module_t *module)
{
    free(module->choice);
    module->choice = NULL;
}

static uint64_t hash_of(const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    uint64_t hash = ARC_HASH_EMPTY;

    for (size_t i = 0; i < bytes; ++i) {
        hash = arc_hash_add(hash, byte[i]);
    }
    return hash;
}

/* What this process remembers of communicators of this shape, if all ranks remember the same. */
static arc_status_t recall(lowlat_module_t *module)
{
    const arc_topology_t *topology = &module->topology;
    lowlat_choice_t *choice = module->choice;

    choice->shape = (lowlat_shape_t){.nodes = topology->nodes,
                                     .least_ranks = topology->owners,
                                     .most_ranks = topology->largest,
                                     .puts = NULL != module->port};
    (void) lowlat_memo_recall(&mca_coll_lowlat_component.learned, &choice->shape,
                              sizeof choice->shape, &choice->learned);
    const uint64_t hash = hash_of(&choice->learned, sizeof choice->learned);
    const uint64_t book_hash = lowlat_book_hash();
    uint64_t all[] = {hash, ~hash, book_hash, ~book_hash};
    arc_status_t status = arc_module_min(&module->base, all, sizeof all / sizeof all[0]);
    choice->has_book = all[2] == ~all[3];
    if (ARC_OK == status && !choice->has_book) {
        arc_module_log(
            &module->base, ARC_LOG_WARN,
            "coll_lowlat_learned_file is not used: it does not say the same on all ranks");
    }
    if (all[0] != ~all[1]) {
        memset(&choice->learned, 0, sizeof choice->learned);
    }
    return status;
}

/* Is anything known of the class?  The least time. */
static uint64_t least_ns(const lowlat_choice_t *choice, unsigned class)
{
    const uint64_t *call_ns = choice->learned.of[class].call_ns;
    uint64_t least = 0;

    for (unsigned i = 0; i < choice->list.count; ++i) {
        least = 0 != call_ns[i] && (0 == least || call_ns[i] < least) ? call_ns[i] : least;
    }
    return least;
}

static void begin_class(lowlat_module_t *module, unsigned class)
{
    lowlat_choice_t *choice = module->choice;
    const size_t bytes = arc_select_class_bytes(class);
    const uint64_t least = least_ns(choice, class);
    arc_select_config_t config = {
        .candidates = choice->list.count,
        .first = 0 == least ? lowlat_candidates_first(&choice->list, &module->net, bytes)
                            : choice->learned.of[class].chosen,
        .explore_percent = (unsigned) mca_coll_lowlat_component.config.explore_percent,
        .margin_percent = LOWLAT_NODES_MARGIN_PERCENT,
        .start_calls =
            bytes <= LOWLAT_EXPLORE_SOON_BYTES ? LOWLAT_EXPLORE_CALLS : LOWLAT_EXPLORE_SOON_CALLS,
    };

    for (unsigned i = 0; i < choice->list.count; ++i) {
        const uint64_t call_ns = choice->learned.of[class].call_ns[i];
        config.guess[i] =
            0 == call_ns ? lowlat_candidate_guess(choice->list.candidate[i], &module->net, bytes)
                         : (uint32_t) arc_min(call_ns * ARC_RATIO_ONE / least, UINT16_MAX);
    }
    arc_select_init(&choice->select[class], &config);
    const char *fixed = choice->has_book ? lowlat_book_find(&choice->shape, class) : NULL;
    const unsigned number =
        NULL == fixed ? config.candidates : lowlat_candidates_find(&choice->list, fixed);
    if (number < config.candidates) {
        arc_select_fix(&choice->select[class], number);
    }
}

static const char *name_of(const lowlat_choice_t *choice, unsigned i)
{
    return lowlat_candidate_name(choice->list.candidate[i]);
}

/* Where the choice of a class comes from. */
static const char *origin_of(const lowlat_choice_t *choice, unsigned class)
{
    const arc_select_t *select = &choice->select[class];

    if (select->decided && 0 != select->config.explore_percent) {
        return "from the file";
    }
    return select->rounds > 0 || 0 != least_ns(choice, class) ? "learned" : "expected";
}

/*
 * "doubling to 6143 bytes (expected), direct to any length (learned)"; expected: nothing was
 * measured so far.
 */
static void describe(const lowlat_choice_t *choice, char *text, size_t text_bytes)
{
    size_t used = 0;

    text[0] = '\0';
    for (unsigned class = 0; class < ARC_SELECT_CLASSES && used < text_bytes; ++class) {
        const bool is_last = class + 1 == ARC_SELECT_CLASSES;
        const unsigned chosen = choice->select[class].chosen;
        const char *origin = origin_of(choice, class);

        if (!is_last && chosen == choice->select[class + 1].chosen &&
            origin == origin_of(choice, class + 1)) {
            continue;
        }
        used += is_last ? (size_t) snprintf(text + used, text_bytes - used, "%s to any length (%s)",
                                            name_of(choice, chosen), origin)
                        : (size_t) snprintf(text + used, text_bytes - used,
                                            "%s to %zu bytes (%s), ", name_of(choice, chosen),
                                            arc_select_class_end(class) - 1, origin);
    }
}

void coll_lowlat_show(const lowlat_module_t *module)
{
    char text[ARC_SHOWN_BYTES];

    if (NULL == module->choice) {
        lowlat_map_describe(&module->map, text, sizeof text);
    } else {
        const int used = snprintf(text, sizeof text, "%u nodes: ", module->topology.nodes);
        describe(module->choice, text + used, sizeof text - (size_t) used);
    }
    arc_module_show(&module->base, text);
}

static void log_choices(const lowlat_module_t *module)
{
    enum { TEXT_BYTES = 400 };
    char text[TEXT_BYTES];

    describe(module->choice, text, sizeof text);
    arc_module_log(&module->base, ARC_LOG_CHOICE, "begins with %s", text);
}

void coll_lowlat_choice_begin(lowlat_module_t *module)
{
    lowlat_choice_t *choice = module->choice;

    if (NULL == choice) {
        return;
    }
    arc_status_t status = recall(module);
    if (ARC_OK != status) {
        (void) arc_module_break(&module->base, status, " in an agreement on what was learned");
        return;
    }
    lowlat_candidates_list(&choice->list, module->net.owners,
                           mca_coll_lowlat_component.config.reproducible);
    for (unsigned class = 0; class < ARC_SELECT_CLASSES; ++class) {
        begin_class(module, class);
    }
    log_choices(module);
}

/* "doubling 45.2 us, below 63.0 us": the choice first. */
static void describe_times(const lowlat_choice_t *choice, unsigned class, char *text,
                           size_t text_bytes)
{
    enum { NS = 1000, TENTH = 100 };
    const arc_select_t *select = &choice->select[class];
    size_t used = 0;

    text[0] = '\0';
    for (unsigned turn = 0; turn <= choice->list.count && used < text_bytes; ++turn) {
        const unsigned i = 0 == turn ? select->chosen : turn - 1;
        const uint64_t call_ns = arc_select_call_ns(select, i);
        if (0 != call_ns && (0 == turn || i != select->chosen)) {
            used += (size_t) snprintf(text + used, text_bytes - used, "%s%s %llu.%llu us",
                                      0 == turn ? "" : ", ", name_of(choice, i),
                                      (unsigned long long) call_ns / NS,
                                      (unsigned long long) call_ns % NS / TENTH);
        }
    }
}

static void remember(lowlat_choice_t *choice, unsigned class)
{
    choice->learned.of[class].chosen = choice->select[class].chosen;
    for (unsigned i = 0; i < choice->list.count; ++i) {
        const uint64_t call_ns = arc_select_call_ns(&choice->select[class], i);
        uint64_t *known_ns = &choice->learned.of[class].call_ns[i];
        *known_ns = 0 != call_ns ? call_ns : *known_ns;
    }
    lowlat_memo_remember(&mca_coll_lowlat_component.learned, &choice->shape, sizeof choice->shape,
                         &choice->learned);
}

void coll_lowlat_choice_agree(lowlat_module_t *module, unsigned class)
{
    enum { TEXT_BYTES = 400 };
    lowlat_choice_t *choice = module->choice;
    arc_select_t *select = &choice->select[class];
    uint64_t values[ARC_SELECT_VALUES];
    char text[TEXT_BYTES];

    const int64_t begin_ns = arc_now_ns();
    const int count = (int) arc_select_offer(select, values);
    arc_status_t status = arc_module_min(&module->base, values, count);
    if (ARC_OK != status) {
        (void) arc_module_break(&module->base, status, " in an agreement on times");
        return;
    }
    const bool changed = arc_select_take(select, values, (uint64_t) (arc_now_ns() - begin_ns));
    if (class > 0) {
        arc_select_learn(select - 1, select);
    }
    if (class + 1 < ARC_SELECT_CLASSES) {
        arc_select_learn(select + 1, select);
    }
    remember(choice, class);
    describe_times(choice, class, text, sizeof text);
    arc_module_log(&module->base, ARC_LOG_CHOICE, "%zu bytes, after %llu calls: %s%s",
                   arc_select_class_bytes(class), (unsigned long long) arc_select_calls(select),
                   text, changed ? "; changes to the first of these" : "");
    if (changed || 1 == select->rounds) {
        coll_lowlat_show(module);
    }
}

unsigned coll_lowlat_choice_served(const struct lowlat_module *module, unsigned class)
{
    const lowlat_choice_t *choice = module->choice;
    const arc_select_t *select = &choice->select[class];
    unsigned best = select->chosen;

    for (unsigned i = 0; i < choice->list.count; ++i) {
        const bool ours = LOWLAT_PASS_DOWN != choice->list.candidate[i].algorithm;

        if (ours &&
            (LOWLAT_PASS_DOWN == choice->list.candidate[best].algorithm ||
             (best != select->chosen && select->config.guess[i] < select->config.guess[best]))) {
            best = i;
        }
    }
    return best;
}
