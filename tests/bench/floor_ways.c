/*
 * Three shapes of an exchange, as in coll_lowlat, but for two sides only and with
 * nothing around them:
 *
 *   line       up to 56 bytes: data and number of the call in one cache line
 *   one-shot   stage 0 | stage 1, add 0 | stage 2, add 1 | ...
 *              each side stages all of its vector and adds all of the other's
 *   two-shot   stage 0 | stage 1, add 0 | stage 2, add 1, gather 0 | ...
 *              of each piece side 0 adds the lower and side 1 the upper part: each
 *              stages the other's part, adds its own, stages the sum, and copies
 *              the other's sum
 *
 * Call k uses set k mod 2 of all memory, whatever its way. Whoever has completed
 * k+1 has seen what the other side wrote in k+1, after its return from k; so nobody
 * reads the set of k any more when it is written for k+2.
 *
 * A ring uses S slots for its pieces in turn, so that what is staged stays in the
 * caches. A side stages piece b after it has added b-2 and, in a two-shot, gathered
 * b-3. So when the other side has staged b-S+4 pieces, the last of them b-S+3, it
 * does not need b-S any more. Nobody waits for ever: who has staged least, m pieces,
 * needs m-S+4 from the other, which has m or more, and S is 4 or more.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "cpu.h"
#include "floor_ways.h"

enum {
    LINE_BYTES = 64,
    LINE_ELEMS = LINE_BYTES / sizeof(float),
    MIN_SLOTS = 4,
    RING_SLOTS = 8, /* more than MIN_SLOTS, so that a side can be ahead */
    /* Fetching ahead was seen to be the best up to 8 KiB; beyond, it costs time to try. */
    MAX_FETCH_BYTES = 32 << 10,
};

_Static_assert((int) RING_SLOTS >= (int) MIN_SLOTS, "no side of a ring waits for ever");

