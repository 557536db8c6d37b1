/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <limits.h>

#include "cpu.h"
#include "lowlat_oneshot.h"
#include "lowlat_select.h"

const lowlat_algorithm_t lowlat_algorithms[LOWLAT_ALGORITHMS] = {
#define X(_id, _prefix, _name, _description) \
    {_name, _description, _prefix##_max_bytes, _prefix##_start},
    LOWLAT_ALGORITHM_TABLE(X)
#undef X
};

/* clang-format off */
static const char *const lowlat_algorithm_choices[] = {
    "auto",
#define X(_id, _prefix, _name, _description) _name,
    LOWLAT_ALGORITHM_TABLE(X)
#undef X
    NULL,
};
/* clang-format on */
static const char *const arc_isa_choices[] = ARC_ISA_NAMES;
const char *const lowlat_memory_choices[] = {"auto", "sysv", "posix", NULL};

const arc_param_t lowlat_params[] = {
#define ARC_PARAM_CONFIG lowlat_config_t
#define ARC_PARAM_LIST "lowlat_params.def"
#include "param_rows.h"
};
const size_t lowlat_params_count = sizeof lowlat_params / sizeof lowlat_params[0];

/*
 * Where each algorithm stops to win, by the number of ranks; the first row whose
 * max_ranks is not below the group's counts.  Up to 8 ranks measured on 2 cores
 * (docs/benchmarks.md); beyond, ranks times bytes is kept, because every rank
 * reads what all the others write.
 */
static const struct {
    unsigned max_ranks;
    size_t max_bytes[LOWLAT_ALGORITHMS];
} rules[] = {
    /* clang-format off */
    {2,        {LOWLAT_LINE_DATA_BYTES, 1024 << 10}},
    {4,        {LOWLAT_LINE_DATA_BYTES,  128 << 10}},
    {8,        {LOWLAT_LINE_DATA_BYTES,   64 << 10}},
    {16,       {LOWLAT_LINE_DATA_BYTES,   32 << 10}},
    {32,       {LOWLAT_LINE_DATA_BYTES,   16 << 10}},
    {64,       {LOWLAT_LINE_DATA_BYTES,    8 << 10}},
    {UINT_MAX, {LOWLAT_LINE_DATA_BYTES,    4 << 10}},
    /* clang-format on */
};

static size_t min_bytes(size_t a, size_t b)
{
    return a < b ? a : b;
}

void lowlat_map_init(lowlat_map_t *map, const lowlat_config_t *config, const lowlat_group_t *group)
{
    size_t rule = 0;
    while (rules[rule].max_ranks < group->ranks) {
        ++rule;
    }
    map->max_bytes = 0;
    for (unsigned algorithm = 0; algorithm < LOWLAT_ALGORITHMS; ++algorithm) {
        const size_t carries =
            min_bytes(config->max_bytes, lowlat_algorithms[algorithm].max_bytes(group));
        if (LOWLAT_ALGORITHM_AUTO == config->algorithm) {
            map->bytes[algorithm] = min_bytes(carries, rules[rule].max_bytes[algorithm]);
        } else {
            map->bytes[algorithm] = (unsigned) config->algorithm - 1 == algorithm ? carries : 0;
        }
        if (map->bytes[algorithm] > map->max_bytes) {
            map->max_bytes = map->bytes[algorithm];
        }
    }
}

void lowlat_map_describe(const lowlat_map_t *map, char *text, size_t text_bytes)
{
    size_t used = 0;
    for (unsigned algorithm = 0; algorithm < LOWLAT_ALGORITHMS && used < text_bytes; ++algorithm) {
        if (0 != map->bytes[algorithm]) {
            used += (size_t) snprintf(text + used, text_bytes - used, "%s to %zu bytes, ",
                                      lowlat_algorithms[algorithm].name, map->bytes[algorithm]);
        }
    }
    if (used < text_bytes) {
        snprintf(text + used, text_bytes - used, "longer messages passed down");
    }
}
