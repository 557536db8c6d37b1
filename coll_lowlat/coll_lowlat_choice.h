/*
 * Which algorithm between nodes runs a call, learned from the communicator's calls (select.h,
 * lowlat_candidates.h): a selector for each class of lengths.
 *
 * A process remembers what its communicators have learned, by their shape.  A new one of that
 * shape begins with it if all its ranks remember the same.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_LOWLAT_CHOICE_H
#define COLL_LOWLAT_CHOICE_H

#include "lowlat_candidates.h"
#include "mca_module.h"

struct lowlat_module;

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

typedef struct lowlat_choice {
    lowlat_shape_t shape;
    lowlat_candidates_t list;
    arc_select_t select[ARC_SELECT_CLASSES];
    lowlat_learned_t learned;
    bool has_book; /* coll_lowlat_learned_file says the same on all ranks */
} lowlat_choice_t;

/* Memory for the choice, module->choice, of a communicator on several nodes.  False: there is none.
 */
bool coll_lowlat_choice_make(struct lowlat_module *module);
void coll_lowlat_choice_release(struct lowlat_module *module);

/*
 * "doubling to 6143 bytes (expected), direct to any length (learned)"; expected: nothing was
 * measured so far.
 */
void coll_lowlat_choice_describe(const lowlat_choice_t *choice, char *text, size_t text_bytes);

/* Begin, when the network is ready; all ranks take part.  Breaks the module if that fails. */
void coll_lowlat_choice_begin(struct lowlat_module *module);

/*
 * Of a call that is not blocking, and that nobody times: the candidate that is chosen, or where
 * that is the component below, the best of ours as far as that is known.
 */
unsigned coll_lowlat_choice_served(const struct lowlat_module *module, unsigned class);

/*
 * After a timed call that ended the round of a class: agree with the other ranks on the times, and
 * go on with what follows from them.  Breaks the module if that fails.
 */
void coll_lowlat_choice_agree(struct lowlat_module *module, unsigned class);

#endif
