/*
 * Memory that ranks share, as C11 has it, and no stronger: what x86 promises beyond is not there.
 *
 *   atomics   Each location keeps all values that were stored to it, in their order.  A rank has a
 *             VIEW: of each location the oldest value that it may still load, and of each rank how
 *             much of what that rank did happens before what it does now.  A load may return any
 *             value that the view allows.  A store with release leaves the storing rank's view with
 *             the value; a load with acquire takes that view over; a relaxed one takes nothing.
 *   the rest  Copies and sums are ordinary accesses: two of them to the same bytes, one of which
 *             writes, are a RACE unless one happens before the other.  A race has no meaning in
 *             C11, so memory keeps one value, and the first race ends the run as wrong.
 *   streaming Stores that no release orders (copy.h): as if they happened at the next fence.
 *   puts      Relaxed stores of words (window.h), by a window that knows less than the rank: its
 *             fence orders puts with puts, and not with what the rank itself reads and writes.
 *
 * Each location must have one writer at a time, who knows of all values before: then an execution
 * is settled by which value each load returns.  What is left out: loads that return what is stored
 * only later because of themselves, which neither compilers nor processors do.
 *
 * Two ways to run the ranks, which are fibers of one thread:
 *
 *   any       a seed draws who runs next and which value a load returns
 *   all       every value that each load may return, one execution after the other: a load may also
 *             wait until there is a newer one.  Who polls in vain has loaded what it could as well
 *             not have loaded, so from there on the execution goes on with the newest values alone.
 *
 * Sources: C. Flanagan and S. N. Freund, FastTrack, PLDI 2009 (races by clocks); O. Lahav et al.,
 * Repairing Sequential Consistency in C/C++11, PLDI 2017 (the model); J. Kang et al., A Promising
 * Semantics for Relaxed-Memory Concurrency, POPL 2017 (views).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef C11_MEMORY_H
#define C11_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "copy.h"

enum { C11_MOST_RANKS = 8 };

/* Where the code names an order. */
typedef struct c11_place {
    const char *file;
    int line;
    int order; /* that is made relaxed: a fence that acquires and releases is two places */
} c11_place_t;

uint64_t c11_load(const void *address, int order, c11_place_t place);
void c11_store(void *address, uint64_t value, int order, c11_place_t place);
void c11_fence(int order, c11_place_t place);
void *c11_copy(void *to, const void *from, size_t bytes);

/* By the window of the rank that runs.  `to` is a multiple of 8. */
void c11_put(void *to, const void *from, size_t bytes);
void c11_fence_puts(void);

/* Ordinary accesses of the rank that runs, by code that no hook sees. */
void c11_read(const void *address, size_t bytes);
void c11_write(const void *address, size_t bytes);

extern const arc_copier_t c11_streaming;

/* Progress found nothing: somebody else must run.  False: the job hangs, and is to give up. */
bool c11_polled_in_vain(void);

/* The first thing that went wrong in this execution, as text; NULL: nothing. */
const char *c11_wrong(void);
/* What a rank found wrong. */
void c11_complain(const char *what);

/* The rank that runs. */
unsigned c11_rank(void);

/* ---- runs ---- */

typedef struct c11_run {
    unsigned ranks;
    size_t bytes; /* of memory, all zeros at the start of each execution */
    /* Before each execution. */
    void (*prepare)(void *context, unsigned char *memory);
    /* A rank, from its start to its end. */
    void (*body)(void *context, unsigned rank);
    void *context;
} c11_run_t;

/* One execution, drawn by `seed`.  False: something was wrong. */
bool c11_run_any(const c11_run_t *run, uint64_t seed);

/* All of them, at most `most`, until one is wrong: how many there were. */
size_t c11_run_all(const c11_run_t *run, size_t most);

/* ---- orders ---- */

/* Places that have named acquire or release since the program began. */
size_t c11_places(void);
c11_place_t c11_place(size_t i);
/* From now on this one is relaxed, and no other; SIZE_MAX: none. */
void c11_weaken(size_t i);

#endif
