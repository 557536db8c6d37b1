/*
 * The lines of a memory that cores share: which caches have them, and when a line that somebody
 * asks for is there.
 *
 *   read   the nearest core that has the line gives it.  A line serves one reader at a time
 *          (busy_ns); a second reader of a cache group waits for the copy that is on its way there.
 *          The ways into and out of a cache group, and between sockets, take lines one by one.
 *   write  as long as the farthest core that has the line: all copies must be given up first.
 *
 * Caches have room for everything; memory itself is as far as another core of the socket.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MODEL_LINES_H
#define MODEL_LINES_H

#include "model_machine.h"

typedef struct model_lines model_lines_t;

/* `count` lines, that nobody has.  NULL: no memory. */
model_lines_t *model_lines_new(const model_machine_t *machine, size_t count);
void model_lines_free(model_lines_t *lines);

/* Has the core a copy of the line, perhaps one that is still on its way?  Is it the only one? */
bool model_lines_has(const model_lines_t *lines, size_t line, unsigned core);
bool model_lines_owns(const model_lines_t *lines, size_t line, unsigned core);

/* The core asks for it at that time: when is it there, when could it write? */
double model_lines_read(model_lines_t *lines, size_t line, unsigned core, double at_ns);
double model_lines_write(model_lines_t *lines, size_t line, unsigned core, double at_ns);

/* The core has the only copy, from now on and for no time. */
void model_lines_claim(model_lines_t *lines, size_t line, unsigned core);

/* Lines that a core has got from cores with which it shares so much. */
double model_lines_fetched(const model_lines_t *lines, unsigned core, model_level_t level);

#endif
