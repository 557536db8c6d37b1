/*
 * Read memory that may not be there.
 *
 * Somebody else's key can lead to any file, also to an empty one: it can be mapped, and reading
 * raises SIGBUS.  The kernel reads for us instead, into a pipe, and says so.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_PEEK_H
#define ARC_PEEK_H

#include <stdbool.h>
#include <stddef.h>

enum { ARC_PEEK_BYTES = 512 }; /* at most: a pipe takes so many at once */

/* False: they cannot be read, or the process has no file descriptors left; *to is as before. */
bool arc_peek(void *to, const void *from, size_t bytes);

#endif
