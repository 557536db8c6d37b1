/*
 * A parameter list as an arc_param_t table, up to a row without a name, and assertions of the
 * compiler: a default is in its range, and a help is not cut off where it is printed.
 *
 *     #define ARC_PARAM_CONFIG lowlat_config_t
 *     #define ARC_PARAM_FILE "lowlat_params.def"
 *     #define ARC_PARAM_TABLE lowlat_params
 *     #include "param_table.h"
 *
 * No include guard: included once per component.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
/* clang-format off */
const arc_param_t ARC_PARAM_TABLE[] = {
#define ARC_PARAM_ROW(_kind, _type, _scope, _name, _default, _minimum, _maximum, _choices, _level, _help) \
    {ARC_PARAM_SCOPE_##_scope, #_name, ARC_PARAM_KIND_##_kind, offsetof(ARC_PARAM_CONFIG, _name), \
     _default, _minimum, _maximum, _choices, _level, _help},
#define ARC_PARAM_LIST ARC_PARAM_FILE
#include "param_list.h"
    {.name = NULL},
};
#define ARC_PARAM_ROW(_kind, _type, _scope, _name, _default, _minimum, _maximum, _choices, _level, _help) \
    static_assert((_default) >= (_minimum) && (_default) <= (_maximum), \
                  #_name ": the default is out of range"); \
    static_assert(sizeof _help <= ARC_PARAM_HELP_BYTES, #_name ": the help is cut off");
#define ARC_PARAM_LIST ARC_PARAM_FILE
#include "param_list.h"
/* clang-format on */
static_assert(sizeof ARC_PARAM_TABLE / sizeof ARC_PARAM_TABLE[0] - 1 <= ARC_MAX_PARAMS,
              "room for all");
