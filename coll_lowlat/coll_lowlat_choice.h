/*
 * Which algorithm between nodes runs a call, learned from the communicator's calls (select.h,
 * lowlat_rules.h): a selector for each class of lengths.
 *
 * A process remembers what its communicators have learned, by their shape.  A new one of that
 * shape begins with it if all its ranks remember the same.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_LOWLAT_CHOICE_H
#define COLL_LOWLAT_CHOICE_H

#include "coll_lowlat.h"
#include "coll_lowlat_book.h"

typedef struct lowlat_choice {
    lowlat_shape_t shape;
    lowlat_candidates_t list;
    arc_select_t select[ARC_SELECT_CLASSES];
    lowlat_learned_t learned;
    bool ruled[ARC_SELECT_CLASSES]; /* by the user: nothing is learned */
    bool has_both;                  /* messages and puts */
} lowlat_choice_t;

/*
 * Begin, where there is memory for it and the network is ready; all ranks take part.  Where all may
 * have puts beside messages connections for them are begun, too; their candidates come when these
 * stand.  Breaks the module if that fails.
 */
void coll_lowlat_choice_begin(lowlat_module_t *module);

/* There are puts beside messages now: all ranks go on with the candidates that there are then. */
void coll_lowlat_choice_add_puts(lowlat_module_t *module);

/*
 * Of a call that is not blocking, and that nobody times: the candidate that is chosen, or where
 * that is the component below, the best of ours as far as that is known.
 */
unsigned coll_lowlat_choice_served(const lowlat_module_t *module, unsigned class);

/*
 * After a timed call that ended the round of a class: agree with the other ranks on the times, and
 * go on with what follows from them.  Breaks the module if that fails.
 */
void coll_lowlat_choice_agree(lowlat_module_t *module, unsigned class);

/* Have MPI_Comm_get_info tell what is selected. */
void coll_lowlat_show(const lowlat_module_t *module);

#endif
