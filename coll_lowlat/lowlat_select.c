/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>

#include "lowlat_butterfly.h"
#include "lowlat_hierarchical.h"
#include "lowlat_net.h"
#include "lowlat_oneshot.h"
#include "lowlat_pipe.h"
#include "lowlat_select.h"
#include "lowlat_staging.h"
#include "lowlat_twoshot.h"

/* Between nodes a message has any length. */
static size_t max_bytes_between(const lowlat_group_t *group)
{
    return NULL != group->net ? SIZE_MAX : 0;
}

const lowlat_algorithm_t lowlat_algorithms[LOWLAT_ALGORITHMS] = {
#define X(_id, _prefix, _name, _reproducible, _description) \
    {_name, _description, _reproducible, _prefix##_max_bytes, _prefix##_start},
    LOWLAT_NODE_TABLE(X)
#undef X
#define X(_id, _prefix, _name, _reproducible, _description) \
    {_name, _description, _reproducible, max_bytes_between, _prefix##_start},
        LOWLAT_NODES_TABLE(X)
#undef X
};

/* clang-format off */
#define X(_id, _prefix, _name, ...) _name,
static const char *const lowlat_algorithm_choices[] = {"auto", LOWLAT_NODE_TABLE(X) NULL};
static const char *const lowlat_nodes_algorithm_choices[] = {
    "auto", LOWLAT_NODES_TABLE(X) "none", NULL};
#undef X
/* clang-format on */
static const char *const arc_uint16_choices[] = ARC_UINT16_CHOICES;
static const char *const lowlat_staging_choices[] = {"auto", "ordinary", "prefetching", "streaming",
                                                     NULL};
static const char *const lowlat_transport_choices[] = {"auto", "messages", "puts", NULL};

const arc_param_t lowlat_params[] = {
#define ARC_PARAM_CONFIG lowlat_config_t
#define ARC_PARAM_LIST "lowlat_params.def"
#include "param_rows.h"
};
const size_t lowlat_params_count = sizeof lowlat_params / sizeof lowlat_params[0];
static_assert(sizeof lowlat_params / sizeof lowlat_params[0] <= ARC_MAX_PARAMS, "room for all");
#define ARC_PARAM_LIST "lowlat_params.def"
#include "param_checks.h"
#include "sizes.h"
static_assert(ARC_PARAM_CHOICES(lowlat_nodes_algorithm_choices) == LOWLAT_NODES_NONE + 1,
              "a name each");
static_assert(ARC_PARAM_CHOICES(arc_uint16_choices) == ARC_UINT16_FP16 + 1, "a name each");
static_assert(ARC_PARAM_CHOICES(lowlat_staging_choices) == LOWLAT_WAYS + 1,
              "auto, and a name each");
static_assert(ARC_PARAM_CHOICES(lowlat_transport_choices) == LOWLAT_TRANSPORT_PUTS + 1,
              "a name each");

/* What kind of group the rules are for; the same on all ranks. */
typedef enum lowlat_kind {
    SHARED,      /* some ranks share a core */
    ORDINARY,    /* a core for each; staged by ordinary stores: near cores */
    PREFETCHING, /* a core for each; most ranks stage by prefetching: far ones */
    STREAMING,   /* a core for each; most ranks stage by streaming: far ones, too */
    KINDS
} lowlat_kind_t;

static lowlat_kind_t kind_of(const lowlat_group_t *group)
{
    static const lowlat_kind_t kinds[LOWLAT_WAYS] = {
        [LOWLAT_WAY_ORDINARY] = ORDINARY,
        [LOWLAT_WAY_PREFETCHING] = PREFETCHING,
        [LOWLAT_WAY_STREAMING] = STREAMING,
    };
    return group->cores_shared ? SHARED : kinds[group->way];
}

/*
 * The rules: the first row counts whose number of ranks is not below that of the group and whose
 * bytes for this kind are not below those of the call.  Where they come from:
 * docs/algorithms.md, "which algorithm when".
 */
static const struct {
    unsigned max_ranks;
    size_t max_bytes[KINDS];
    unsigned algorithm;
} rules[] = {
    /* clang-format off */
    /* ranks     shared     ordinary   prefetch.  streaming */
    {2,         {512 << 10, 16 << 10,  32 << 10,  8 << 20},  LOWLAT_ALGORITHM_ONESHOT},
    {4,         {32 << 10,  4 << 10,   4 << 10,   4 << 10},  LOWLAT_ALGORITHM_ONESHOT},
    {8,         {8 << 10,   1 << 10,   1 << 10,   1 << 10},  LOWLAT_ALGORITHM_ONESHOT},
    {UINT_MAX,  {4 << 10,   256,       256,       256},      LOWLAT_ALGORITHM_ONESHOT},
    {UINT_MAX,  {SIZE_MAX,  SIZE_MAX,  SIZE_MAX,  SIZE_MAX}, LOWLAT_ALGORITHM_TWOSHOT},
    /* clang-format on */
};
static_assert(sizeof rules / sizeof rules[0] <= LOWLAT_MAP_ENTRIES, "an entry of a map each");

unsigned lowlat_forced(const lowlat_config_t *config, bool several_nodes)
{
    const int choice = several_nodes ? config->nodes_algorithm : config->algorithm;

    if (LOWLAT_ALGORITHM_AUTO == choice || (several_nodes && LOWLAT_NODES_NONE == choice)) {
        return LOWLAT_NOT_FORCED;
    }
    const unsigned algorithm =
        (unsigned) choice - 1 + (several_nodes ? (unsigned) LOWLAT_NODES_FIRST : 0);
    return config->reproducible && !lowlat_algorithms[algorithm].reproducible ? LOWLAT_NOT_FORCED
                                                                              : algorithm;
}

/* Add an entry, unless earlier ones leave it nothing.  False: it takes all that is left. */
static bool map_add(lowlat_map_t *map, const lowlat_config_t *config, unsigned algorithm,
                    size_t max_bytes, size_t limit_bytes)
{
    const size_t before = map->entries > 0 ? map->entry[map->entries - 1].max_bytes : 0;

    if (map->entries < LOWLAT_MAP_ENTRIES && max_bytes > before &&
        (!config->reproducible || algorithm >= LOWLAT_ALGORITHMS ||
         lowlat_algorithms[algorithm].reproducible)) {
        map->entry[map->entries] = (lowlat_rule_t){arc_min(limit_bytes, max_bytes), algorithm};
        map->entries += 1;
        return max_bytes < limit_bytes;
    }
    return true;
}

void lowlat_map_init(lowlat_map_t *map, const lowlat_config_t *config, const lowlat_group_t *group)
{
    /* Reproducible means by this component, whatever the length. */
    const bool no_limit = config->reproducible || 0 == config->max_bytes;
    const size_t limit_bytes = no_limit ? SIZE_MAX : config->max_bytes;
    const bool several_nodes = NULL != group->net;
    bool more = true;

    map->entries = 0;
    if (several_nodes && LOWLAT_NODES_NONE == config->nodes_algorithm) {
        return;
    }
    const unsigned forced = lowlat_forced(config, several_nodes);
    if (LOWLAT_NOT_FORCED != forced) {
        (void) map_add(map, config, forced, lowlat_algorithms[forced].max_bytes(group),
                       limit_bytes);
    } else if (several_nodes) {
        (void) map_add(map, config, LOWLAT_LEARNED, SIZE_MAX, limit_bytes);
    } else {
        for (size_t i = 0; more && i < sizeof rules / sizeof rules[0]; ++i) {
            more = rules[i].max_ranks < group->ranks ||
                   map_add(map, config, rules[i].algorithm, rules[i].max_bytes[kind_of(group)],
                           limit_bytes);
        }
    }
}

void lowlat_map_describe(const lowlat_map_t *map, char *text, size_t text_bytes)
{
    size_t used = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < map->entries && used < text_bytes; ++i) {
        const lowlat_rule_t *entry = &map->entry[i];
        const char *name = LOWLAT_LEARNED == entry->algorithm
                               ? "what calls tell"
                               : lowlat_algorithms[entry->algorithm].name;
        used += SIZE_MAX == entry->max_bytes
                    ? (size_t) snprintf(text + used, text_bytes - used, "%s%s to any length",
                                        i ? ", " : "", name)
                    : (size_t) snprintf(text + used, text_bytes - used, "%s%s to %zu bytes",
                                        i ? ", " : "", name, entry->max_bytes);
    }
}
