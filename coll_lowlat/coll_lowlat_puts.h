/*
 * How ranks come to put into each other's windows instead of sending messages.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_LOWLAT_PUTS_H
#define COLL_LOWLAT_PUTS_H

#include "coll_lowlat_port.h"

#ifdef ARC_HAVE_UCX
/*
 * All ranks take part and all come to the same end: NULL, and the module has a port, or a static
 * text that says why not, or the module is broken.
 */
const char *lowlat_puts_connect(lowlat_module_t *module);

/* The same, but nobody waits for partners to answer: NULL, and module->opening is a port. */
const char *lowlat_puts_open(lowlat_module_t *module);

/* All ranks: NULL: partners are still awaited, or module->port is there.  Or why there is none. */
const char *lowlat_puts_settle(lowlat_module_t *module);
#else
#define lowlat_puts_connect(_module) ((void) (_module), (const char *) NULL)
#define lowlat_puts_open(_module) ((void) (_module), (const char *) NULL)
#define lowlat_puts_settle(_module) ((void) (_module), (const char *) NULL)
#endif

#endif
