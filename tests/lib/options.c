/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "options.h"

enum {
    MOST_ROWS = 64,
    FIRST_NAMED = UCHAR_MAX + 1, /* what getopt_long() returns for the first row's name */
    TEXT_BYTES = 240,
};

static char message[TEXT_BYTES];

/* NULL, or what there may be. */
static const char *set_number(const option_row_t *row, const char *text)
{
    static char allowed[TEXT_BYTES];
    const bool whole = OPTION_NUMBER != row->kind;
    char *end = NULL;
    const long long integer = whole ? strtoll(text, &end, 10) : 0;
    const double number = whole ? (double) integer : strtod(text, &end);
    const bool fits =
        OPTION_LONG == row->kind || !whole || (number >= INT_MIN && number <= UINT_MAX);

    if (end == text || *end != '\0' || !fits ||
        (row->least != row->most && !(number >= row->least && number <= row->most))) {
        snprintf(allowed, sizeof allowed, "a %snumber from %.10g to %.10g", whole ? "whole " : "",
                 row->least, row->most);
        return row->least != row->most ? allowed : "a number";
    }
    if (OPTION_LONG == row->kind) {
        *(long *) row->variable = (long) integer;
    } else if (whole) {
        *(unsigned *) row->variable = (unsigned) integer;
    } else {
        *(double *) row->variable = number;
    }
    return NULL;
}

static const char *set_value(const option_row_t *row, const char *text)
{
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *) row->variable = true;
        return NULL;
    case OPTION_TEXT:
        *(const char **) row->variable = text;
        return NULL;
    case OPTION_PARSED:
        return row->parse(text, row->variable);
    default:
        return set_number(row, text);
    }
}

const char *options_take(int argc, char **argv, const option_row_t *rows)
{
    struct option named[MOST_ROWS + 1] = {{0}};
    char letters[2 * MOST_ROWS + 2] = "+";
    size_t count = 0;
    size_t used = 1;
    size_t names = 0;
    int found;

    for (; (rows[count].letter != 0 || rows[count].name != NULL) && count < MOST_ROWS; count++) {
        const bool has_value = rows[count].kind != OPTION_FLAG;
        if (rows[count].letter != 0) {
            letters[used++] = (char) rows[count].letter;
            letters[used] = ':';
            used += has_value;
            letters[used] = '\0';
        }
        if (rows[count].name != NULL) {
            named[names++] =
                (struct option){rows[count].name, has_value, NULL, FIRST_NAMED + (int) count};
        }
    }
    opterr = 0; /* one message, from one rank */
    while ((found = getopt_long(argc, argv, letters, named, NULL)) != -1) {
        size_t row = 0;
        while (row < count && found != rows[row].letter && found != FIRST_NAMED + (int) row) {
            row++;
        }
        const char *allowed =
            row < count ? set_value(&rows[row], optarg) : "an option, with its value";
        if (allowed != NULL) {
            snprintf(message, sizeof message, "%.99s: must be %.119s", argv[optind - 1], allowed);
            return message;
        }
    }
    return NULL;
}
