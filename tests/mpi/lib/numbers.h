/*
 * The numbers that coll_quant takes: float, double, and bf16, which MPI_UINT16_T holds; and int.  A
 * test that is told which of them can use the same values for all, those that bf16 has.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <mpi.h>
#include <mpi-ext.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct numbers {
    const char *name;
    MPI_Datatype type;
    size_t bytes; /* of one */
} numbers_t;

/* By their name.  Ends the job if there are none of this name. */
numbers_t numbers_named(const char *name);

enum { NUMBERS_BF16_SHIFT = 16 };

static inline float numbers_float(uint32_t bits)
{
    float value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t numbers_bits(float value)
{
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The nearest value towards zero that bf16 has. */
static inline float numbers_value(float drawn)
{
    return numbers_float(numbers_bits(drawn) >> NUMBERS_BF16_SHIFT << NUMBERS_BF16_SHIFT);
}

static inline void numbers_write(const numbers_t *numbers, void *to, size_t i, float value)
{
    if (MPI_DOUBLE == numbers->type) {
        ((double *) to)[i] = (double) value;
    } else if (MPI_INT == numbers->type) {
        ((int *) to)[i] = (int) value;
    } else if (MPI_UINT16_T == numbers->type) {
        ((uint16_t *) to)[i] = (uint16_t) (numbers_bits(value) >> NUMBERS_BF16_SHIFT);
    } else {
        ((float *) to)[i] = value;
    }
}

static inline double numbers_read(const numbers_t *numbers, const void *from, size_t i)
{
    if (MPI_DOUBLE == numbers->type) {
        return ((const double *) from)[i];
    }
    if (MPI_INT == numbers->type) {
        return (double) ((const int *) from)[i];
    }
    return MPI_UINT16_T == numbers->type
               ? (double) numbers_float((uint32_t) ((const uint16_t *) from)[i]
                                        << NUMBERS_BF16_SHIFT)
               : (double) ((const float *) from)[i];
}

/* Open MPI's own type of 16-bit floats, or MPI_DATATYPE_NULL: this Open MPI has none. */
static inline MPI_Datatype half_native_type(void)
{
#if defined(OMPI_HAVE_MPI_EXT_SHORTFLOAT) && defined(MPIX_C_FLOAT16)
    return MPIX_C_FLOAT16;
#else
    return MPI_DATATYPE_NULL;
#endif
}

#endif
