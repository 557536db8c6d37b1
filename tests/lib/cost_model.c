/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>
#include <string.h>

#include "cost_model.h"

static double message_seconds(const cost_level_t *level, double bytes)
{
    return level->alpha_seconds + bytes * level->beta_seconds_per_byte;
}

/*
 * A step that uses links of both kinds, where both exist.  Latency and bytes each from the slower:
 * an upper bound where one link has the higher latency and the other the lower rate, exact
 * elsewhere.
 */
static cost_level_t slowest_link(const cost_model_t *model, unsigned nodes, unsigned ranks_per_node)
{
    if (1 == nodes) {
        return model->intra;
    }
    if (1 == ranks_per_node) {
        return model->inter;
    }
    return (cost_level_t){
        .alpha_seconds = fmax(model->intra.alpha_seconds, model->inter.alpha_seconds),
        .beta_seconds_per_byte =
            fmax(model->intra.beta_seconds_per_byte, model->inter.beta_seconds_per_byte),
    };
}

static unsigned log2_floor(size_t n)
{
    unsigned steps = 0;
    while (n >>= 1) {
        ++steps;
    }
    return steps;
}

static int is_power_of_two(size_t n)
{
    return 0 == (n & (n - 1));
}

static unsigned log2_ceil(size_t n)
{
    return log2_floor(n) + (is_power_of_two(n) ? 0 : 1);
}

/* Half of a ring allreduce over `ranks` ranks: its reduce-scatter or its allgather. */
static double ring_half_seconds(const cost_level_t *level, double ranks, double bytes)
{
    return (ranks - 1) * message_seconds(level, bytes / ranks);
}

/* Additions of a reduce-scatter over `ranks` ranks. */
static double scatter_add_seconds(const cost_model_t *model, double ranks, double bytes)
{
    return (ranks - 1) / ranks * bytes * model->gamma_seconds_per_byte;
}

/* Recursive doubling of equal links; wire_bytes for `bytes` of data. */
static double doubling_seconds(const cost_model_t *model, const cost_level_t *level, size_t ranks,
                               double bytes, double wire_bytes)
{
    unsigned adds = log2_ceil(ranks);
    /* Folding costs one addition and two messages: there, and back with the result. */
    unsigned messages = is_power_of_two(ranks) ? adds : adds + 1;
    return messages * message_seconds(level, wire_bytes) +
           adds * bytes * model->gamma_seconds_per_byte;
}

double cost_ring_seconds(const cost_model_t *model, unsigned nodes, unsigned ranks_per_node,
                         size_t bytes)
{
    const cost_level_t link = slowest_link(model, nodes, ranks_per_node);
    const double ranks = (double) nodes * ranks_per_node;

    return 2 * ring_half_seconds(&link, ranks, (double) bytes) +
           scatter_add_seconds(model, ranks, (double) bytes);
}

double cost_tree_seconds(const cost_model_t *model, unsigned nodes, unsigned ranks_per_node,
                         size_t bytes)
{
    const double in_chain = ranks_per_node > 1 ? 2 * model->intra.beta_seconds_per_byte : 0;
    const double in_tree = 2 * (nodes - 1.0) / nodes * model->inter.beta_seconds_per_byte;
    /* In the chain one vector is added; in the double tree two halves of one. */
    const unsigned adds = (ranks_per_node > 1 ? 1 : 0) + (nodes > 1 ? 1 : 0);

    return 2 * (ranks_per_node - 1.0) * model->intra.alpha_seconds +
           2 * log2_ceil(nodes) * model->inter.alpha_seconds +
           (fmax(in_chain, in_tree) + adds * model->gamma_seconds_per_byte) * (double) bytes;
}

double cost_doubling_seconds(const cost_model_t *model, unsigned nodes, unsigned ranks_per_node,
                             size_t bytes)
{
    const double data = (double) bytes;

    if (is_power_of_two(nodes) && is_power_of_two(ranks_per_node)) {
        return doubling_seconds(model, &model->intra, ranks_per_node, data, data) +
               doubling_seconds(model, &model->inter, nodes, data, data);
    }
    const cost_level_t link = slowest_link(model, nodes, ranks_per_node);
    return doubling_seconds(model, &link, (size_t) nodes * ranks_per_node, data, data);
}

