/*
 * Which algorithm carries a message: a pure function of facts equal on all
 * ranks (number of ranks, bytes, configuration).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_SELECT_H
#define LOWLAT_SELECT_H

#include <stdio.h>

#include "lowlat.h"
#include "param.h"

/* clang-format off */
/* X(identifier, prefix of its functions, name, description): the only list of algorithms. */
#define LOWLAT_ALGORITHM_TABLE(X)                                                       \
    X(INLINE, lowlat_inline, "oneshot_inline", "one-shot, data and flag in one cache line") \
    X(STAGED, lowlat_staged, "oneshot_staged", "one-shot, staged in pipelined blocks")
/* clang-format on */

/* An algorithm's number is its identity in tallies and rules. */
enum {
#define X(_id, _prefix, _name, _description) LOWLAT_ALGORITHM_##_id,
    LOWLAT_ALGORITHM_TABLE(X)
#undef X
        LOWLAT_ALGORITHMS
};
extern const lowlat_algorithm_t lowlat_algorithms[LOWLAT_ALGORITHMS];

/* The value of the parameter `algorithm`: auto, or 1 + the number of one. */
enum { LOWLAT_ALGORITHM_AUTO = 0 };

/* The value of the parameter `shared_memory`: auto, or 1 + the number of one. */
enum { LOWLAT_MEMORY_AUTO = 0 };
extern const char *const lowlat_memory_choices[];

extern const arc_param_t lowlat_params[];
extern const size_t lowlat_params_count;

/* A compiled selection: messages up to bytes[a] go to algorithm a, the first that fits. */
typedef struct lowlat_map {
    size_t bytes[LOWLAT_ALGORITHMS];
    size_t max_bytes; /* longer messages are passed down */
} lowlat_map_t;

/* Compile the selection for a group. */
void lowlat_map_init(lowlat_map_t *map, const lowlat_config_t *config, const lowlat_group_t *group);

/* The algorithm for a message of `bytes` bytes, or LOWLAT_ALGORITHMS: pass it down. */
static inline unsigned lowlat_map_lookup(const lowlat_map_t *map, size_t bytes)
{
    unsigned algorithm = 0;
    while (algorithm < LOWLAT_ALGORITHMS && bytes > map->bytes[algorithm]) {
        ++algorithm;
    }
    return algorithm;
}

/* Write the selection as text: "oneshot_inline to 56, oneshot_staged to 65536, then passed down".
 */
void lowlat_map_describe(const lowlat_map_t *map, char *text, size_t text_bytes);

#endif
