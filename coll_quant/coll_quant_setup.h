/*
 * Until a module is ready, and its end.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_QUANT_SETUP_H
#define COLL_QUANT_SETUP_H

#include "coll_quant.h"

/*
 * First of all in a call, of `bytes` in all blocks, that the module did not make itself: once there
 * were enough of them, do the ranks agree?
 */
void coll_quant_agree_if_due(quant_module_t *module, size_t bytes);

/*
 * The module is not ready: set it up, if a call could be served but for that (`verdict`
 * ARC_REASON_NONE).  ARC_REASON_NONE when ready, otherwise why not.
 */
arc_reason_t coll_quant_set_up_if_needed(quant_module_t *module, arc_reason_t verdict);

/* Give the module's memory back, if it has any. */
void coll_quant_teardown(quant_module_t *module);

/*
 * The module of a persistent request begins with the settings of its communicator's, and keeps
 * them.
 */
void coll_quant_adopt(quant_module_t *module, const quant_module_t *of);

/* The settings have changed: the next call sets the module up anew, after the ranks have agreed. */
void coll_quant_renew(quant_module_t *module);

#endif
