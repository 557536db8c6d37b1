/*
 * Windows of a held-out text, through a model.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "held_out.h"

size_t held_out_windows(const text_t *text, int length)
{
    return text->count > 0 ? (text->count - 1) / (size_t) length : 0;
}

held_out_t held_out_measure(pass_t *pass, const text_t *text, size_t first, size_t step,
                            size_t windows, float *logits)
{
    const size_t length = (size_t) pass->capacity;
    held_out_t result = {0};

    for (size_t window = first; window < windows; window += step) {
        const uint8_t *characters = text->characters + window * length;
        size_t hits = 0;

        pass->past = 0;
        pass_forward(pass, characters, pass->capacity);
        pass_logits(pass, 0, length, logits);
        result.loss +=
            pass_loss(logits, characters + 1, length, pass->model->shape.vocabulary, &hits);
        result.hits += hits;
        result.count += length;
    }
    return result;
}
