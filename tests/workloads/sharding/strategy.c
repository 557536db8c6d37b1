/*
 * The strategies of a sharded product, found by trying what each axis may do.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "strategy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"

static const double flops_per_term = 2; /* a product and a sum */

/* Where an axis is in a layout. */
typedef enum place { ROWS, COLUMNS, UNREDUCED, NOWHERE } place_t;

static place_t place_of(const shard_layout_t *layout, unsigned axis)
{
    if (shard_axes_contain(&layout->cut[0], axis)) {
        return ROWS;
    }
    if (shard_axes_contain(&layout->cut[1], axis)) {
        return COLUMNS;
    }
    return shard_axes_contain(&layout->unreduced, axis) ? UNREDUCED : NOWHERE;
}

static void remove_axis(shard_axes_t *axes, unsigned axis)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < axes->count; ++i) {
        if (axes->axis[i] != axis) {
            axes->axis[kept++] = axes->axis[i];
        }
    }
    axes->count = kept;
}

void shard_step_apply(const shard_step_t *step, shard_layout_t *layout)
{
    const bool whole =
        !step->slice && (SHARD_ALLGATHER == step->primitive || SHARD_ALL_TO_ALL == step->primitive);
    const bool cuts = step->slice || SHARD_REDUCE_SCATTER == step->primitive ||
                      SHARD_ALL_TO_ALL == step->primitive;

    for (unsigned i = 0; i < step->axes.count; ++i) {
        const unsigned axis = step->axes.axis[i];
        if (whole) {
            remove_axis(&layout->cut[step->from], axis);
        }
        if (cuts) {
            shard_axes_append(&layout->cut[step->to], axis);
        }
        remove_axis(&layout->unreduced, axis);
    }
}

/* ---- costs ---- */

/* V of a step that begins with `layout`. */
static double step_array_bytes(const shard_problem_t *problem, shard_matrix_t matrix,
                               const shard_step_t *step, const shard_layout_t *layout)
{
    const double local =
        problem->element_bytes *
        (double) shard_local_elements(&problem->mesh, &problem->shape, matrix, layout);
    const bool shards = SHARD_ALLGATHER == step->primitive || SHARD_ALL_TO_ALL == step->primitive;

    if (step->slice) {
        return 0;
    }
    return shards ? local * shard_axes_ranks(&problem->mesh, &step->axes) : local;
}

static void add_steps(const shard_problem_t *problem, shard_matrix_t matrix,
                      const shard_steps_t *steps, shard_layout_t layout, shard_cost_t *cost)
{
    for (unsigned i = 0; i < steps->count; ++i) {
        const shard_step_t *step = &steps->step[i];
        if (!step->slice) {
            const double bytes = step_array_bytes(problem, matrix, step, &layout);
            cost->array_bytes += bytes;
            cost->sent_bytes += shard_sent_bytes(
                step->primitive, shard_axes_ranks(&problem->mesh, &step->axes), bytes);
            cost->communication_seconds += shard_primitive_seconds(
                &problem->network, &problem->mesh, step->primitive, &step->axes, bytes);
        }
        shard_step_apply(step, &layout);
    }
}

shard_cost_t shard_strategy_cost(const shard_problem_t *problem, const shard_strategy_t *strategy)
{
    const shard_layout_t *const begin[SHARD_MATRICES] = {&problem->product.layout[SHARD_A],
                                                         &problem->product.layout[SHARD_B],
                                                         &strategy->layout[SHARD_C]};
    shard_cost_t cost = {0};

    for (unsigned m = 0; m < SHARD_MATRICES; ++m) {
        add_steps(problem, m, &strategy->steps[m], *begin[m], &cost);
    }
    cost.flops = flops_per_term *
                 (double) shard_local_elements(&problem->mesh, &problem->shape, SHARD_C,
                                               &strategy->layout[SHARD_C]) *
                 (double) shard_local_extent(&problem->mesh, &problem->shape, SHARD_A,
                                             &strategy->layout[SHARD_A], 1);
    cost.compute_seconds = cost.flops / problem->network.flops_per_second;
    cost.seconds = problem->network.overlapped
                       ? fmax(cost.compute_seconds, cost.communication_seconds)
                       : cost.compute_seconds + cost.communication_seconds;
    return cost;
}

