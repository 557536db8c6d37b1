/*
 * What selectors have learned, as text that a later run reads:
 *
 *     # comment
 *     machine=AMD EPYC 9B45, 2 processors
 *     releases=ARC 0.1.0, Open MPI 4.1.4, UCX 1.13.1
 *     nodes=4 ranks=2 over=messages bytes=1024 use=doubling below=63.1 doubling=45.2
 *
 * One line for a shape of communicators and a class of lengths: what to use, and the microseconds
 * that a call of each candidate took, as far as known; they are for people only.  ranks=1-2: so
 * many on a node, at least and at most.
 *
 * Pure.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_SELECT_FILE_H
#define ARC_SELECT_FILE_H

#include <stdio.h>

#include "select.h"

enum {
    ARC_LEARNED_LINES_MAX = 4096, /* of a file; more are wrong lines */
    ARC_LEARNED_ORIGIN_BYTES = 128,
    ARC_LEARNED_NAMES = 2 * ARC_SELECT_CANDIDATES, /* of candidates, at most */
};

/* The words of a file, which end with NULL. */
typedef struct arc_learned_words {
    const char *const *candidates;
    const char *const *transports;
} arc_learned_words_t;

/* A line; candidates and the transport are numbers of their words. */
typedef struct arc_learned_line {
    uint32_t nodes;
    uint32_t least_ranks;
    uint32_t most_ranks;
    uint32_t transport;
    uint32_t class;
    uint32_t chosen;
    uint64_t call_ns[ARC_LEARNED_NAMES]; /* 0: not known */
} arc_learned_line_t;

/* Where a file comes from: of each fact the text, or "" if it is not said. */
typedef enum arc_learned_origin {
    ARC_LEARNED_MACHINE,
    ARC_LEARNED_RELEASES,
    ARC_LEARNED_ORIGINS,
} arc_learned_origin_t;

typedef char arc_learned_text_t[ARC_LEARNED_ORIGIN_BYTES];

typedef struct arc_learned {
    arc_learned_text_t origin[ARC_LEARNED_ORIGINS];
    unsigned count;
    arc_learned_line_t *lines; /* ours; NULL if there are none */
} arc_learned_t;

/* What is wrong with line `number`, from 1 on. */
typedef void (*arc_learned_complain_fn_t)(void *context, unsigned number, const char *what);

/* Read all that is right; a line that is wrong is complained of.  *learned is new. */
void arc_learned_read(arc_learned_t *learned, FILE *file, const arc_learned_words_t *words,
                      arc_learned_complain_fn_t complain, void *context);
void arc_learned_free(arc_learned_t *learned);

/* A hash of all that decides: equal on two ranks if and (nearly) only if they decide alike. */
uint64_t arc_learned_hash(const arc_learned_t *learned);

/* The last line for the shape and class of `key`, or NULL. */
const arc_learned_line_t *arc_learned_find(const arc_learned_t *learned,
                                           const arc_learned_line_t *key);

/* Write where the file comes from; one line. */
void arc_learned_write_origin(FILE *file, const arc_learned_text_t origin[ARC_LEARNED_ORIGINS]);
void arc_learned_write(FILE *file, const arc_learned_words_t *words,
                       const arc_learned_line_t *line);

#endif
