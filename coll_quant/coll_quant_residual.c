/*
 * Error feedback: what calls left behind (quant_element.h), kept for each vector of a
 * communicator.
 *
 * By what a vector is known, and where nothing is carried although it is known: docs/guarantees.md,
 * "Error feedback".  Both decisions are this rank's own: only its own error depends on them.
 *
 *   | vector, size of its numbers, when used | what it left |   up to coll_arc_max_memory
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

#include "coll_quant_call.h"
#include "float_env.h"

enum {
    /* To look through them takes some microseconds. */
    QUANT_RESIDUALS_MAX = 1024,

    /* Numbers are looked at in so many places, some cache lines each. */
    PLACES = 64,
    RUN = 64,
};

/* Numbers that are smaller by this factor are those of something else. */
static const double shrunk = 1.0 / 16;

/* Known by its buffers, or by the number of the call in a sequence that repeats. */
typedef struct vector {
    exchange_collective_t collective;
    const quant_element_t *element;
    const quant_storage_t *storage;
    size_t count;        /* of all its blocks */
    const void *numbers; /* the ones that are sent */
    const void *send;    /* the buffers; NULL where the number counts */
    const void *receive;
    uint64_t number;
} vector_t;

struct quant_residual {
    struct quant_residual *next; /* the one that was used before this one */
    vector_t of;
    double size; /* mean magnitude of the numbers in its last call */
    float *lost; /* apart, so that heads which are looked through are near each other */
};

/* Is a vector known by its number in a sequence of calls?  With error_feedback 1 by its place. */
static bool is_sequence(const quant_module_t *module)
{
    return module->settings.error_feedback > 1;
}

static bool is_same_place(const vector_t *a, const vector_t *b)
{
    return a->send == b->send && a->receive == b->receive && a->number == b->number;
}

static bool is_same(const vector_t *a, const vector_t *b)
{
    return a->collective == b->collective && a->element == b->element && a->storage == b->storage &&
           a->count == b->count && is_same_place(a, b);
}

static size_t bytes_of(const vector_t *of)
{
    return of->count * sizeof(float);
}

