/*
 * What was learned about the algorithms between nodes, from and to files (select_file.h).
 *
 * Every rank reads coll_lowlat_learned_file in MPI_Init.  Rank 0 of MPI_COMM_WORLD writes
 * coll_lowlat_learn_file in MPI_Finalize: what it has learned, and of what it has read the rest.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_LOWLAT_BOOK_H
#define COLL_LOWLAT_BOOK_H

#include "select_file.h"

struct lowlat_shape;

typedef struct lowlat_book {
    arc_learned_t learned; /* from the file; empty if there is none */
    char *learn_file;      /* NULL: none; ours, as Open MPI's own is gone when we are closed */
} lowlat_book_t;

/* After the parameters are known, and who is the first process. */
void lowlat_book_read(lowlat_book_t *book);

/* Write what was learned, if it is to be, also into the report; forget what was read. */
void lowlat_book_close(lowlat_book_t *book);

/* The name of the candidate that the file has for a class, or NULL. */
const char *lowlat_book_find(const struct lowlat_shape *shape, unsigned class);

#endif
