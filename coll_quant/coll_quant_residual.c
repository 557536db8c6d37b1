/*
 * Error feedback: what calls left behind (quant_element.h), kept for each vector of a
 * communicator.
 *
 * By what a vector is known, and where nothing is carried although it is known: docs/guarantees.md,
 * "Error feedback".  Both decisions are this rank's own: only its own error depends on them.
 *
 *   | vector, size of its numbers, when used | what it left |       QUANT_RESIDUALS times
 *
 * The one that was not used for the longest time makes room for a new one.  A call of a vector that
 * is known allocates nothing.
 *
 * Cost: a look at up to 4096 numbers in each call; memory for each vector once more.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coll_quant.h"
#include "float_env.h"

enum {
    /* As many buckets as a training has that adds some hundred MB of gradients in 25 MB each. */
    QUANT_RESIDUALS = 16,

    /* Numbers are looked at in so many places, some cache lines each. */
    PLACES = 64,
    RUN = 64,
};

/* Numbers that are smaller by this factor are those of something else. */
static const double shrunk = 1.0 / 16;

typedef struct vector {
    const quant_element_t *element;
    const quant_storage_t *storage;
    size_t count;
    const void *send;
    const void *receive;
} vector_t;

typedef struct residual {
    vector_t of;
    double size; /* mean magnitude of the numbers in its last call */
    uint64_t used;
    size_t room; /* numbers that `lost` has memory for */
    float *lost; /* NULL: the place is free */
} residual_t;

struct quant_residuals {
    residual_t kept[QUANT_RESIDUALS];
    uint64_t calls;
};

static bool is_same(const vector_t *a, const vector_t *b)
{
    return a->element == b->element && a->storage == b->storage && a->count == b->count &&
           a->send == b->send && a->receive == b->receive;
}

/* Magnitudes of a run of numbers, those that are finite, added up. */
static double add_magnitudes(const vector_t *of, size_t first, size_t count)
{
    const uint8_t *at = of->send;
    float floats[RUN];
    double sum = 0;

    if (NULL != of->storage) {
        of->storage->widen(at + first * of->storage->bytes, floats, count);
        at = (const uint8_t *) floats;
        first = 0;
    }
    for (size_t i = first; i < first + count; ++i) {
        const double value = &quant_doubles == of->element ? ((const double *) at)[i]
                                                           : (double) ((const float *) at)[i];
        sum += isfinite(value) ? fabs(value) : 0;
    }
    return sum;
}

/* The mean magnitude of numbers all over the vector. */
static double size_of(const vector_t *of)
{
    const size_t places = of->count < (size_t) PLACES * RUN ? 1 : PLACES;
    const size_t run = 1 == places ? of->count : RUN;
    double sum = 0;

    const arc_float_env_t of_program = arc_float_env_enter();
    for (size_t place = 0; place < places; ++place) {
        const size_t begin = place * (of->count / places);
        for (size_t done = 0; done < run; done += RUN) {
            sum += add_magnitudes(of, begin + done, run - done < RUN ? run - done : RUN);
        }
    }
    sum /= (double) (places * run);
    arc_float_env_leave(of_program);
    return sum;
}

static bool has_shrunk(double before, double now)
{
    const arc_float_env_t of_program = arc_float_env_enter();
    const bool result = now < before * shrunk;
    arc_float_env_leave(of_program);
    return result;
}

static __attribute__((cold)) void warn_of_memory(quant_module_t *module, size_t count)
{
    if (!module->residual_memory_warned) {
        module->residual_memory_warned = true;
        arc_module_warn(&module->base, "rank %d: no error feedback: no memory for %zu bytes",
                        ompi_comm_rank(module->base.comm), count * sizeof(float));
    }
}

static __attribute__((cold)) void warn_of_room(quant_module_t *module)
{
    if (!module->residual_room_warned) {
        module->residual_room_warned = true;
        arc_module_log(&module->base, ARC_LOG_WARN,
                       "error feedback knows %d vectors of a communicator, by type, count and "
                       "buffers; there are more, and what was lost of the others is forgotten",
                       (int) QUANT_RESIDUALS);
    }
}

/* The place of a vector, or for it. */
static residual_t *place_of(quant_residuals_t *all, const vector_t *of)
{
    residual_t *oldest = &all->kept[0];

    for (unsigned i = 0; i < QUANT_RESIDUALS; ++i) {
        residual_t *one = &all->kept[i];
        if (NULL != one->lost && is_same(&one->of, of)) {
            return one;
        }
        if (one->used < oldest->used) {
            oldest = one;
        }
    }
    return oldest;
}

/* The place gets zeros for `of`.  False: there is no memory, and the place is free. */
static bool begin_residual(residual_t *one, const vector_t *of)
{
    if (one->room < of->count) {
        free(one->lost);
        one->lost = calloc(of->count, sizeof *one->lost);
        one->room = NULL == one->lost ? 0 : of->count;
    } else {
        memset(one->lost, 0, of->count * sizeof *one->lost);
    }
    one->of = *of;
    return NULL != one->lost;
}

float *coll_quant_residual(quant_module_t *module, const quant_operation_t *operation)
{
    const vector_t of = {
        .element = operation->element,
        .storage = operation->storage,
        .count = operation->count,
        .send = operation->send,
        .receive = operation->recv,
    };

    if (!module->config.feedback || 0 == operation->count) {
        return NULL;
    }
    if (NULL == module->residuals) {
        module->residuals = calloc(1, sizeof *module->residuals);
    }
    quant_residuals_t *all = module->residuals;
    if (NULL == all) {
        warn_of_memory(module, operation->count);
        return NULL;
    }
    residual_t *one = place_of(all, &of);
    const double size = size_of(&of);
    if (NULL == one->lost || !is_same(&one->of, &of)) {
        if (NULL != one->lost) {
            warn_of_room(module);
        }
        if (!begin_residual(one, &of)) {
            warn_of_memory(module, operation->count);
            return NULL;
        }
    } else if (has_shrunk(one->size, size)) {
        memset(one->lost, 0, of.count * sizeof *one->lost);
    }
    one->size = size;
    one->used = ++all->calls;
    return one->lost;
}

void coll_quant_residuals_free(quant_module_t *module)
{
    if (NULL == module->residuals) {
        return;
    }
    for (unsigned i = 0; i < QUANT_RESIDUALS; ++i) {
        free(module->residuals->kept[i].lost);
    }
    free(module->residuals);
    module->residuals = NULL;
}

__attribute__((cold)) void coll_quant_residual_warn_of_stage(quant_module_t *module,
                                                             exchange_collective_t collective)
{
    if (!module->residual_stage_warned) {
        module->residual_stage_warned = true;
        arc_module_log(&module->base, ARC_LOG_WARN,
                       "coll_quant_error_feedback is for MPI_Allreduce and has no effect on %s",
                       arc_slot_call(coll_quant_slot(collective)));
    }
}