/* The vector is one piece; no slot is used twice. */
#define ALL_BYTES SIZE_MAX
#define ALL_SLOTS SIZE_MAX

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t divide_up(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

/* Release: whoever sees the number sees all that we wrote before. */
static void post_counter(uint64_t *counter, uint64_t number)
{
    __atomic_store_n(counter, number, __ATOMIC_RELEASE);
}

/* Enter the next call; returns the buffer set that it uses. */
static unsigned enter_call(floor_end_t *end)
{
    end->calls++;
    return (unsigned) (end->calls % FLOOR_BUFFER_SETS);
}

static float *slot_at(const floor_side_t *side, unsigned buffer_set, const floor_way_t *way,
                      size_t piece)
{
    return side->arena[buffer_set] + piece % way->slots * way->piece_elems;
}

static void await_slot(const floor_end_t *end, const floor_way_t *way, size_t piece)
{
    if (piece >= way->slots) {
        bounce_await(&end->other->staged, end->pieces + piece - way->slots + MIN_SLOTS);
    }
}

/* Not before the other side has been seen in this call: it may still read what it reads of the
 * last. */
static void fetch_other_set(const floor_end_t *end, const floor_way_t *way, unsigned buffer_set,
                            size_t count)
{
    if (way->fetches) {
        for (size_t i = 0; i < count; i += LINE_ELEMS) {
            arc_cpu_prefetch_for_write(end->own->arena[FLOOR_BUFFER_SETS - 1 - buffer_set] + i);
        }
    }
}

/* ---- line ---- */

static void exchange_line(floor_end_t *end, const floor_way_t *way, size_t count)
{
    const unsigned buffer_set = enter_call(end);
    float theirs[FLOOR_LINE_DATA_BYTES / sizeof(float)];

    (void) way;
    memcpy(end->own->line[buffer_set].data, end->in, count * sizeof(float));
    post_counter(&end->own->line[buffer_set].call, end->calls);
    bounce_await(&end->other->line[buffer_set].call, end->calls);
    memcpy(theirs, end->other->line[buffer_set].data, count * sizeof(float));
    end->kernels->add(end->out, end->in, theirs, count);
}

/* ---- one-shot ---- */

static void exchange_one_shot(floor_end_t *end, const floor_way_t *way, size_t count)
{
    const unsigned buffer_set = enter_call(end);
    const size_t pieces = divide_up(count, way->piece_elems);
    size_t staged = 0;

    for (size_t added = 0; added < pieces; added++) {
        for (; staged < pieces && staged <= added + 1; staged++) {
            const size_t first = staged * way->piece_elems;

            await_slot(end, way, staged);
            way->stores.copy(slot_at(end->own, buffer_set, way, staged), end->in + first,
                             least(way->piece_elems, count - first));
            post_counter(&end->own->staged, end->pieces + staged + 1);
        }
        bounce_await(&end->other->staged, end->pieces + added + 1);
        if (added == 0) {
            fetch_other_set(end, way, buffer_set, count);
        }
        const size_t first = added * way->piece_elems;
        end->kernels->add(end->out + first, end->in + first,
                          slot_at(end->other, buffer_set, way, added),
                          least(way->piece_elems, count - first));
    }
    if (way->fetches) {
        arc_cpu_prefetch_for_write(&end->own->staged);
    }
    end->pieces += pieces;
}

/* ---- two-shot ---- */

/* A piece of the vector, and the parts of it that this side and the other one add. */
typedef struct split {
    size_t first;  /* of the piece, in the vector */
    size_t own_at; /* in the piece */
    size_t own_elems;
    size_t other_at;
    size_t other_elems;
} split_t;

static split_t split_piece(const floor_end_t *end, const floor_way_t *way, size_t piece,
                           size_t count)
{
    const size_t first = piece * way->piece_elems;
    const size_t elems = least(way->piece_elems, count - first);
    const size_t lower = least(elems, divide_up(divide_up(elems, 2), LINE_ELEMS) * LINE_ELEMS);
    const size_t upper = elems - lower;

    return end->side == 0 ? (split_t){first, 0, lower, lower, upper}
                          : (split_t){first, lower, upper, 0, lower};
}

static void exchange_two_shot(floor_end_t *end, const floor_way_t *way, size_t count)
{
    const unsigned buffer_set = enter_call(end);
    const size_t pieces = divide_up(count, way->piece_elems);
    size_t staged = 0;
    size_t summed = 0;
    size_t gathered = 0;

    while (gathered < pieces) {
        if (staged < pieces && staged <= summed + 1 && staged <= gathered + 2) {
            const split_t at = split_piece(end, way, staged, count);

            await_slot(end, way, staged);
            way->stores.copy(slot_at(end->own, buffer_set, way, staged) + at.other_at,
                             end->in + at.first + at.other_at, at.other_elems);
            staged++;
            post_counter(&end->own->staged, end->pieces + staged);
        } else if (summed < pieces && summed <= gathered + 1) {
            const split_t at = split_piece(end, way, summed, count);
            const size_t first = at.first + at.own_at;

            bounce_await(&end->other->staged, end->pieces + summed + 1);
            way->stores.add_both(
                end->out + first, slot_at(end->own, buffer_set, way, summed) + at.own_at,
                end->in + first, slot_at(end->other, buffer_set, way, summed) + at.own_at,
                at.own_elems);
            summed++;
            post_counter(&end->own->summed, end->pieces + summed);
        } else {
            const split_t at = split_piece(end, way, gathered, count);

            bounce_await(&end->other->summed, end->pieces + gathered + 1);
            if (gathered == 0) {
                fetch_other_set(end, way, buffer_set, count);
            }
            way->stores.copy_out(end->out + at.first + at.other_at,
                                 slot_at(end->other, buffer_set, way, gathered) + at.other_at,
                                 at.other_elems);
            gathered++;
        }
    }
    end->pieces += pieces;
}

/* ---- all of them ---- */

static const struct shape {
    const char *name;
    void (*exchange)(floor_end_t *end, const floor_way_t *way, size_t count);
} shapes[] = {{"one-shot", exchange_one_shot}, {"two-shot", exchange_two_shot}};

static const struct manner {
    const char *name;
    size_t stores_at; /* the member of floor_kernels_t */
    bool fetches;
} manners[] = {
    {"ordinary", offsetof(floor_kernels_t, ordinary), false},
    {"fetched", offsetof(floor_kernels_t, ordinary), true},
    {"memcpy", offsetof(floor_kernels_t, library), false},
    {"streaming", offsetof(floor_kernels_t, streaming), false},
};

static const struct cut {
    const char *name;
    size_t piece_bytes; /* whole cache lines */
    size_t slots;
} cuts[] = {
    {"whole", ALL_BYTES, ALL_SLOTS},  {"4k", 4 << 10, ALL_SLOTS},
    {"32k", 32 << 10, ALL_SLOTS},     {"256k", 256 << 10, ALL_SLOTS},
    {"4k-ring", 4 << 10, RING_SLOTS}, {"32k-ring", 32 << 10, RING_SLOTS},
};

enum {
    SHAPES = sizeof shapes / sizeof shapes[0],
    MANNERS = sizeof manners / sizeof manners[0],
    CUTS = sizeof cuts / sizeof cuts[0],
};

_Static_assert((int) FLOOR_MAX_WAYS >= SHAPES * MANNERS * CUTS + 1, "and the line");

static const floor_stores_t *stores_of(const floor_kernels_t *kernels, const struct manner *manner)
{
    return (const floor_stores_t *) ((const char *) kernels + manner->stores_at);
}

/* Is this one possible, and another one than those before? */
static bool makes_sense(const floor_kernels_t *kernels, const struct manner *manner,
                        const struct cut *cut, size_t bytes)
{
    const bool is_cut = cut->piece_bytes < bytes;
    const bool goes_round = is_cut && cut->slots < divide_up(bytes, cut->piece_bytes);

    return (is_cut || cut->piece_bytes == ALL_BYTES) && (goes_round || cut->slots == ALL_SLOTS) &&
           stores_of(kernels, manner)->copy != NULL &&
           (bytes >= LINE_BYTES || manner->stores_at == offsetof(floor_kernels_t, ordinary)) &&
           (!manner->fetches || bytes <= MAX_FETCH_BYTES);
}

unsigned floor_ways_list(const floor_kernels_t *kernels, size_t count, floor_way_t *ways)
{
    const size_t bytes = count * sizeof(float);
    unsigned listed = 0;

    if (bytes <= FLOOR_LINE_DATA_BYTES) {
        ways[listed++] = (floor_way_t){.name = "line", .exchange = exchange_line};
    }
    for (unsigned i = 0; i < SHAPES * MANNERS * CUTS; i++) {
        const struct shape *shape = &shapes[i / CUTS / MANNERS];
        const struct manner *manner = &manners[i / CUTS % MANNERS];
        const struct cut *cut = &cuts[i % CUTS];

        if (makes_sense(kernels, manner, cut, bytes)) {
            floor_way_t *way = &ways[listed++];

            *way = (floor_way_t){
                .exchange = shape->exchange,
                .stores = *stores_of(kernels, manner),
                .fetches = manner->fetches,
                .piece_elems = least(bytes, cut->piece_bytes) / sizeof(float),
                .slots = cut->slots,
            };
            (void) snprintf(way->name, sizeof way->name, "%s,%s,%s", shape->name, manner->name,
                            cut->name);
        }
    }
    return listed;
}
