/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>

#include "lowlat_net.h"
#include "lowlat_select.h"
#include "lowlat_staging.h"

const lowlat_algorithm_t lowlat_algorithms[LOWLAT_ALGORITHMS] = {
#define X(_id, _prefix, _name, _reproducible, _description) \
    {_name, _description, _reproducible, _prefix##_start},
    LOWLAT_ALGORITHM_TABLE(X)
#undef X
};

/* clang-format off */
#define X(_id, _prefix, _name, ...) _name,
const char *const lowlat_algorithm_choices[] = {
    "auto", LOWLAT_ALGORITHM_TABLE(X) "none", NULL};
#undef X
/* clang-format on */
static const char *const arc_uint16_choices[] = ARC_UINT16_CHOICES;
static const char *const lowlat_staging_choices[] = {"auto", "ordinary", "prefetching", "streaming",
                                                     NULL};
static const char *const lowlat_transport_choices[] = {"auto", "messages", "puts", NULL};

#define ARC_PARAM_CONFIG lowlat_config_t
#define ARC_PARAM_FILE "lowlat_params.def"
#define ARC_PARAM_TABLE lowlat_params
#include "param_table.h"
static_assert((int) LOWLAT_SCHEDULES + LOWLAT_PIPES == LOWLAT_ALGORITHMS - LOWLAT_NODES_FIRST,
              "a schedule, or a pipe, for each algorithm between nodes");
static_assert(ARC_PARAM_CHOICES(lowlat_algorithm_choices) == LOWLAT_ALGORITHM_NONE + 1,
              "a name each");
static_assert(ARC_PARAM_CHOICES(arc_uint16_choices) == ARC_UINT16_FP16 + 1, "a name each");
static_assert(ARC_PARAM_CHOICES(lowlat_staging_choices) == LOWLAT_WAYS + 1,
              "auto, and a name each");
static_assert(ARC_PARAM_CHOICES(lowlat_transport_choices) == LOWLAT_TRANSPORT_PUTS + 1,
              "a name each");

unsigned lowlat_forced(const lowlat_config_t *config, bool several_nodes)
{
    const unsigned algorithm = (unsigned) config->algorithm - 1; /* auto and none: too large */

    return algorithm < LOWLAT_ALGORITHMS &&
                   several_nodes == (algorithm >= (unsigned) LOWLAT_NODES_FIRST) &&
                   (!config->reproducible || lowlat_algorithms[algorithm].reproducible)
               ? algorithm
               : LOWLAT_NOT_FORCED;
}
