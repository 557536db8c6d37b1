/*
 * Command lines of programs: a table of options, each with the variable that it sets.
 *
 *     const char *wrong = options_take(argc, argv, (const option_row_t[]){OPTION('n', rounds),
 * {0}});
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_TESTS_OPTIONS_H
#define ARC_TESTS_OPTIONS_H

#include <stdbool.h>

/** What an option sets. */
typedef struct option_row {
    int letter;       /* -x; 0: none */
    const char *name; /* --name; NULL: none.  Without either: the end of a list */
    enum {
        OPTION_FLAG,
        OPTION_INT,
        OPTION_UNSIGNED,
        OPTION_LONG,
        OPTION_NUMBER,
        OPTION_TEXT,
        OPTION_PARSED
    } kind;
    void *variable;
    double least; /* of a number, if that is not `most` */
    double most;
    /** Sets the variable and returns NULL, or returns what there may be, in words. */
    const char *(*parse)(const char *text, void *variable);
} option_row_t;

#define OPTION_KIND(_variable) \
    _Generic(&(_variable),                \
             bool *: OPTION_FLAG,         \
             int *: OPTION_INT,           \
             unsigned *: OPTION_UNSIGNED, \
             long *: OPTION_LONG,         \
             unsigned long *: OPTION_LONG,\
             double *: OPTION_NUMBER,     \
             char **: OPTION_TEXT,        \
             const char **: OPTION_TEXT)
/** A bool is set by its letter or name, all else has a value; numbers are whole but for doubles. */
#define OPTION(_letter, _variable) OPTION_FROM(_letter, NULL, _variable, 0, 0)
#define OPTION_NAMED(_name, _variable) OPTION_FROM(0, _name, _variable, 0, 0)
#define OPTION_FROM(_letter, _name, _variable, _least, _most)                     \
    {                                                                             \
        _letter, _name, OPTION_KIND(_variable), &(_variable), _least, _most, NULL \
    }
#define OPTION_BY(_letter, _name, _parse, _variable)           \
    {                                                          \
        _letter, _name, OPTION_PARSED, _variable, 0, 0, _parse \
    }

/**
 * Set what the command line says, up to the first word that is no option: optind.  NULL, or what is
 * wrong, in words that stay until the next call.
 */
const char *options_take(int argc, char **argv, const option_row_t *rows);

#endif
