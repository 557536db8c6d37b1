/*
 * Simulated time: each core runs a function in a fiber and has a time of its own, and nothing
 * happens out of order.
 *
 *   a core's time goes ahead           model_clock_advance()
 *   it looks at shared memory          model_clock_settle() first: all that happens before happens
 *   its store can be seen later on     model_clock_store()
 *
 * What happens at the same time happens in the order in which it was said, so that a run gives the
 * same times whenever it is repeated.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MODEL_CLOCK_H
#define MODEL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

typedef void (*model_body_fn_t)(void *context, unsigned core);

/*
 * Run body(context, core) on cores 0 .. cores - 1, from time 0 on.  False: one of them has not
 * ended at `limit_ns`, or there is no memory.  One run at a time.
 */
bool model_clock_run(unsigned cores, model_body_fn_t body, void *context, double limit_ns);

/* Of the core whose body calls: its number, and its time in ns. */
unsigned model_clock_core(void);
double model_clock_now(void);
void model_clock_advance(double ns);

/* On to a time, if that is not over. */
void model_clock_await(double ns);

void model_clock_settle(void);
void model_clock_store(double at_ns, uint64_t *address, uint64_t value);

#endif
