/*
 * What is counted and timed of calls, and what becomes of it at MPI_Finalize: the report, and files
 * for monitoring.
 *
 * Each rank counts its own calls; nothing is exchanged, so that a rank that died, or lacks the
 * component, keeps nobody waiting.  The report and the files are rank 0's; if the name of the files
 * has %r, each rank writes its own.
 *
 * Cost on ranks that write neither: a look at a pointer in each call.  With the report: a look into
 * the table, some ns.  With files: also two looks at the clock, and those of longer waits.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_REPORT_H
#define MCA_REPORT_H

#include "mca_module.h"

/* After the parameters and the rank are known; and at the end. */
void arc_report_open(arc_component_t *component);
void arc_report_close(arc_component_t *component);

#endif
