/*
 * The rules of the process (lowlat_rules.h), and what its communicators have learned between nodes.
 *
 * Every rank reads coll_lowlat_rules in MPI_Init.  The report of MPI_Finalize has what was learned,
 * as rules, and the user's rules.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_LOWLAT_BOOK_H
#define COLL_LOWLAT_BOOK_H

#include "lowlat_rules.h"

/* What communicators of a shape have learned. */
typedef struct lowlat_learned {
    struct lowlat_learned *next;
    lowlat_shape_t shape;
    struct {
        uint32_t chosen;                         /* the number of a candidate */
        uint64_t call_ns[ARC_SELECT_CANDIDATES]; /* 0: not known */
    } of[ARC_SELECT_CLASSES]; /* a class of which no time is known has learned nothing */
} lowlat_learned_t;

/* The component's rules; after the parameters are known, and before ranks compare them. */
void lowlat_book_open(void);

/* Print what was learned, if there is to be a report; forget everything. */
void lowlat_book_close(void);

/* What the process remembers of this shape; nothing is all zero. */
void lowlat_book_recall(lowlat_learned_t *learned);

/* Without memory nothing is remembered. */
void lowlat_book_remember(const lowlat_learned_t *learned);

/* "doubling 45.2 us, below 63.0 us": the choice first. */
void lowlat_book_describe(const lowlat_candidates_t *list, const lowlat_learned_t *learned,
                          unsigned class, char *text, size_t text_bytes);

#endif
