/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>
#include <string.h>

#include "quant_storage.h"

void quant_storage_clamp(const quant_storage_t *storage, float bound, float *floats, size_t count)
{
    for (size_t i = 0; i < count && isfinite(bound); ++i) {
        const float size = fabsf(floats[i]);
        if (isfinite(size) && size >= storage->overflow &&
            (double) size - (double) bound < (double) storage->overflow) {
            floats[i] = copysignf(storage->largest, floats[i]);
        }
    }
}

static void read_floats(const void *numbers, float *floats, size_t count)
{
    memcpy(floats, numbers, count * sizeof *floats);
}

static void write_floats(const float *floats, void *numbers, size_t count)
{
    memcpy(numbers, floats, count * sizeof *floats);
}

quant_storage_t quant_storage_of_floats(const quant_storage_t *storage)
{
    quant_storage_t of_floats = *storage;

    of_floats.bytes = sizeof(float);
    of_floats.widen = read_floats;
    of_floats.narrow = write_floats;
    return of_floats;
}
