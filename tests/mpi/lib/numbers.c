/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"

enum { BF16_SHIFT = 16 };

numbers_t numbers_named(const char *name)
{
    const numbers_t all[] = {
        {"float", MPI_FLOAT, sizeof(float)},
        {"double", MPI_DOUBLE, sizeof(double)},
        {"bf16", MPI_UINT16_T, sizeof(uint16_t)},
        {"int", MPI_INT, sizeof(int)},
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (0 == strcmp(name, all[i].name)) {
            return all[i];
        }
    }
    fprintf(stderr, "no numbers are called %s\n", name);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    return all[0];
}

static float float_of(uint32_t bits)
{
    float value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

float numbers_value(float drawn)
{
    return float_of(bits_of(drawn) >> BF16_SHIFT << BF16_SHIFT);
}

void numbers_write(const numbers_t *numbers, void *to, size_t i, float value)
{
    if (MPI_DOUBLE == numbers->type) {
        ((double *) to)[i] = (double) value;
    } else if (MPI_INT == numbers->type) {
        ((int *) to)[i] = (int) value;
    } else if (MPI_UINT16_T == numbers->type) {
        ((uint16_t *) to)[i] = (uint16_t) (bits_of(value) >> BF16_SHIFT);
    } else {
        ((float *) to)[i] = value;
    }
}

double numbers_read(const numbers_t *numbers, const void *from, size_t i)
{
    if (MPI_DOUBLE == numbers->type) {
        return ((const double *) from)[i];
    }
    if (MPI_INT == numbers->type) {
        return (double) ((const int *) from)[i];
    }
    return MPI_UINT16_T == numbers->type
               ? (double) float_of((uint32_t) ((const uint16_t *) from)[i] << BF16_SHIFT)
               : (double) ((const float *) from)[i];
}
