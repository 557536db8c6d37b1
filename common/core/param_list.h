/*
 * Reads ARC_PARAM_LIST once, with the macros ARC_PARAM_INT ... that are defined, and undefines it
 * and them: the end of every header that makes something of a parameter list.
 *
 * No include guard: included once per reading.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include ARC_PARAM_LIST
#undef ARC_PARAM_INT
#undef ARC_PARAM_SIZE
#undef ARC_PARAM_BOOL
#undef ARC_PARAM_CHOICE
#undef ARC_PARAM_FRACTION
#undef ARC_PARAM_NUMBER
#undef ARC_PARAM_TEXT
#undef ARC_PARAM_LIST
