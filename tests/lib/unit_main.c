/*
 * main() of unit programs whose tests add themselves.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <errno.h>

#include "unit.h"

int main(void)
{
    return unit_run(program_invocation_short_name);
}
