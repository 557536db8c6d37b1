/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll_lowlat_levels.h"
#include "coll_lowlat_settled.h"

/* The values of the parameter that are no numbers. */
static const char by_seats[] = "auto";
static const char none[] = "flat";

static const char *text_of(const lowlat_config_t *config)
{
    return NULL == config->levels ? "" : config->levels;
}

/* An empty text is that of the default; so is one that is wrong, which has been said. */
static bool is_auto(const lowlat_config_t *config)
{
    unsigned members[LOWLAT_MAX_LEVELS];

    return 0 != strcmp(text_of(config), none) && 0 == lowlat_levels_parse(text_of(config), members);
}

const char *coll_lowlat_levels_wrong(const lowlat_config_t *config)
{
    const char *text = text_of(config);

    return is_auto(config) && '\0' != text[0] && 0 != strcmp(text, by_seats)
               ? "it is auto, flat, or numbers from 2 to 8 with commas between, innermost first"
               : NULL;
}

bool coll_lowlat_levels_begin(lowlat_module_t *module, mca_facts_t *facts)
{
    const lowlat_config_t *config = &mca_coll_lowlat_component.config;
    lowlat_group_t *group = &module->group;
    unsigned members[LOWLAT_MAX_LEVELS];
    const unsigned count = lowlat_levels_parse(text_of(config), members);

    if (is_auto(config) && group->ranks > LOWLAT_FLAT_RANKS) {
        facts->seats = calloc(group->ranks, sizeof *facts->seats);
        if (NULL == facts->seats) {
            return false;
        }
    }
    return lowlat_levels_by_pairs(&group->pairs, group->rank, group->ranks) &&
           (0 == count ||
            lowlat_levels_by_numbers(&group->levels, group->rank, group->ranks, members, count));
}

void coll_lowlat_levels_end(lowlat_module_t *module, mca_facts_t *facts)
{
    lowlat_group_t *group = &module->group;

    /* Ranks that share cores wait for each other wherever these are. */
    if (NULL != facts->seats && !(facts->cores_shared && LOWLAT_SHARED_IS_FLAT)) {
        uint64_t made =
            lowlat_levels_by_seats(&group->levels, group->rank, group->ranks, facts->seats);
        if (ARC_OK != arc_module_min(&module->base, &made, 1) || !made) {
            group->levels.count = 0;
        }
    }
    /* One level is flat. */
    group->levels.count = 1 == group->levels.count ? 0 : group->levels.count;
    free(facts->seats);
    facts->seats = NULL;
}

void coll_lowlat_levels_describe(const lowlat_group_t *group, char *text, size_t text_bytes)
{
    size_t used =
        (size_t) snprintf(text, text_bytes, "%s", 0 == group->levels.count ? none : "levels");

    for (unsigned i = 0; i < group->levels.count && used < text_bytes; ++i) {
        used += (size_t) snprintf(text + used, text_bytes - used, "%c%u", 0 == i ? ' ' : ',',
                                  group->levels.level[i].members);
    }
}