/* ---- from one layout to another ---- */

/* A search through the orders in which the axes of a matrix can take their steps. */
typedef struct search {
    const shard_problem_t *problem;
    shard_matrix_t matrix;
    shard_layout_t begin;
    shard_layout_t end;
    shard_steps_t best;
    double best_seconds; /* negative: nothing found yet */
} search_t;

/* False where the axis cannot go there, or not yet. */
static bool make_step(const shard_layout_t *layout, unsigned axis, place_t to, shard_step_t *step)
{
    const place_t from = place_of(layout, axis);

    *step = (shard_step_t){
        .axes = {.count = 1, .axis = {axis}}, .from = COLUMNS == from, .to = COLUMNS == to};
    if (NOWHERE == from) {
        step->slice = true;
        return UNREDUCED != to;
    }
    if (UNREDUCED == from) {
        step->primitive = NOWHERE == to ? SHARD_ALLREDUCE : SHARD_REDUCE_SCATTER;
        return true;
    }
    const shard_axes_t *cut = &layout->cut[from];
    step->primitive = NOWHERE == to ? SHARD_ALLGATHER : SHARD_ALL_TO_ALL;
    return UNREDUCED != to && cut->axis[cut->count - 1] == axis;
}

/*
 * Two steps of the same kind are one over both axes.  A gather takes the last axis first, the
 * others the first axis first.  Not all-to-alls: one over X and Y leaves another order than two.
 */
static bool fuse(shard_step_t *step, const shard_step_t *next)
{
    if (step->slice != next->slice || step->primitive != next->primitive ||
        step->from != next->from || step->to != next->to ||
        (!step->slice && SHARD_ALL_TO_ALL == step->primitive)) {
        return false;
    }
    const bool front = !step->slice && SHARD_ALLGATHER == step->primitive;
    shard_axes_insert(&step->axes, front ? 0 : step->axes.count, next->axes.axis[0]);
    return true;
}

static shard_steps_t fuse_all(const shard_steps_t *single)
{
    shard_steps_t fused = {0};

    for (unsigned i = 0; i < single->count; ++i) {
        if (0 == fused.count || !fuse(&fused.step[fused.count - 1], &single->step[i])) {
            fused.step[fused.count++] = single->step[i];
        }
    }
    return fused;
}

static void keep_if_best(search_t *search, const shard_steps_t *single)
{
    const shard_steps_t steps = fuse_all(single);
    shard_cost_t cost = {0};

    add_steps(search->problem, search->matrix, &steps, search->begin, &cost);
    if (search->best_seconds < 0 || cost.communication_seconds < search->best_seconds) {
        search->best = steps;
        search->best_seconds = cost.communication_seconds;
    }
}

static void search_on(search_t *search, const shard_layout_t *layout, shard_steps_t *steps)
{
    if (shard_layout_equal(layout, &search->end)) {
        keep_if_best(search, steps);
        return;
    }
    for (unsigned axis = 0; axis < search->problem->mesh.axes; ++axis) {
        const place_t to = place_of(&search->end, axis);
        shard_layout_t next = *layout;
        shard_step_t step;
        if (place_of(layout, axis) == to || !make_step(layout, axis, to, &step)) {
            continue;
        }
        shard_step_apply(&step, &next);
        if (0 == shard_local_elements(&search->problem->mesh, &search->problem->shape,
                                      search->matrix, &next)) {
            continue;
        }
        steps->step[steps->count++] = step;
        search_on(search, &next, steps);
        steps->count--;
    }
}

