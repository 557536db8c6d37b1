/*
 * User parameters, declared once as rows of a table.
 *
 * A component lists its parameters in <component>_params.def:
 *
 *     ARC_PARAM_INT(scope, name, default, minimum, maximum, level, help)
 *     ARC_PARAM_SIZE(scope, name, default, minimum, maximum, level, help)     bytes
 *     ARC_PARAM_BOOL(scope, name, default, level, help)
 *     ARC_PARAM_CHOICE(scope, name, default, choices, level, help)
 *     ARC_PARAM_FRACTION(scope, name, level, help)        a double from 0 to 1, 0 by default
 *     ARC_PARAM_NUMBER(scope, name, default, maximum, level, help)    a double from 0; bits of both
 *     ARC_PARAM_TEXT(scope, name, level, help)            text; "": none, the default
 *
 * A name is coll_<component>_<name> to Open MPI.  One that begins with arc_ is a parameter of both
 * components, coll_<name>; it comes from common_params.def, which both lists include.
 *
 * The list is included to make the configuration struct and the table; from
 * the table come Open MPI's variables (common/mca/mca_params.c), the checks
 * and docs/parameters.md.  `choices` is a NULL-terminated array of names; the
 * value is the index.  `scope` is LOCAL when each rank may have its own value, SHARED when the
 * ranks must agree on it.  `level` is Open MPI's information level, 1 to 9: what a user meets first
 * is 1, what only a developer turns is 9.
 *
 * Values of all kinds are handled as long long. Of a fraction that is the bits of
 * the double: those of doubles that are not negative have the order of the doubles.  Of text it is
 * a hash; Open MPI keeps the text.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_PARAM_H
#define ARC_PARAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

typedef enum arc_param_kind {
    ARC_PARAM_KIND_INT,      /* int */
    ARC_PARAM_KIND_SIZE,     /* size_t, bytes */
    ARC_PARAM_KIND_BOOL,     /* bool */
    ARC_PARAM_KIND_CHOICE,   /* int, index into choices */
    ARC_PARAM_KIND_FRACTION, /* double, from 0, mostly to 1 */
    ARC_PARAM_KIND_TEXT,     /* const char * */
} arc_param_kind_t;
enum { ARC_PARAM_KINDS = ARC_PARAM_KIND_TEXT + 1 };

/* The bits of 1.0: the largest fraction. */
#define ARC_PARAM_FRACTION_ONE 0x3ff0000000000000LL

/* The bits of the largest float. */
#define ARC_PARAM_NUMBER_LARGEST 0x47efffffe0000000LL

/* Room for the help of a parameter, less what is allowed: help that is longer would be cut off. */
enum { ARC_PARAM_HELP_BYTES = 1024 };

/* A component has no more of them. */
enum { ARC_MAX_PARAMS = 40 };

/* The number of names of `choices`, which end with NULL. */
#define ARC_PARAM_CHOICES(_choices) (sizeof(_choices) / sizeof((_choices)[0]) - 1)

typedef enum arc_param_scope {
    ARC_PARAM_SCOPE_SHARED,
    ARC_PARAM_SCOPE_LOCAL,
} arc_param_scope_t;

typedef struct arc_param {
    arc_param_scope_t scope;
    const char *name;
    arc_param_kind_t kind;
    size_t offset; /* of the field in the configuration struct */
    long long default_value;
    long long minimum;
    long long maximum;
    const char *const *choices;
    int level;
    const char *help;
} arc_param_t;

/*
 * Parse what a user wrote for `param`: a number as in C, as Open MPI takes it (010 is 8), for sizes
 * with an optional suffix k, m or g (powers of 1024, either case, optional b); 0, 1,
 * true, false, yes, no, on, off; a choice's name; for fractions a number as 0.001 or 1e-3.
 * ARC_ERR_INVALID for anything else and for a value outside the range; *value is then unchanged.
 */
arc_status_t arc_param_parse(const arc_param_t *param, const char *text,
                             long long *value) ARC_MUST_CHECK;

/*
 * Is `name` one of both components?  Then it begins with ARC_PARAM_BOTH and "_": to Open MPI a
 * component that there is not.
 */
#define ARC_PARAM_BOTH "arc"
bool arc_param_of_both(const char *name);

/* Write what the parameter `name` of coll_<component> is called: "coll_lowlat_rules". */
void arc_param_name(const char *component, const char *name, char *text, size_t text_bytes);

/* Is `value` in the parameter's range? */
bool arc_param_in_range(const arc_param_t *param, long long value);

/* Read and write the parameter's field in a configuration struct; of text only 0, for NULL. */
long long arc_param_get(const arc_param_t *param, const void *config);
void arc_param_set(const arc_param_t *param, void *config, long long value);

/* Write what is allowed, as in "a size between 8 and 1g" or "one of auto, oneshot". */
void arc_param_describe(const arc_param_t *param, char *text, size_t text_bytes);

/* A number as a user writes it: "64k" for 65536 when the parameter is a size. */
void arc_param_print(const arc_param_t *param, long long value, char *text, size_t text_bytes);

/* A hash of all values but local ones, equal if and (nearly) only if these are. */
uint64_t arc_param_hash(const arc_param_t *params, const void *config);

#endif
