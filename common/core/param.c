/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "c_locale.h"
#include "hash.h"
#include "param.h"

/* Suffixes of sizes, descending, so that printing takes the largest that divides. */
static const struct {
    char letter;
    long long factor;
} units[] = {{'g', 1LL << 30}, {'m', 1LL << 20}, {'k', 1LL << 10}};

enum { UNITS = sizeof units / sizeof units[0] };

static_assert(sizeof(double) == sizeof(long long) && sizeof(size_t) == sizeof(long long) &&
                  sizeof(char *) == sizeof(long long) && __ORDER_LITTLE_ENDIAN__ == __BYTE_ORDER__,
              "a long long begins with the bytes of a field");

bool arc_param_in_range(const arc_param_t *param, long long value)
{
    return value >= param->minimum && value <= param->maximum;
}

/* The factor of the size suffix `text`, 0 when there is no such suffix. */
static long long suffix_factor(const char *text)
{
    if ('\0' == *text) {
        return 1;
    }
    for (size_t unit = 0; unit < UNITS; ++unit) {
        const char with_b[] = {units[unit].letter, 'b', '\0'};
        if (0 == strncasecmp(text, with_b, strlen(text))) {
            return units[unit].factor;
        }
    }
    return 0;
}

static arc_status_t parse_number(const arc_param_t *param, const char *text, long long *value)
{
    char *end = NULL;
    long long factor = 1;

    errno = 0;
    long long number = strtoll(text, &end, 0);
    if (0 != errno || end == text) {
        return ARC_ERR_INVALID;
    }
    if (ARC_PARAM_KIND_SIZE == param->kind) {
        factor = suffix_factor(end);
    } else if ('\0' != *end) {
        return ARC_ERR_INVALID;
    }
    if (0 == factor || __builtin_mul_overflow(number, factor, &number)) {
        return ARC_ERR_INVALID;
    }
    *value = number;
    return ARC_OK;
}

bool arc_param_of_both(const char *name)
{
    return 0 == strncmp(name, ARC_PARAM_BOTH "_", sizeof ARC_PARAM_BOTH);
}

void arc_param_name(const char *component, const char *name, char *text, size_t text_bytes)
{
    const bool of_both = arc_param_of_both(name);
    snprintf(text, text_bytes, "coll_%s%s%s", of_both ? "" : component, of_both ? "" : "_", name);
}

static arc_status_t parse_bool(const char *text, long long *value)
{
    static const char *const words[][2] = {{"0", "1"},    {"false", "true"}, {"no", "yes"},
                                           {"off", "on"}, {"f", "t"},        {"n", "y"}};
    for (size_t row = 0; row < sizeof words / sizeof words[0]; ++row) {
        for (long long word = 0; word < 2; ++word) {
            if (0 == strcasecmp(text, words[row][word])) {
                *value = word;
                return ARC_OK;
            }
        }
    }
    return ARC_ERR_INVALID;
}

static arc_status_t parse_choice(const arc_param_t *param, const char *text, long long *value)
{
    for (long long choice = 0; NULL != param->choices[choice]; ++choice) {
        if (0 == strcasecmp(text, param->choices[choice])) {
            *value = choice;
            return ARC_OK;
        }
    }
    return ARC_ERR_INVALID;
}

static arc_status_t parse_fraction(const char *text, long long *value)
{
    char *end = NULL;
    fenv_t of_program;

    errno = 0;
    /*
     * strtod() rounds as the program does, and the ranks compare the bits.  Of x86 it asks the x87
     * unit for the mode, which arc_float_env_enter() leaves alone.
     */
    (void) fegetenv(&of_program);
    (void) fesetenv(FE_DFL_ENV);
    const arc_c_locale_t locale = arc_c_locale_enter();
    const double number = strtod(text, &end);
    arc_c_locale_leave(locale);
    (void) fesetenv(&of_program);
    if (0 != errno || end == text || '\0' != *end) {
        return ARC_ERR_INVALID;
    }
    memcpy(value, &number, sizeof number);
    return ARC_OK;
}

arc_status_t arc_param_parse(const arc_param_t *param, const char *text, long long *value)
{
    arc_status_t status = ARC_ERR_INVALID;
    long long parsed = 0;

    switch (param->kind) {
    case ARC_PARAM_KIND_INT:
    case ARC_PARAM_KIND_SIZE:
        status = parse_number(param, text, &parsed);
        break;
    case ARC_PARAM_KIND_BOOL:
        status = parse_bool(text, &parsed);
        break;
    case ARC_PARAM_KIND_CHOICE:
        status = parse_choice(param, text, &parsed);
        break;
    case ARC_PARAM_KIND_FRACTION:
        status = parse_fraction(text, &parsed);
        break;
    case ARC_PARAM_KIND_TEXT:
        status = ARC_OK; /* any; who reads it says what is wrong */
        break;
    }
    if (ARC_OK != status || !arc_param_in_range(param, parsed)) {
        return ARC_ERR_INVALID;
    }
    *value = parsed;
    return ARC_OK;
}

