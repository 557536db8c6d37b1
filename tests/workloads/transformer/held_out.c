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

static void count_tasks(held_out_t *result, const uint8_t *came, const uint8_t *places,
                        size_t length)
{
    enum { NEAR = 3, SHORTEST_WORD = 3 };
    size_t letters = 0;
    bool right = true;

    for (size_t i = 0; i < length; i++) {
        result->hits += 0 == places[i];
        result->near += places[i] < NEAR;
        if (text_is_letter(came[i])) {
            right = 0 == letters++ || (right && 0 == places[i]);
            continue;
        }
        result->words += letters >= SHORTEST_WORD;
        result->words_right += letters >= SHORTEST_WORD && right;
        letters = 0;
    }
    result->count += length;
}

held_out_t held_out_measure(pass_t *pass, const text_t *text, size_t first, size_t step,
                            size_t windows, float *logits)
{
    const size_t length = (size_t) pass->capacity;
    held_out_t result = {0};
    uint8_t places[HELD_OUT_MOST];

    for (size_t window = first; window < windows; window += step) {
        const uint8_t *characters = text->characters + window * length;

        pass->past = 0;
        pass_forward(pass, characters, pass->capacity);
        pass_logits(pass, 0, length, logits);
        result.loss +=
            pass_loss(logits, characters + 1, length, pass->model->shape.vocabulary, places);
        count_tasks(&result, characters + 1, places, length);
    }
    return result;
}
