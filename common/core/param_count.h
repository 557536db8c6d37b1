/*
 * A parameter list as the number of its rows, for the compiler:
 *
 *     enum {
 *         LOWLAT_PARAMS = 0
 *     #define ARC_PARAM_LIST "lowlat_params.def"
 *     #include "param_count.h"
 *     };
 *
 * No include guard: included once per component.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#define ARC_PARAM_INT(...) +1
#define ARC_PARAM_SIZE(...) +1
#define ARC_PARAM_BOOL(...) +1
#define ARC_PARAM_CHOICE(...) +1
#define ARC_PARAM_FRACTION(...) +1
#include "param_list.h"
