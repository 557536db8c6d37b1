/*
 * A parameter list as assertions of the compiler: a default is in its range, and a help is not cut
 * off where it is printed.
 *
 *     #define ARC_PARAM_LIST "lowlat_params.def"
 *     #include "param_checks.h"
 *
 * No include guard: included once per component.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#define CHECK(_name, _default, _minimum, _maximum, _help)               \
    static_assert((_default) >= (_minimum) && (_default) <= (_maximum), \
                  #_name ": the default is out of range");              \
    static_assert(sizeof _help <= ARC_PARAM_HELP_BYTES, #_name ": the help is cut off");
#define ARC_PARAM_INT(_scope, _name, _default, _minimum, _maximum, _level, _help) \
    CHECK(_name, _default, _minimum, _maximum, _help)
#define ARC_PARAM_SIZE(_scope, _name, _default, _minimum, _maximum, _level, _help) \
    CHECK(_name, _default, _minimum, _maximum, _help)
#define ARC_PARAM_BOOL(_scope, _name, _default, _level, _help) CHECK(_name, _default, 0, 1, _help)
#define ARC_PARAM_CHOICE(_scope, _name, _default, _choices, _level, _help) \
    CHECK(_name, _default, 0, (int) ARC_PARAM_CHOICES(_choices) - 1, _help)
#define ARC_PARAM_FRACTION(_scope, _name, _level, _help) CHECK(_name, 0, 0, 1, _help)
#define ARC_PARAM_NUMBER(_scope, _name, _default, _maximum, _level, _help) \
    CHECK(_name, _default, 0, _maximum, _help)
#define ARC_PARAM_TEXT(_scope, _name, _level, _help) CHECK(_name, 0, 0, 0, _help)
#include "param_list.h"
#undef CHECK
