/*
 * Reading performance variables of MPI_T.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_TESTS_MPI_PVARS_H
#define ARC_TESTS_MPI_PVARS_H

#include <stdbool.h>

#include <mpi.h>

/** A variable that is open for reading. */
typedef struct pvar {
    MPI_T_pvar_handle handle;
    MPI_Datatype type;
    MPI_T_enum names;
} pvar_t;

/** Begin and end. Between them variables can be opened; pvars_end() is called before MPI_Finalize.
 */
void pvars_begin(void);
void pvars_end(void);

/**
 * The variable `name` of *comm. False: there is none, it can be written or stopped, or it is not
 * bound to a communicator.
 */
bool pvar_open(pvar_t *pvar, const char *name, MPI_Comm *comm);
void pvar_close(pvar_t *pvar);

/** Its value now; -1 if it cannot be read. */
double pvar_read(const pvar_t *pvar);

/** What the value `value` is called; "" if it has no name. Text of at least PVAR_NAME_BYTES. */
enum { PVAR_NAME_BYTES = 256 };
void pvar_name(const pvar_t *pvar, int value, char *text);

#endif
