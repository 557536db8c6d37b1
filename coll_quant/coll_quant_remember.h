/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef COLL_QUANT_REMEMBER_H
#define COLL_QUANT_REMEMBER_H

#include "coll_quant.h"

/*
 * What is remembered of a communicator of the same processes, in the same order, with the same
 * settings; of this process, others may remember something else.  A number that is the same where
 * that is, for the ranks to compare.
 */
uint64_t coll_quant_recall(quant_module_t *module);

/* Remember what was learned here. */
void coll_quant_remember(const quant_module_t *module);

#endif
