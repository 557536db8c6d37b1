/*
 * A parameter list as the rows of an arc_param_t table:
 *
 *     const arc_param_t lowlat_params[] = {
 *     #define ARC_PARAM_CONFIG lowlat_config_t
 *     #define ARC_PARAM_LIST "lowlat_params.def"
 *     #include "param_rows.h"
 *     };
 *
 * No include guard: included once per component.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#define ROW(_scope, _name, _kind, _default, _minimum, _maximum, _choices, _level, _help) \
    {ARC_PARAM_SCOPE_##_scope,                                                           \
     #_name,                                                                             \
     _kind,                                                                              \
     offsetof(ARC_PARAM_CONFIG, _name),                                                  \
     _default,                                                                           \
     _minimum,                                                                           \
     _maximum,                                                                           \
     _choices,                                                                           \
     _level,                                                                             \
     _help},
#define ARC_PARAM_INT(_scope, _name, _default, _minimum, _maximum, _level, _help) \
    ROW(_scope, _name, ARC_PARAM_KIND_INT, _default, _minimum, _maximum, NULL, _level, _help)
#define ARC_PARAM_SIZE(_scope, _name, _default, _minimum, _maximum, _level, _help) \
    ROW(_scope, _name, ARC_PARAM_KIND_SIZE, _default, _minimum, _maximum, NULL, _level, _help)
#define ARC_PARAM_BOOL(_scope, _name, _default, _level, _help) \
    ROW(_scope, _name, ARC_PARAM_KIND_BOOL, _default, 0, 1, NULL, _level, _help)
#define ARC_PARAM_CHOICE(_scope, _name, _default, _choices, _level, _help) \
    ROW(_scope, _name, ARC_PARAM_KIND_CHOICE, _default, 0,                 \
        (long long) ARC_PARAM_CHOICES(_choices) - 1, _choices, _level, _help)
#define ARC_PARAM_FRACTION(_scope, _name, _level, _help) \
    ROW(_scope, _name, ARC_PARAM_KIND_FRACTION, 0, 0, ARC_PARAM_FRACTION_ONE, NULL, _level, _help)
#define ARC_PARAM_NUMBER(_scope, _name, _default, _maximum, _level, _help) \
    ROW(_scope, _name, ARC_PARAM_KIND_FRACTION, _default, 0, _maximum, NULL, _level, _help)
#define ARC_PARAM_TEXT(_scope, _name, _level, _help) \
    ROW(_scope, _name, ARC_PARAM_KIND_TEXT, 0, 0, 0, NULL, _level, _help)
#include "param_list.h"
#undef ROW
#undef ARC_PARAM_CONFIG
