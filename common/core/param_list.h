/*
 * Reads ARC_PARAM_LIST once as rows of all kinds,
 *
 *     ARC_PARAM_ROW(kind, type, scope, name, default, minimum, maximum, choices, level, help)
 *
 * with the macro of that name that is defined, and undefines both; the macros of rows stay, for the
 * next reading.  The fields of a configuration struct:
 *
 *     typedef struct lowlat_config {
 *     #define ARC_PARAM_ROW(_kind, _type, _scope, _name, ...) _type _name;
 *     #define ARC_PARAM_LIST "lowlat_params.def"
 *     #include "param_list.h"
 *     } lowlat_config_t;
 *
 * No include guard: included once per reading.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#define ARC_PARAM_INT(_scope, _name, _default, _minimum, _maximum, _level, _help) \
    ARC_PARAM_ROW(INT, int, _scope, _name, _default, _minimum, _maximum, NULL, _level, _help)
#define ARC_PARAM_SIZE(_scope, _name, _default, _minimum, _maximum, _level, _help) \
    ARC_PARAM_ROW(SIZE, size_t, _scope, _name, _default, _minimum, _maximum, NULL, _level, _help)
#define ARC_PARAM_BOOL(_scope, _name, _default, _level, _help) \
    ARC_PARAM_ROW(BOOL, bool, _scope, _name, _default, 0, 1, NULL, _level, _help)
#define ARC_PARAM_CHOICE(_scope, _name, _default, _choices, _level, _help)                        \
    ARC_PARAM_ROW(CHOICE, int, _scope, _name, _default, 0, (int) ARC_PARAM_CHOICES(_choices) - 1, \
                  _choices, _level, _help)
#define ARC_PARAM_FRACTION(_scope, _name, _level, _help) \
    ARC_PARAM_NUMBER(_scope, _name, 0, ARC_PARAM_FRACTION_ONE, _level, _help)
#define ARC_PARAM_NUMBER(_scope, _name, _default, _maximum, _level, _help) \
    ARC_PARAM_ROW(FRACTION, double, _scope, _name, _default, 0, _maximum, NULL, _level, _help)
#define ARC_PARAM_TEXT(_scope, _name, _level, _help) \
    ARC_PARAM_ROW(TEXT, const char *, _scope, _name, 0, 0, 0, NULL, _level, _help)
#include ARC_PARAM_LIST
#undef ARC_PARAM_ROW
#undef ARC_PARAM_LIST
