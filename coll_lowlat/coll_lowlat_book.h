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

#include "select.h"
#include "select_file.h"

/* What decides how fast the candidates are, as far as the communicator does. */
typedef struct lowlat_shape {
    uint32_t nodes;
    uint32_t least_ranks; /* of a node */
    uint32_t most_ranks;
    uint32_t puts; /* or messages */
} lowlat_shape_t;

/* What communicators of a shape have learned. */
typedef struct lowlat_learned {
    struct {
        uint32_t chosen;                         /* the number of a candidate */
        uint64_t call_ns[ARC_SELECT_CANDIDATES]; /* 0: not known */
    } of[ARC_SELECT_CLASSES]; /* a class of which no time is known has learned nothing */
} lowlat_learned_t;

/* After the parameters are known, and who is the first process. */
void lowlat_book_read(void);

/* Write what was learned, if it is to be, also into the report; forget what was read. */
void lowlat_book_close(void);

/* Of what was read: ranks compare it. */
uint64_t lowlat_book_hash(void);

/* The name of the candidate that the file has for a class, or NULL. */
const char *lowlat_book_find(const lowlat_shape_t *shape, unsigned class);

#endif
