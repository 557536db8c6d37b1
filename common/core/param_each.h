/*
 * ARC_PARAM_EACH(name) for each parameter of a list:
 *
 *     #define ARC_PARAM_EACH(_name) #_name,
 *     #define ARC_PARAM_LIST "lowlat_params.def"
 *     #include "param_each.h"
 *
 * No include guard: included once per reading.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#define ARC_PARAM_INT(_scope, _name, ...) ARC_PARAM_EACH(_name)
#define ARC_PARAM_SIZE(_scope, _name, ...) ARC_PARAM_EACH(_name)
#define ARC_PARAM_BOOL(_scope, _name, ...) ARC_PARAM_EACH(_name)
#define ARC_PARAM_CHOICE(_scope, _name, ...) ARC_PARAM_EACH(_name)
#define ARC_PARAM_FRACTION(_scope, _name, ...) ARC_PARAM_EACH(_name)
#define ARC_PARAM_NUMBER(_scope, _name, ...) ARC_PARAM_EACH(_name)
#define ARC_PARAM_TEXT(_scope, _name, ...) ARC_PARAM_EACH(_name)
#include "param_list.h"
#undef ARC_PARAM_EACH
