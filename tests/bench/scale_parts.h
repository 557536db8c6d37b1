/*
 * What a rank of a communicator works out and keeps, part by part, for any number of ranks.
 *
 * Only pure code; what goes through Open MPI is not here.  In test_scale the code that does the
 * work counts the pieces of straight code that it runs: scale_work.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef SCALE_PARTS_H
#define SCALE_PARTS_H

#include <stddef.h>
#include <stdint.h>

typedef struct scale_part {
    const char *name;
    /* Do it once, as one of `ranks` ranks; in *work, if not NULL, what was counted.  Returns the
     * bytes that the rank keeps.  Ends the program if that fails. */
    size_t (*run)(unsigned ranks, uint64_t *work);
} scale_part_t;

/* Ends with a row without a name. */
extern const scale_part_t scale_parts[];

#endif
