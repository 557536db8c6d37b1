/*
 * A text as characters 0 to 95: the end of a line, and the printable ones of ASCII. Others are
 * left out.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef TRANSFORMER_TEXT_H
#define TRANSFORMER_TEXT_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TEXT_VOCABULARY = 96 };

typedef struct text {
    uint8_t *characters;
    size_t count;
} text_t;

/* Is this character one? */
static inline bool text_is_letter(uint8_t character)
{
    return 0 != character && isalpha(character - 1 + ' ');
}

/* 0, or -1 with a line on standard error. */
int text_load(text_t *text, const char *path);
void text_free(text_t *text);

#endif
