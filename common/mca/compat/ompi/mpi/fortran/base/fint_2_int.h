/*
 * Stand-in for a header which Open MPI's ompi/op/op.h includes but does not
 * install (4.1 and 5.0).
 *
 * Conversions between int and MPI_Fint.  A cast is right for every size of a
 * Fortran INTEGER: none where it is int, a narrowing or widening of one value
 * elsewhere.  This folder comes last on the include path (-idirafter), so an
 * installed header wins.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_COMPAT_FINT_2_INT_H
#define ARC_COMPAT_FINT_2_INT_H

#include "ompi_config.h"

#include "mpi.h"

#define OMPI_INT_2_FINT(_value) ((MPI_Fint) (_value))
#define OMPI_FINT_2_INT(_value) ((int) (_value))

#endif
