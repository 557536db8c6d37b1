/*
 * A process that runs out of memory when a test wants it to.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_TESTS_MPI_SHORTAGE_H
#define ARC_TESTS_MPI_SHORTAGE_H

#include <stddef.h>

/** What a process has in most tests: less than the vectors of these tests take. */
enum { SHORTAGE_BYTES = 24 << 20 };

/** From now on this process can map `slack_bytes` more and no others. Aborts the job on failure. */
void shortage_begin(size_t slack_bytes);

/** As before shortage_begin(); nothing if there was none. */
void shortage_end(void);

#endif
