/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "model_rivals.h"

#include "model_access.h"
#include "model_clock.h"
#include "model_rivals_memory.h"

const model_rival_t model_rivals[] = {
    {"tuned", model_tuned_run}, {"xhc", model_xhc_run}, {"xhc_l3", model_xhc_l3_run}};
const unsigned model_rivals_count = sizeof model_rivals / sizeof model_rivals[0];

size_t model_rival_bytes(void)
{
    return sizeof(rival_memory_t);
}

void model_rival_await(const model_machine_t *machine, const uint64_t *flag, uint64_t value)
{
    while (model_load(flag) < value) {
        model_clock_advance(machine->poll_ns);
    }
}