/* 0: none. */
static long long hash_of_text(const char *text)
{
    uint64_t hash = ARC_HASH_EMPTY;

    for (; NULL != text && '\0' != *text; ++text) {
        hash = arc_hash_add(hash, (unsigned char) *text);
    }
    return (long long) (ARC_HASH_EMPTY == hash ? 0 : hash);
}

/* The lower bytes of a value are the field. */
static size_t field_bytes(const arc_param_t *param)
{
    return ARC_PARAM_KIND_BOOL == param->kind ? sizeof(bool)
           : ARC_PARAM_KIND_INT == param->kind || ARC_PARAM_KIND_CHOICE == param->kind
               ? sizeof(int)
               : sizeof(long long);
}

long long arc_param_get(const arc_param_t *param, const void *config)
{
    const void *field = (const char *) config + param->offset;
    long long value = 0;

    if (ARC_PARAM_KIND_TEXT == param->kind) {
        return hash_of_text(*(const char *const *) field);
    }
    memcpy(&value, field, field_bytes(param));
    return sizeof(int) == field_bytes(param) ? (int) value : value;
}

void arc_param_set(const arc_param_t *param, void *config, long long value)
{
    memcpy((char *) config + param->offset, &value, field_bytes(param));
}

void arc_param_print(const arc_param_t *param, long long value, char *text, size_t text_bytes)
{
    const char *word = ARC_PARAM_KIND_BOOL == param->kind     ? (value ? "true" : "false")
                       : ARC_PARAM_KIND_TEXT == param->kind   ? "none"
                       : ARC_PARAM_KIND_CHOICE == param->kind ? param->choices[value]
                                                              : NULL;

    if (NULL != word) {
        snprintf(text, text_bytes, "%s", word);
        return;
    }
    if (ARC_PARAM_KIND_FRACTION == param->kind) {
        double number = 0;
        memcpy(&number, &value, sizeof number);
        const arc_c_locale_t locale = arc_c_locale_enter();
        snprintf(text, text_bytes, "%g", number);
        arc_c_locale_leave(locale);
        return;
    }
    if (ARC_PARAM_KIND_SIZE == param->kind && 0 != value) {
        for (size_t unit = 0; unit < UNITS; ++unit) {
            if (0 == value % units[unit].factor) {
                snprintf(text, text_bytes, "%lld%c", value / units[unit].factor,
                         units[unit].letter);
                return;
            }
        }
    }
    snprintf(text, text_bytes, "%lld", value);
}

void arc_param_describe(const arc_param_t *param, char *text, size_t text_bytes)
{
    enum { NUMBER_BYTES = 32 };
    char low[NUMBER_BYTES];
    char high[NUMBER_BYTES];

    if (ARC_PARAM_KIND_CHOICE == param->kind) {
        size_t used = (size_t) snprintf(text, text_bytes, "one of");
        for (size_t choice = 0; NULL != param->choices[choice] && used < text_bytes; ++choice) {
            used += (size_t) snprintf(text + used, text_bytes - used, "%s %s", choice ? "," : "",
                                      param->choices[choice]);
        }
        return;
    }
    if (ARC_PARAM_KIND_TEXT == param->kind || ARC_PARAM_KIND_BOOL == param->kind) {
        const bool is_text = ARC_PARAM_KIND_TEXT == param->kind;
        snprintf(text, text_bytes, "%s", is_text ? "text" : "true or false");
        return;
    }
    arc_param_print(param, param->minimum, low, sizeof low);
    arc_param_print(param, param->maximum, high, sizeof high);
    snprintf(text, text_bytes, "a %s from %s to %s",
             ARC_PARAM_KIND_SIZE == param->kind ? "size in bytes (suffix k, m or g allowed)"
                                                : "number",
             low, high);
}

uint64_t arc_param_hash(const arc_param_t *params, const void *config)
{
    uint64_t hash = ARC_HASH_EMPTY;

    for (const arc_param_t *param = params; NULL != param->name; ++param) {
        const uint64_t value = (uint64_t) arc_param_get(param, config);
        for (unsigned byte = 0; byte < sizeof value && ARC_PARAM_SCOPE_LOCAL != param->scope;
             ++byte) {
            hash = arc_hash_add(hash, (value >> (8 * byte)) & 0xff);
        }
    }
    return hash;
}