/* Magnitudes of a run of numbers, those that are finite, added up. */
static double add_magnitudes(const vector_t *of, size_t first, size_t count)
{
    const uint8_t *at = of->numbers;
    float floats[RUN];
    double sum = 0;

    if (NULL != of->storage) {
        of->storage->half.widen(at + first * of->storage->bytes, floats, count);
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

    for (size_t place = 0; place < places; ++place) {
        const size_t begin = place * (of->count / places);
        for (size_t done = 0; done < run; done += RUN) {
            sum += add_magnitudes(of, begin + done, run - done < RUN ? run - done : RUN);
        }
    }
    return sum / (double) (places * run);
}

/* Where the vector is in the list, or its end. */
static quant_residual_t **find(quant_residuals_t *all, const vector_t *of,
                               bool (*is)(const vector_t *a, const vector_t *b))
{
    quant_residual_t **at = &all->latest;

    while (NULL != *at && !is(&(*at)->of, of)) {
        at = &(*at)->next;
    }
    return at;
}

static void drop(quant_residuals_t *all, quant_residual_t **at)
{
    quant_residual_t *one = *at;

    *at = one->next;
    all->bytes -= bytes_of(&one->of);
    --all->count;
    free(one->lost);
    free(one);
}

/* In a sequence: nothing of another vector that was at this place. */
static void drop_other_there(quant_module_t *module, const vector_t *of)
{
    quant_residual_t **at = find(&module->residuals, of, is_same_place);

    if (NULL == *at) {
        return;
    }
    drop(&module->residuals, at);
    if (arc_module_first(&module->base, QUANT_SAID_SEQUENCE)) {
        arc_module_log(&module->base, ARC_LOG_WARN,
                       "error feedback: call %llu of %d has another type or count than before; "
                       "coll_quant_error_feedback is not the number of calls that repeat",
                       (unsigned long long) of->number, module->settings.error_feedback);
    }
}

static void drop_oldest(quant_module_t *module)
{
    quant_residual_t **at = &module->residuals.latest;

    while (NULL != (*at)->next) {
        at = &(*at)->next;
    }
    arc_module_log(
        &module->base,
        arc_module_first(&module->base, QUANT_SAID_NO_ROOM) ? ARC_LOG_WARN : ARC_LOG_CALL,
        "error feedback forgets a vector of %zu numbers, which was not used for the "
        "longest time: coll_arc_max_memory allows %zu bytes. %s",
        (*at)->of.count, module->settings.arc_max_memory,
        is_sequence(module)
            ? "There are more vectors than that"
            : "Where the buffers of a program move, coll_quant_error_feedback 2 or more helps");
    drop(&module->residuals, at);
}

/* Zeros for a vector that is not known yet.  NULL: there is no room, which is said once. */
static quant_residual_t *begin(quant_module_t *module, const vector_t *of)
{
    quant_residuals_t *all = &module->residuals;
    const size_t most_bytes = module->settings.arc_max_memory;

    if (of->count > most_bytes / sizeof(float)) {
        if (arc_module_first(&module->base, QUANT_SAID_LENGTH)) {
            arc_module_log(&module->base, ARC_LOG_WARN,
                           "no error feedback for a vector of %zu numbers: coll_arc_max_memory "
                           "allows %zu bytes",
                           of->count, most_bytes);
        }
        return NULL;
    }
    if (is_sequence(module)) {
        drop_other_there(module, of);
    }
    while (QUANT_RESIDUALS_MAX == all->count || bytes_of(of) > most_bytes - all->bytes) {
        drop_oldest(module);
    }
    quant_residual_t *one = calloc(1, sizeof *one);
    float *lost = calloc(of->count, sizeof *lost);
    if (NULL != one && NULL != lost) {
        one->of = *of;
        one->lost = lost;
        ++all->count;
        all->bytes += bytes_of(of);
        return one;
    }
    free(one);
    free(lost);
    if (arc_module_first(&module->base, QUANT_SAID_NO_MEMORY)) {
        arc_module_log(&module->base, ARC_LOG_RANK,
                       "rank %d: no error feedback: no memory for %zu bytes",
                       ompi_comm_rank(module->base.comm), bytes_of(of));
    }
    return NULL;
}

static vector_t vector_of(const quant_module_t *module, const quant_call_t *call)
{
    const quant_operation_t *operation = &call->operation;
    vector_t of = {
        .collective = operation->collective,
        .element = operation->element,
        .storage = operation->storage,
        .count = coll_quant_blocks_sent(module, operation->collective) * operation->count,
        .numbers = operation->send,
    };

    if (NULL != module->base.of) {
        return of; /* a persistent request has one vector, whatever is started beside it */
    }
    if (is_sequence(module)) {
        of.number = call->number % (unsigned) module->settings.error_feedback;
    } else {
        of.send = operation->send;
        of.receive = operation->recv;
    }
    return of;
}

float *coll_quant_residual(quant_module_t *module, const quant_call_t *call)
{
    if (!module->config.feedback || 0 == call->operation.count) {
        return NULL;
    }
    ARC_IN_DEFAULT_FLOAT_ENV;
    quant_residuals_t *all = &module->residuals;
    const vector_t of = vector_of(module, call);
    const double size = size_of(&of);
    quant_residual_t **at = find(all, &of, is_same);
    quant_residual_t *one = *at;

    if (NULL == one) {
        one = begin(module, &of);
    } else {
        *at = one->next;
        if (size < one->size * shrunk) {
            memset(one->lost, 0, bytes_of(&of));
        }
    }
    if (NULL == one) {
        return NULL;
    }
    one->size = size;
    one->next = all->latest;
    all->latest = one;
    return one->lost;
}

void coll_quant_residuals_free(quant_module_t *module)
{
    while (NULL != module->residuals.latest) {
        drop(&module->residuals, &module->residuals.latest);
    }
}
