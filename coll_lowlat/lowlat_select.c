/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <limits.h>

#include "cpu.h"
#include "lowlat_butterfly.h"
#include "lowlat_memory.h"
#include "lowlat_oneshot.h"
#include "lowlat_select.h"
#include "lowlat_twoshot.h"

const lowlat_algorithm_t lowlat_algorithms[LOWLAT_ALGORITHMS] = {
#define X(_id, _prefix, _name, _in_order, _description) \
    {_name, _description, _in_order, _prefix##_max_bytes, _prefix##_start},
    LOWLAT_ALGORITHM_TABLE(X)
#undef X
};

/* clang-format off */
static const char *const lowlat_algorithm_choices[] = {
    "auto",
#define X(_id, _prefix, _name, _in_order, _description) _name,
    LOWLAT_ALGORITHM_TABLE(X)
#undef X
    NULL,
};
/* clang-format on */
static const char *const arc_uint16_choices[] = ARC_UINT16_CHOICES;
static const char *const arc_isa_choices[] = ARC_ISA_NAMES;
const char *const lowlat_memory_choices[] = {"auto", "sysv", "posix", NULL};

const arc_param_t lowlat_params[] = {
#define ARC_PARAM_CONFIG lowlat_config_t
#define ARC_PARAM_LIST "lowlat_params.def"
#include "param_rows.h"
};
const size_t lowlat_params_count = sizeof lowlat_params / sizeof lowlat_params[0];

/*
 * The rules: the first row counts that is for a group of this kind, and whose
 * numbers of ranks and bytes are not below those of the call.  Where they come
 * from: docs/algorithms.md, "Which algorithm when".
 */
static const struct {
    bool cores_shared;
    unsigned max_ranks;
    size_t max_bytes;
    unsigned algorithm;
} rules[] = {
    /* clang-format off */
    {false, 2,        512 << 10, LOWLAT_ALGORITHM_ONESHOT},
    {false, 4,        4 << 10,   LOWLAT_ALGORITHM_ONESHOT},
    {false, 8,        1 << 10,   LOWLAT_ALGORITHM_ONESHOT},
    {false, UINT_MAX, 256,       LOWLAT_ALGORITHM_ONESHOT},
    {false, UINT_MAX, SIZE_MAX,  LOWLAT_ALGORITHM_TWOSHOT},
    {true,  2,        512 << 10, LOWLAT_ALGORITHM_ONESHOT},
    {true,  4,        32 << 10,  LOWLAT_ALGORITHM_ONESHOT},
    {true,  8,        8 << 10,   LOWLAT_ALGORITHM_ONESHOT},
    {true,  UINT_MAX, 4 << 10,   LOWLAT_ALGORITHM_ONESHOT},
    {true,  UINT_MAX, SIZE_MAX,  LOWLAT_ALGORITHM_TWOSHOT},
    /* clang-format on */
};

bool lowlat_is_forced(const lowlat_config_t *config)
{
    return LOWLAT_ALGORITHM_AUTO != config->algorithm &&
           (!config->reproducible || lowlat_algorithms[config->algorithm - 1].in_rank_order);
}

static void map_add(lowlat_map_t *map, unsigned algorithm, size_t max_bytes)
{
    map->entry[map->entries] = (lowlat_map_entry_t){algorithm, max_bytes};
    map->entries += 1;
}

void lowlat_map_init(lowlat_map_t *map, const lowlat_config_t *config, const lowlat_group_t *group)
{
    /* Reproducible means by this component, whatever the length. */
    const bool no_limit = config->reproducible || 0 == config->max_bytes;
    const size_t limit_bytes = no_limit ? SIZE_MAX : config->max_bytes;

    map->entries = 0;
    if (lowlat_is_forced(config)) {
        const unsigned algorithm = (unsigned) config->algorithm - 1;
        map_add(map, algorithm,
                lowlat_min(limit_bytes, lowlat_algorithms[algorithm].max_bytes(group)));
        return;
    }
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; ++i) {
        if (rules[i].cores_shared != group->cores_shared || rules[i].max_ranks < group->ranks ||
            (map->entries > 0 && rules[i].max_bytes <= map->entry[map->entries - 1].max_bytes) ||
            (config->reproducible && !lowlat_algorithms[rules[i].algorithm].in_rank_order)) {
            continue;
        }
        map_add(map, rules[i].algorithm, lowlat_min(limit_bytes, rules[i].max_bytes));
        if (limit_bytes <= rules[i].max_bytes) {
            return;
        }
    }
}

void lowlat_map_describe(const lowlat_map_t *map, char *text, size_t text_bytes)
{
    size_t used = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < map->entries && used < text_bytes; ++i) {
        const lowlat_map_entry_t *entry = &map->entry[i];
        const char *name = lowlat_algorithms[entry->algorithm].name;
        used += SIZE_MAX == entry->max_bytes
                    ? (size_t) snprintf(text + used, text_bytes - used, "%s%s to any length",
                                        i ? ", " : "", name)
                    : (size_t) snprintf(text + used, text_bytes - used, "%s%s to %zu bytes",
                                        i ? ", " : "", name, entry->max_bytes);
    }
}
