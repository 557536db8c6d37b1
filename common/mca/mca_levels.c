/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mca_agreement.h"
#include "mca_levels.h"

/* The values of the parameter that are no numbers. */
static const char by_seats[] = "auto";
static const char none[] = "flat";

static bool is_none(const char *text)
{
    return 0 == strcmp(text, none);
}

/* No text is that of the default; so is one that is wrong, which has been said. */
static bool is_auto(const char *text)
{
    unsigned members[LOWLAT_MAX_LEVELS];

    return !is_none(text) && 0 == lowlat_levels_parse(text, members);
}

void mca_levels_warn(const char *component, const char *text)
{
    if (is_auto(text) && '\0' != text[0] && 0 != strcmp(text, by_seats)) {
        opal_output(0,
                    "coll_%s: coll_arc_levels \"%s\" counts as auto: it is auto, flat, or numbers "
                    "from 2 to 8 with commas between, innermost first",
                    component, text);
    }
}

bool mca_levels_begin(const char *text, lowlat_group_t *group, mca_facts_t *facts)
{
    unsigned members[LOWLAT_MAX_LEVELS];
    const unsigned count = lowlat_levels_parse(text, members);

    if (is_auto(text) && group->ranks > LOWLAT_FLAT_RANKS) {
        facts->seats = calloc(group->ranks, sizeof *facts->seats);
        return NULL != facts->seats;
    }
    return 0 == count ||
           lowlat_levels_by_numbers(&group->levels, group->rank, group->ranks, members, count);
}

void mca_levels_end(arc_module_t *module, const arc_topology_t *topology, const char *text,
                    bool crowded, mca_facts_t *facts, lowlat_group_t *group)
{
    lowlat_levels_t *levels = &group->levels;
    /* Ranks that share cores wait for each other wherever these are. */
    const bool by_seat = is_auto(text) && topology->largest > LOWLAT_FLAT_RANKS && !crowded;

    if (by_seat && NULL != facts->seats &&
        !lowlat_levels_by_seats(levels, group->rank, group->ranks, facts->seats)) {
        levels->count = 0;
    }
    /* One level is flat. */
    levels->count = 1 == levels->count ? 0 : levels->count;
    const bool declared = !is_auto(text) && !is_none(text);
    if (by_seat || (topology->nodes > 1 && declared)) {
        const uint64_t shape = 0 == levels->count ? 0 : levels->shape;
        /* Nodes may have the same groups and other caches, and rules may go by these. */
        uint64_t all[] = {shape, ~shape, levels->caches, ~(uint64_t) levels->caches};
        const arc_status_t status = arc_module_min(module, all, 4);
        levels->count = ARC_OK == status && all[0] == ~all[1] ? levels->count : 0;
        levels->caches = ARC_OK == status && all[2] == ~all[3] ? levels->caches : 1;
    }
    free(facts->seats);
    facts->seats = NULL;
}

void mca_levels_describe(const lowlat_levels_t *levels, char *text, size_t text_bytes)
{
    size_t used = (size_t) snprintf(text, text_bytes, "%s", 0 == levels->count ? none : "levels");

    for (unsigned i = 0; i < levels->count && used < text_bytes; ++i) {
        used += (size_t) snprintf(text + used, text_bytes - used, "%c%u", 0 == i ? ' ' : ',',
                                  levels->level[i].members);
    }
}
