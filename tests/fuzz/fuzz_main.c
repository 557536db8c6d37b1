/*
 * One target for libFuzzer: compile with -DFUZZ_TARGET=fuzz_decode, for example.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    return FUZZ_TARGET(data, bytes);
}
