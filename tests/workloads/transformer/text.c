/*
 * A text from a file.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void append_byte(text_t *text, int byte)
{
    if ('\n' == byte) {
        text->characters[text->count++] = 0;
    } else if (byte >= ' ' && byte <= '~') {
        text->characters[text->count++] = (uint8_t) (byte - ' ' + 1);
    }
}

int text_load(text_t *text, const char *path)
{
    FILE *file = fopen(path, "rb");
    long bytes = -1;

    if (NULL != file && 0 == fseek(file, 0, SEEK_END)) {
        bytes = ftell(file);
        rewind(file);
    }
    text->count = 0;
    text->characters = bytes > 0 ? malloc((size_t) bytes) : NULL;
    if (NULL == text->characters) {
        fprintf(stderr, "%s: %s\n", path,
                NULL == file ? strerror(errno) : "empty, or no memory for it");
        if (NULL != file) {
            fclose(file);
        }
        return -1;
    }
    for (long i = 0; i < bytes; i++) {
        append_byte(text, getc(file));
    }
    fclose(file);
    return 0;
}

void text_free(text_t *text)
{
    free(text->characters);
    text->characters = NULL;
}
