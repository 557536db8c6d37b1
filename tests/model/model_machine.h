/*
 * A node, as the model of its memory sees it: cores in cache groups (those that share a last-level
 * cache), NUMA domains and sockets, and what it costs to move a line between them.
 *
 * The files of machines/ have a fact a line, a word and its numbers; # begins a comment, which says
 * where the numbers are from.  No fact is there twice; what instructions cost need not be.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MODEL_MACHINE_H
#define MODEL_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MODEL_MOST_CORES = 256, MODEL_LINE_BYTES = 64 };

/* How far apart two cores are: what they share. */
typedef enum model_level {
    MODEL_GROUP,
    MODEL_NUMA,
    MODEL_SOCKET,
    MODEL_ACROSS, /* nothing */
    MODEL_LEVELS
} model_level_t;

typedef struct model_machine {
    /* Cores of the node, and of a cache group, a NUMA domain, a socket: neighbours. */
    double cores;
    double shared[MODEL_ACROSS];
    double line_ns[MODEL_LEVELS]; /* until a line is there */
    double busy_ns[MODEL_LEVELS]; /* that a line serves one reader, and no other */
    double group_in_ns; /* that a line takes the way into a cache group, out of it, to a socket */
    double group_out_ns;
    double link_ns;
    double misses; /* lines that a core awaits at a time; and that it has asked for to write them */
    double stores;
    double hit_ns;     /* a line from the own cache, in a copy or a sum */
    double load_ns;    /* a look at a flag that is there, with the instructions around it */
    double call_ns;    /* to begin a copy or a sum: addresses, a call */
    double part_ns;    /* to begin a part in a sum */
    double add_ns;     /* a line of a part */
    double poll_ns;    /* between two looks of who waits */
    double entry_ns;   /* a call of MPI_Allreduce, without what it waits for */
    double message_ns; /* Open MPI: software of a message, both sides together */
    double single_ns;  /* ... of a copy out of another process, by the kernel */
} model_machine_t;

/* Read a file; false, and a message on stderr: it is not there, or not as it should be. */
bool model_machine_read(const char *path, model_machine_t *machine);

/* What two different cores share. */
model_level_t model_machine_level(const model_machine_t *machine, unsigned core, unsigned other);

/* The number of the cache group, ..., of a core. */
static inline unsigned model_machine_place(const model_machine_t *machine, model_level_t level,
                                           unsigned core)
{
    return core / (unsigned) machine->shared[level];
}

#endif