/* (3) + (5), and the additions of (3). */
static double inside_node_seconds(const cost_model_t *model, unsigned ranks_per_node, double bytes)
{
    return 2 * ring_half_seconds(&model->intra, ranks_per_node, bytes) +
           scatter_add_seconds(model, ranks_per_node, bytes);
}

double cost_hierarchical_seconds(const cost_model_t *model, unsigned nodes, unsigned ranks_per_node,
                                 size_t bytes)
{
    const double share = (double) bytes / ranks_per_node;

    return inside_node_seconds(model, ranks_per_node, (double) bytes) +
           doubling_seconds(model, &model->inter, nodes, share, model->eta * share);
}

double cost_hierarchical_printed_seconds(const cost_model_t *model, unsigned nodes,
                                         unsigned ranks_per_node, size_t bytes)
{
    const double share = (double) bytes / ranks_per_node;
    const double steps = log2(nodes);

    return inside_node_seconds(model, ranks_per_node, (double) bytes) +
           steps * (model->inter.alpha_seconds + share * model->gamma_seconds_per_byte) +
           (nodes - 1.0) / nodes * model->eta * share * model->inter.beta_seconds_per_byte;
}

double cost_hierarchical_halving_seconds(const cost_model_t *model, unsigned nodes,
                                         unsigned ranks_per_node, size_t bytes)
{
    const double share = (double) bytes / ranks_per_node;
    const unsigned whole = is_power_of_two(nodes) ? log2_ceil(nodes) : log2_ceil(nodes) - 1;
    const double positions = (double) ((size_t) 1 << whole);
    const double halves = (positions - 1) / positions;
    const double folds = is_power_of_two(nodes) ? 0 : 1;

    return inside_node_seconds(model, ranks_per_node, (double) bytes) +
           2 * (whole * model->inter.alpha_seconds +
                halves * share * model->inter.beta_seconds_per_byte) +
           2 * folds * message_seconds(&model->inter, share) +
           (halves + folds) * share * model->gamma_seconds_per_byte;
}

double cost_hierarchical_ring_seconds(const cost_model_t *model, unsigned nodes,
                                      unsigned ranks_per_node, size_t bytes)
{
    const double share = (double) bytes / ranks_per_node;

    return inside_node_seconds(model, ranks_per_node, (double) bytes) +
           2 * ring_half_seconds(&model->inter, nodes, share) +
           scatter_add_seconds(model, nodes, share);
}

const cost_algorithm_t cost_algorithms[] = {
    {"ring", cost_ring_seconds},
    {"tree", cost_tree_seconds},
    {"doubling", cost_doubling_seconds},
    {"hierarchical", cost_hierarchical_seconds},
    {"hierarchical_printed", cost_hierarchical_printed_seconds},
    {"hierarchical_halving", cost_hierarchical_halving_seconds},
    {"hierarchical_ring", cost_hierarchical_ring_seconds},
};
const size_t cost_algorithms_count = sizeof(cost_algorithms) / sizeof(cost_algorithms[0]);

const cost_algorithm_t *cost_algorithm_by_name(const char *name)
{
    for (size_t i = 0; i < cost_algorithms_count; ++i) {
        if (0 == strcmp(cost_algorithms[i].name, name)) {
            return &cost_algorithms[i];
        }
    }
    return NULL;
}

arc_status_t cost_crossover_find(const cost_model_t *model, cost_seconds_fn_t small,
                                 cost_seconds_fn_t large, unsigned nodes, unsigned ranks_per_node,
                                 size_t min_bytes, size_t max_bytes, size_t *bytes)
{
    if (min_bytes > max_bytes) {
        return ARC_ERR_INVALID;
    }
    size_t small_wins = min_bytes;
    size_t large_wins = max_bytes;
    if (small(model, nodes, ranks_per_node, small_wins) >=
            large(model, nodes, ranks_per_node, small_wins) ||
        small(model, nodes, ranks_per_node, large_wins) <
            large(model, nodes, ranks_per_node, large_wins)) {
        return ARC_UNSUPPORTED;
    }
    while (large_wins - small_wins > 1) {
        size_t middle = small_wins + (large_wins - small_wins) / 2;
        if (small(model, nodes, ranks_per_node, middle) <
            large(model, nodes, ranks_per_node, middle)) {
            small_wins = middle;
        } else {
            large_wins = middle;
        }
    }
    *bytes = large_wins;
    return ARC_OK;
}
