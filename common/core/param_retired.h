/*
 * Makes the table `retired_params` of a list of retired names, and has the compiler see that none
 * of them is in use again:
 *
 *     #define ARC_RETIRED_LIST "lowlat_retired.def"
 *     #define ARC_PARAM_LIST "lowlat_params.def"
 *     #include "param_retired.h"
 *
 * No include guard: included once per component.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
static const arc_retired_t retired_params[] = {
#define ARC_RETIRED(_name, _instead) {#_name, _instead},
#include ARC_RETIRED_LIST
#undef ARC_RETIRED
    {NULL, NULL},
};

/* Two constants of one name are an error. */
enum {
#define ARC_RETIRED(_name, _instead) PARAM_NAMED_##_name,
#include ARC_RETIRED_LIST
#undef ARC_RETIRED
#define ARC_PARAM_ROW(_kind, _type, _scope, _name, ...) PARAM_NAMED_##_name,
#include "param_list.h"
};
#undef ARC_RETIRED_LIST
