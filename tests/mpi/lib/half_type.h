/*
 * Open MPI's own type of 16-bit floats.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_TESTS_MPI_HALF_TYPE_H
#define ARC_TESTS_MPI_HALF_TYPE_H

#include <mpi.h>

#include <mpi-ext.h>

/** The type of fp16, or MPI_DATATYPE_NULL: this Open MPI has none. */
static inline MPI_Datatype half_native_type(void)
{
#if defined(OMPI_HAVE_MPI_EXT_SHORTFLOAT) && defined(MPIX_C_FLOAT16)
    return MPIX_C_FLOAT16;
#else
    return MPI_DATATYPE_NULL;
#endif
}

#endif
