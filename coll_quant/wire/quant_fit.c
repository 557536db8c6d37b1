/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>

#include "quant_bound.h"
#include "quant_fit.h"

quant_fit_t quant_fit_of(const quant_config_t *config, const quant_operation_t *operation,
                         unsigned ranks)
{
    const exchange_shape_t shape = quant_config_shape(config, ranks);
    const bool feedback = NULL != operation->residual;
    const double most = operation->bound_max;

    return (quant_fit_t){
        .element = operation->element,
        .share = most / shape.nodes / (feedback ? 2 : 1),
        .most = most,
        .coarsest = 0 != most ? config->coarsest : NULL,
        .feedback = feedback,
    };
}

/* The most that the bound of a message may be, whose numbers are off by `error`, a bound. */
static double most_of(const quant_fit_t *fit, float error, bool partial)
{
    const double raised = (double) error + fit->share;

    if (partial) {
        return raised;
    }
    return fit->feedback && raised < fit->most ? raised : fit->most;
}

size_t quant_fit_pack(const quant_fit_t *fit, const quant_wire_segment_t *segment,
                      const void *numbers, float error, bool partial, void *message)
{
    const quant_element_t *element = fit->element;
    const quant_format_t *format = NULL != fit->coarsest ? fit->coarsest : segment->codec.format;
    quant_wire_segment_t tried = *segment;

    if (0 == fit->most || segment->codec.format->exact) {
        return element->pack(segment, numbers, error, message);
    }
    /* Next to an infinity or a NaN there is no bound; other numbers are to be as exact as ever. */
    const bool unbound = !isfinite(error);
    const float counted = unbound ? 0 : error;
    const double limit = unbound ? fit->share : most_of(fit, error, partial);
    const uint32_t peak = element->peak(numbers, segment->codec.elems);

    while (NULL != format) {
        tried.codec.format = format;
        if ((double) quant_bound_encoded(counted, format, peak) <= limit) {
            const size_t bytes = element->pack(&tried, numbers, counted, message);
            if (quant_wire_format(message)->exact || (double) quant_wire_bound(message) <= limit) {
                return unbound ? element->pack(&tried, numbers, error, message) : bytes;
            }
        }
        format = NULL != fit->coarsest ? quant_format_above(format->bits) : NULL;
    }
    tried.codec.format = element->exact;
    return element->pack(&tried, numbers, error, message);
}
