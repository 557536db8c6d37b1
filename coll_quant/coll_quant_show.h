/*
 * What is in effect on a communicator, for MPI_Comm_get_info.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_QUANT_SHOW_H
#define COLL_QUANT_SHOW_H

#include "coll_quant.h"

extern char coll_quant_key[]; /* "arc_quant" */

/* The key's value for what is in force; it lives until the next one is asked for. */
mca_compat_info_string_t coll_quant_in_force(quant_module_t *module);

/* Something was agreed on, or decided: MPI_Comm_get_info is to tell what is in effect. */
void coll_quant_show(quant_module_t *module);

#endif
