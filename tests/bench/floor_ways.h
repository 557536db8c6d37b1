/*
 * The ways in which the two threads of bench/floor exchange and add their vectors.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_FLOOR_WAYS_H
#define ARC_FLOOR_WAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bounce.h"
#include "floor_kernels.h"

enum {
    FLOOR_SIDES = BOUNCE_SIDES,
    FLOOR_BUFFER_SETS = 2,
    FLOOR_LINE_DATA_BYTES = 56,            /* a cache line less the number of the call */
    FLOOR_PACKET_DATA_BYTES = 17 * 64 - 8, /* 17 such lines less the number: 1 KiB and some more */
    FLOOR_SPACING_BYTES = BOUNCE_SPACING_BYTES,
    FLOOR_MAX_WAYS = 180,
    FLOOR_NAME_BYTES = 40,
};

/** What one side writes and the other one reads. Zero at first. */
typedef struct floor_side {
    _Alignas(
        FLOOR_SPACING_BYTES) uint64_t staged; /* pieces, of all calls: the counters only grow */
    _Alignas(FLOOR_SPACING_BYTES) uint64_t summed; /* pieces whose sum is readable: two-shot */
    _Alignas(FLOOR_SPACING_BYTES) uint64_t read;   /* calls: all of the other's vectors is read */
    struct {
        _Alignas(FLOOR_SPACING_BYTES) unsigned char data[FLOOR_LINE_DATA_BYTES];
        uint64_t call;
    } line[FLOOR_BUFFER_SETS];
    struct {
        _Alignas(FLOOR_SPACING_BYTES) uint64_t call;
        float data[FLOOR_PACKET_DATA_BYTES / sizeof(float)];
    } packet[FLOOR_BUFFER_SETS];
    float *arena[FLOOR_BUFFER_SETS]; /* each for the longest vector, on a page */
    float *in;
    float *out;
} floor_side_t;

/** What the thread of one side knows. */
typedef struct floor_end {
    unsigned side;
    const floor_kernels_t *kernels;
    floor_side_t *own;
    const floor_side_t *other;
    float *in; /* also in `own` */
    float *out;
    uint64_t calls;  /* so far; the same on both sides */
    uint64_t pieces; /* of all of them, the same on both sides: where the counters stand */
} floor_end_t;

typedef struct floor_way floor_way_t;

struct floor_way {
    char name[FLOOR_NAME_BYTES]; /* without blanks */
    void (*exchange)(floor_end_t *end, const floor_way_t *way, size_t count);
    /* Until *counter, which only grows, is `number` or more; yields after a while, as
     * bounce_await(). */
    void (*await)(const uint64_t *counter, uint64_t number);
    /* How what the other has written gets into our memory; true if it did. */
    bool (*get)(float *to, const float *from, size_t count);
    floor_stores_t stores;
    bool fetches;       /* fetch for writing what the next call will write */
    size_t piece_elems; /* staged at a time */
    size_t slots;       /* of that size, which the pieces use in turn */
};

/** All ways for vectors of `count` elements, at most FLOOR_MAX_WAYS; returns how many. */
unsigned floor_ways_list(const floor_kernels_t *kernels, size_t count, floor_way_t *ways);

/** One call, made by both sides in the same way: `out` of each becomes the sum of both `in`. */
static inline void floor_exchange(floor_end_t *end, const floor_way_t *way, size_t count)
{
    way->exchange(end, way, count);
}

#endif
