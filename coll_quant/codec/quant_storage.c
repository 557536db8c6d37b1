/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>
#include <string.h>

#include "quant_storage.h"

static const uint32_t magnitude_bits = UINT32_C(0x7fffffff);

/* Magnitudes have the order of their bits. */
static uint32_t magnitude(float value)
{
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return bits & magnitude_bits;
}

static bool is_any_too_large(const quant_storage_t *storage, const quant_kernels_t *kernels,
                             const float *floats, size_t count)
{
    const size_t rows = count / QUANT_LANES;
    uint32_t absmax[QUANT_BLOCKS] = {0};

    kernels->absmax(floats, rows, QUANT_SHIFT_ALL, absmax);
    uint32_t most = kernels->peak(absmax);
    for (size_t i = rows * QUANT_LANES; i < count; ++i) {
        most = magnitude(floats[i]) > most ? magnitude(floats[i]) : most;
    }
    return most >= magnitude(storage->overflow);
}

void quant_storage_clamp(const quant_storage_t *storage, const quant_kernels_t *kernels,
                         float bound, float *floats, size_t count)
{
    if (!isfinite(bound) || !is_any_too_large(storage, kernels, floats, count)) {
        return;
    }
    for (size_t i = 0; i < count; ++i) {
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
