/*
 * Which algorithm between nodes runs a call, learned from the communicator's calls (select.h,
 * lowlat_rules.h): a selector for each class of lengths, of blocking calls and of others.
 *
 * Nonblocking calls learn for themselves.  The component below is not among their candidates: it
 * would be chosen at the start of a call, when some ranks have not had the last agreement yet.
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

/* Those that learn.  Persistent requests go by what nonblocking calls have learned. */
enum { LOWLAT_FORMS = LOWLAT_CALLS_NONBLOCKING + 1 };

typedef struct lowlat_choice {
    lowlat_shape_t shape;
    lowlat_candidates_t list;
    /* Of calls that are not blocking a selector begins with the first call of its class. */
    arc_select_t select[LOWLAT_FORMS][ARC_SELECT_CLASSES];
    lowlat_learned_t learned[LOWLAT_FORMS];
    bool ruled[ARC_SELECT_CLASSES]; /* blocking calls, by the user: nothing is learned */
    uint32_t below;                 /* of others, those that the user passes down: a bit each */
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

/* The selector for a call. */
arc_select_t *coll_lowlat_choice_select(lowlat_module_t *module, arc_form_t form, unsigned class);

/*
 * After a timed call that ended the round of a class: agree with the other ranks on the times, and
 * go on with what follows from them.  Breaks the module if that fails.
 */
void coll_lowlat_choice_agree(lowlat_module_t *module, arc_form_t form, unsigned class);

/* Have MPI_Comm_get_info tell what is selected. */
void coll_lowlat_show(const lowlat_module_t *module);

#endif
