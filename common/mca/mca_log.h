/*
 * What is said of a communicator, on standard error and in its info; and the end of a module in the
 * middle of a call, which is said: there is no way back after the first byte.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_LOG_H
#define MCA_LOG_H

#include "mca_module.h"

/* Levels of parameter verbose.  ARC_LOG_REPORT: what was served, at MPI_Finalize. */
enum { ARC_LOG_WARN = 1, ARC_LOG_REPORT = 2, ARC_LOG_CHOICE = 10, ARC_LOG_CALL = 20 };

/*
 * What concerns a whole communicator: its rank 0 prints "coll_<name>: ..." on standard error if
 * the user asked for this level.
 */
void arc_module_log(const arc_module_t *module, int level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * What is in effect on the communicator, in a line: MPI_Comm_get_info has it under the component's
 * choice_key.  NULL: nothing any more.  Not before the set-up: a communicator that is never used
 * is to cost nothing.
 */
enum { ARC_SHOWN_BYTES = 256 }; /* longer lines are cut off by MPI */
void arc_module_show(const arc_module_t *module, const char *text);

/* Is it the first time on the communicator?  `what`: a number of the component, below 32. */
static inline bool arc_module_first(arc_module_t *module, unsigned what)
{
    const unsigned before = module->said;

    module->said |= 1U << what;
    return before != module->said;
}

/* What concerns this rank, unless the user wants no warnings. */
void arc_module_warn(const arc_module_t *module, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * A call of a slot, or what several calls have in common (ARC_SLOTS), failed after its first byte
 * was out: say so, break the module for good, and return an MPI error.  If it is broken already,
 * nothing is said.  Later calls return arc_module_broken_error().
 */
int arc_module_break(arc_module_t *module, arc_slot_t slot, arc_status_t status,
                     const char *details);
int arc_module_broken_error(void);

/* The same; after a time limit it says that rank `missing` was waited for. */
int arc_module_break_without(arc_module_t *module, arc_slot_t slot, arc_status_t status,
                             const char *details, unsigned missing);

#endif