static bool find_steps(const shard_problem_t *problem, shard_matrix_t matrix,
                       const shard_layout_t *begin, const shard_layout_t *end, shard_steps_t *steps)
{
    search_t search = {
        .problem = problem, .matrix = matrix, .begin = *begin, .end = *end, .best_seconds = -1};
    shard_steps_t none = {0};

    search_on(&search, begin, &none);
    *steps = search.best;
    return search.best_seconds >= 0;
}

/* ---- all strategies ---- */

/* Fills in `strategy` for a multiplication with I, J and K cut so; false where it cannot be. */
static bool make_strategy(const shard_problem_t *problem, const shard_axes_t cut[SHARD_DIMENSIONS],
                          shard_strategy_t *strategy)
{
    const shard_layout_t *const given = problem->product.layout;

    *strategy = (shard_strategy_t){0};
    for (unsigned m = 0; m < SHARD_MATRICES; ++m) {
        for (unsigned side = 0; side < 2; ++side) {
            strategy->layout[m].cut[side] = cut[shard_dimension_of[m][side]];
        }
        if (0 == shard_local_elements(&problem->mesh, &problem->shape, m, &strategy->layout[m])) {
            return false;
        }
    }
    for (unsigned axis = 0; axis < problem->mesh.axes; ++axis) {
        if (shard_axes_contain(&cut[SHARD_J], axis)) {
            shard_axes_append(&strategy->layout[SHARD_C].unreduced, axis);
        }
    }
    return find_steps(problem, SHARD_A, &given[SHARD_A], &strategy->layout[SHARD_A],
                      &strategy->steps[SHARD_A]) &&
           find_steps(problem, SHARD_B, &given[SHARD_B], &strategy->layout[SHARD_B],
                      &strategy->steps[SHARD_B]) &&
           find_steps(problem, SHARD_C, &strategy->layout[SHARD_C], &given[SHARD_C],
                      &strategy->steps[SHARD_C]);
}

/* Let `axis`, and the axes behind it, do everything that they may. */
static unsigned try_axis(const shard_problem_t *problem, unsigned axis,
                         const shard_axes_t cut[SHARD_DIMENSIONS], shard_strategy_t *found)
{
    if (axis == problem->mesh.axes) {
        return make_strategy(problem, cut, found) ? 1 : 0;
    }
    unsigned count = try_axis(problem, axis + 1, cut, found);
    for (unsigned d = 0; d < SHARD_DIMENSIONS; ++d) {
        for (unsigned place = 0; place <= cut[d].count; ++place) {
            shard_axes_t with[SHARD_DIMENSIONS] = {cut[SHARD_I], cut[SHARD_J], cut[SHARD_K]};
            shard_axes_insert(&with[d], place, axis);
            count += try_axis(problem, axis + 1, with, found + count);
        }
    }
    return count;
}

/* The one with fewer bytes if both are as fast: not to communicate is better where it costs
 * nothing. */
static bool is_faster(const shard_cost_t *one, const shard_cost_t *other)
{
    return one->seconds < other->seconds ||
           (one->seconds == other->seconds && one->sent_bytes < other->sent_bytes);
}

unsigned shard_strategies_find(const shard_problem_t *problem,
                               shard_strategy_t strategies[SHARD_MAX_STRATEGIES])
{
    static const shard_axes_t uncut[SHARD_DIMENSIONS];
    const unsigned count = try_axis(problem, 0, uncut, strategies);

    for (unsigned i = 1; i < count; ++i) {
        const shard_strategy_t moved = strategies[i];
        const shard_cost_t cost = shard_strategy_cost(problem, &moved);
        unsigned place = i;
        for (; place > 0; --place) {
            const shard_cost_t before = shard_strategy_cost(problem, &strategies[place - 1]);
            if (!is_faster(&cost, &before)) {
                break;
            }
            strategies[place] = strategies[place - 1];
        }
        strategies[place] = moved;
    }
    return count;
}

