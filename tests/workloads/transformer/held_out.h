/*
 * How well a model foretells a held-out text, window by window.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef TRANSFORMER_HELD_OUT_H
#define TRANSFORMER_HELD_OUT_H

#include "pass.h"
#include "text.h"

enum { HELD_OUT_MOST = 1 << 14 }; /* characters of a window */

typedef struct held_out {
    double loss; /* nats, summed over the characters */
    size_t hits; /* characters that were the most probable ones */
    size_t near; /* among the three most probable ones */
    size_t count;
    size_t words_right; /* words of three letters and more, all but the first of which were hits */
    size_t words;
} held_out_t;

/*
 * Windows first, first + step, ... of `windows`, each of pass->capacity characters and one more;
 * the text has that many. The pass has one sequence. logits: capacity x vocabulary.
 */
held_out_t held_out_measure(pass_t *pass, const text_t *text, size_t first, size_t step,
                            size_t windows, float *logits);

/* How many such windows the text has. */
size_t held_out_windows(const text_t *text, int length);

#endif
