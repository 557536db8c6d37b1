/*
 * The rules of the process (lowlat_rules.h), and what it remembers of communicators for those to
 * come: what was learned between nodes, and how ranks of a node stage.
 *
 * Every rank reads coll_lowlat_rules in MPI_Init.  The report of MPI_Finalize has what was learned,
 * as rules, and the user's rules.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_LOWLAT_BOOK_H
#define COLL_LOWLAT_BOOK_H

#include "lowlat_rules.h"

/* A note of a topic begins with its key, by which it is found again. */
typedef enum lowlat_topic {
    LOWLAT_TOPIC_CHOICE,
    LOWLAT_TOPIC_STAGING,
    LOWLAT_TOPICS
} lowlat_topic_t;

/* What communicators of a shape have learned. */
typedef struct lowlat_learned {
    lowlat_shape_t shape;
    struct {
        uint32_t chosen;                         /* the number of a candidate */
        uint64_t call_ns[ARC_SELECT_CANDIDATES]; /* 0: not known */
    } of[ARC_SELECT_CLASSES]; /* a class of which no time is known has learned nothing */
} lowlat_learned_t;

/* What was found for a group of processes on a node; lowlat_group_t has these fields, too. */
typedef struct lowlat_staged {
    uint64_t processes; /* a hash of them, in the order of the group */
    size_t prefetch_bytes;
    size_t stream_bytes;
    int apart_ns;
} lowlat_staged_t;

/* The component's rules; after the parameters are known, and before ranks compare them. */
void lowlat_book_open(void);

/* Print what was learned, if there is to be a report; forget everything. */
void lowlat_book_close(void);

/* Fill in the note that the process has with this key.  False: none, and it stays as it is. */
bool lowlat_book_recall(lowlat_topic_t topic, void *note);

/* In place of one with this key, if there is one.  Without memory nothing is remembered. */
void lowlat_book_remember(lowlat_topic_t topic, const void *note);

/* "doubling 45.2 us, below 63.0 us": the choice first. */
void lowlat_book_describe(const lowlat_candidates_t *list, const lowlat_learned_t *learned,
                          unsigned class, char *text, size_t text_bytes);

#endif
