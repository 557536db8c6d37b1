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

typedef struct numbers {
    const char *name;
    MPI_Datatype type;
    size_t bytes; /* of one */
} numbers_t;

/* By their name.  Ends the job if there are none of this name. */
numbers_t numbers_named(const char *name);

/* The nearest value towards zero that bf16 has. */
float numbers_value(float drawn);

void numbers_write(const numbers_t *numbers, void *to, size_t i, float value);
double numbers_read(const numbers_t *numbers, const void *from, size_t i);

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
