/*
 * The info key of a communicator: what the user wants there.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_QUANT_KEYS_H
#define COLL_QUANT_KEYS_H

#include "coll_quant.h"

/* Do the parameters want it where no info key says anything? */
bool coll_quant_keys_wanted(void);

/*
 * When the module is made: settings from the parameters and the communicator's info key; from now
 * on also from what the program sets it to.
 */
void coll_quant_keys_enable(quant_module_t *module);

#endif
