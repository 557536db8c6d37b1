/*
 * hierarchical where the ranks of a node add up in memory that they share (quant_fold.h).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_QUANT_FOLD_H
#define COLL_QUANT_FOLD_H

#include "coll_quant_call.h"

/* With the component: what it may share; it gives that back with mca_share_close(). */
void coll_quant_fold_open(void);

/* Those that follow return an MPI error code. */

/*
 * The module is ready: before a call that may be timed, share memory on the nodes to add up there.
 * Once; nothing where the operation, of which no memory needs to be told, is not for that.
 */
int coll_quant_fold_look(quant_module_t *module, const quant_operation_t *operation);

/* Is this operation added up so?  All ranks together: memory may have to grow. */
int coll_quant_fold_check(quant_module_t *module, const quant_operation_t *operation, bool *folds);

/* Run it so, and note the bound of the result. */
int coll_quant_fold_run(quant_module_t *module, quant_call_t *call);

/* Give the memory back, unless messages may still be in it. */
void coll_quant_fold_release(quant_module_t *module);

#endif
