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
#define ARC_PARAM_ROW(_kind, _type, _scope, _name, _default, _minimum, _maximum, _choices, _level, \
                      _help)                                                                       \
    static_assert((_default) >= (_minimum) && (_default) <= (_maximum),                            \
                  #_name ": the default is out of range");                                         \
    static_assert(sizeof _help <= ARC_PARAM_HELP_BYTES, #_name ": the help is cut off");
#include "param_list.h"
