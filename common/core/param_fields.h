/*
 * A parameter list as the fields of a configuration struct:
 *
 *     typedef struct lowlat_config {
 *     #define ARC_PARAM_LIST "lowlat_params.def"
 *     #include "param_fields.h"
 *     } lowlat_config_t;
 *
 * No include guard: included once per component.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#define ARC_PARAM_INT(_scope, _name, _default, _minimum, _maximum, _level, _help) int _name;
#define ARC_PARAM_SIZE(_scope, _name, _default, _minimum, _maximum, _level, _help) size_t _name;
#define ARC_PARAM_BOOL(_scope, _name, _default, _level, _help) bool _name;
#define ARC_PARAM_CHOICE(_scope, _name, _default, _choices, _level, _help) int _name;
#define ARC_PARAM_FRACTION(_scope, _name, _level, _help) double _name;
#define ARC_PARAM_NUMBER(_scope, _name, _default, _maximum, _level, _help) double _name;
#define ARC_PARAM_TEXT(_scope, _name, _level, _help) const char *_name;
#include "param_list.h"
