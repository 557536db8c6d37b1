/*
 * What the two halves of c11_memory.h share: accesses (c11_memory.c) and executions (c11_run.c).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef C11_STATE_H
#define C11_STATE_H

#include "c11_memory.h"
#include "fiber.h"
#include "testlib.h"

enum {
    C11_MOST_LOCATIONS = 192,
    C11_MOST_CHOICES = 4096,
    C11_MOST_ROUNDS = 100000, /* of all ranks, in which a job that does not hang ends */
    C11_GRAIN_BYTES = 4,      /* data are numbers of so many bytes */
    C11_WORD_BYTES = 8,
};

typedef struct c11_view {
    uint32_t clock[C11_MOST_RANKS];
    uint32_t oldest[C11_MOST_LOCATIONS];
} c11_view_t;

typedef struct c11_stored {
    uint64_t value;
    c11_view_t view;
} c11_stored_t;

typedef struct c11_location {
    c11_stored_t *stored;
    uint32_t count;
    uint32_t room;
} c11_location_t;

/* Who touched four bytes of ordinary memory last, by the clock of that rank. */
typedef struct c11_grain {
    uint32_t written;
    uint8_t writer;
    uint32_t read[C11_MOST_RANKS];
} c11_grain_t;

typedef struct c11_rank {
    arc_fiber_t *fiber;
    bool ended;
    c11_view_t view;
    c11_view_t loaded;   /* what came with relaxed loads: the view's, after a fence that acquires */
    c11_view_t released; /* the view at the last fence that releases */
    c11_view_t put;      /* values put */
    c11_view_t fenced;   /* ... before the window's last fence */
    bool awaits;         /* a newer value of */
    unsigned location;
    uint32_t count; /* ... than these */
    bool moved;     /* it has stored something since its last load */
    unsigned streamed;
    struct {
        const void *address;
        size_t bytes;
    } stream[64];
} c11_rank_t;

typedef struct c11_state {
    const c11_run_t *run;
    unsigned char *memory;
    c11_grain_t *grain;
    uint8_t *location_of; /* [words] 1 + location */
    c11_location_t location[C11_MOST_LOCATIONS];
    unsigned locations;
    c11_rank_t rank[C11_MOST_RANKS];
    unsigned now; /* who runs */
    const char *wrong;
    char text[160];
    /* any: */
    bool is_drawn;
    test_random_t random;
    /* all: */
    bool newest_only;
    bool given_up;
    uint16_t choice[C11_MOST_CHOICES];
    uint16_t choices[C11_MOST_CHOICES];
    unsigned chosen;
    unsigned depth; /* of the choices that are settled */
} c11_state_t;

extern c11_state_t c11_the;

/* The order that the code names there, or relaxed if that place is weakened. */
int c11_order(int order, c11_place_t place);

/* One of `of`: 0 first, so that each execution makes other choices than those before. */
unsigned c11_choose(unsigned of);

static inline c11_rank_t *c11_self(void)
{
    return &c11_the.rank[c11_the.now];
}

#endif
