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
#define ARC_PARAM_ROW(_kind, _type, _scope, _name, _default, _minimum, _maximum, _choices, _level, \
                      _help)                                                                       \
    {ARC_PARAM_SCOPE_##_scope,                                                                     \
     #_name,                                                                                       \
     ARC_PARAM_KIND_##_kind,                                                                       \
     offsetof(ARC_PARAM_CONFIG, _name),                                                            \
     _default,                                                                                     \
     _minimum,                                                                                     \
     _maximum,                                                                                     \
     _choices,                                                                                     \
     _level,                                                                                       \
     _help},
#include "param_list.h"
#undef ARC_PARAM_CONFIG