/* What an extent must be a multiple of: the parts of the dimension in all layouts of a strategy. */
static void collect_axes(const shard_layout_t layout[SHARD_MATRICES], shard_dimension_t dimension,
                         shard_axes_t *all)
{
    for (unsigned m = 0; m < SHARD_MATRICES; ++m) {
        for (unsigned side = 0; side < 2; ++side) {
            const shard_axes_t *cut = &layout[m].cut[side];
            for (unsigned i = 0; i < cut->count && shard_dimension_of[m][side] == dimension; ++i) {
                if (!shard_axes_contain(all, cut->axis[i])) {
                    shard_axes_append(all, cut->axis[i]);
                }
            }
        }
    }
}

static bool is_first_faster(const shard_problem_t *problem, const shard_strategy_t *one,
                            const shard_strategy_t *other, shard_dimension_t dimension,
                            size_t extent)
{
    shard_problem_t sized = *problem;

    sized.shape.extent[dimension] = extent;
    return shard_strategy_cost(&sized, one).seconds < shard_strategy_cost(&sized, other).seconds;
}

size_t shard_strategy_crossover(const shard_problem_t *problem, const shard_strategy_t *one,
                                const shard_strategy_t *other, shard_dimension_t dimension,
                                size_t most)
{
    shard_axes_t axes = {0};

    collect_axes(problem->product.layout, dimension, &axes);
    collect_axes(one->layout, dimension, &axes);
    collect_axes(other->layout, dimension, &axes);
    const size_t unit = shard_axes_ranks(&problem->mesh, &axes);
    size_t low = 1;
    size_t high = most / unit;
    const bool first = is_first_faster(problem, one, other, dimension, unit * low);
    if (high <= low || first == is_first_faster(problem, one, other, dimension, unit * high)) {
        return 0;
    }
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        const bool same = first == is_first_faster(problem, one, other, dimension, unit * middle);
        *(same ? &low : &high) = middle;
    }
    return unit * high;
}

/* ---- text ---- */

static const char *const primitive_names[SHARD_PRIMITIVES] = {
    [SHARD_ALLGATHER] = "AllGather",
    [SHARD_REDUCE_SCATTER] = "ReduceScatter",
    [SHARD_ALLREDUCE] = "AllReduce",
    [SHARD_ALL_TO_ALL] = "AllToAll",
};

static void print_steps(const shard_problem_t *problem, shard_matrix_t matrix,
                        const shard_steps_t *steps, FILE *text)
{
    for (unsigned i = 0; i < steps->count; ++i) {
        const shard_step_t *step = &steps->step[i];
        char axes[SHARD_MAX_AXES + 1];
        shard_axes_print(&problem->mesh, &step->axes, axes);
        fprintf(text, "%s%s_%s %c", 0 == i ? "" : ", ",
                step->slice ? "Slice" : primitive_names[step->primitive], axes,
                problem->product.matrix[matrix]);
    }
}

void shard_strategy_print(const shard_problem_t *problem, const shard_strategy_t *strategy,
                          char text[SHARD_STRATEGY_TEXT_BYTES])
{
    char matrix[SHARD_MATRICES][SHARD_TEXT_BYTES];
    FILE *out = fmemopen(text, SHARD_STRATEGY_TEXT_BYTES, "w");

    text[0] = '\0';
    if (NULL == out) {
        return;
    }
    for (unsigned m = 0; m < SHARD_MATRICES; ++m) {
        shard_matrix_print(&problem->mesh, &problem->product, m, &strategy->layout[m], matrix[m]);
    }
    for (unsigned m = SHARD_A; m <= SHARD_B; ++m) {
        print_steps(problem, m, &strategy->steps[m], out);
        fputs(strategy->steps[m].count > 0 ? ", " : "", out);
    }
    fprintf(out, "%s %s -> %s%s", matrix[SHARD_A], matrix[SHARD_B], matrix[SHARD_C],
            strategy->steps[SHARD_C].count > 0 ? ", " : "");
    print_steps(problem, SHARD_C, &strategy->steps[SHARD_C], out);
    fclose(out);
}
