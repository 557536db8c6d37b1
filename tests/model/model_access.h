/*
 * What a core does to shared memory, with the time that this takes.
 *
 *   model_load     a look at a flag.  Who has not got the line awaits it, and meanwhile the core
 *                  runs ahead: it asks for the lines whose flags it looked at after this one when
 *                  it was here before, as processors do that expect a flag to be set.
 *   model_store    the line is asked for, and the core goes on; the store can be seen when the line
 *                  is there and all stores before it can be seen
 *   model_copy     lines are read and asked for to be written, so many at a time
 *   model_sum      the same for a sum of several parts
 *   model_own      a hint that the line will be written
 *
 * model_hooks.h makes the files of common/node call these.  Memory outside of the shared one costs
 * nothing but the instructions.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MODEL_ACCESS_H
#define MODEL_ACCESS_H

#include "element.h"
#include "model_machine.h"

uint64_t model_load(const void *address);
void model_store(void *address, uint64_t value);
void *model_copy(void *to, const void *from, size_t bytes);
void model_own(const void *address);

/* reduce() of a reducer of int32 sums. */
void model_sum(const void *const *parts, unsigned n, void *out, size_t count, const void *context);

/* Lines of others that the copies and sums of a core have read; lines that it has got from other
 * cores; from another socket. */
typedef struct model_counts {
    double read;
    double fetched;
    double across;
} model_counts_t;

/*
 * Memory of `span_bytes` for each of the machine's first `cores` cores.  The first `merged_bytes`
 * of all spans count as one line: a defect, for tests.  NULL: there is not so much.
 */
unsigned char *model_access_begin(const model_machine_t *machine, unsigned cores, size_t span_bytes,
                                  size_t merged_bytes);
/* The core has new data there: nobody else has these lines.  Takes no time. */
void model_access_fill(const void *address, size_t bytes);

/* Of the core whose body calls. */
model_counts_t model_access_counts(void);
void model_access_end(void);

#endif
