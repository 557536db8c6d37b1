/*
 * Shapes of an exchange, as in coll_lowlat, but for two sides only and with
 * nothing around them:
 *
 *   line       up to 56 bytes: data and number of the call in one cache line
 *   packet     up to 1080 bytes: the number, and the data right behind it; the lines
 *              move all at once, as processors go on reading where they expect the
 *              number to be right
 *   one-shot   stage 0 | stage 1, add 0 | stage 2, add 1 | ...
 *              each side stages all of its vector and adds all of the other's
 *   two-shot   stage 0 | stage 1, add 0 | stage 2, add 1, gather 0 | ...
 *              of each piece side 0 adds the lower and side 1 the upper part: each
 *              stages the other's part, adds its own, stages the sum, and copies
 *              the other's sum
 *   mapped     as two-shot in one piece, without staging: each adds what it reads of the other's
 *              vector, and copies from the other's result; nobody returns before both have read.
 *              So it is where each process maps the other's memory, as with XPMEM
 *   cma        the same where the kernel copies from the other process (process_vm_readv), to
 *              memory in the cache what is to be added
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
 * Each of them waits in several manners, which differ in what is between two polls: the
 * pause hint, the shorter delay of coll_lowlat, or nothing. A poll that comes just too
 * early costs what is between; polls without anything take the line from its writer.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cpu.h"
#include "floor_ways.h"
#include "wait.h"

enum {
    LINE_BYTES = 64,
    LINE_ELEMS = LINE_BYTES / sizeof(float),
    MIN_SLOTS = 4,
    RING_SLOTS = 8, /* more than MIN_SLOTS, so that a side can be ahead */
    /* Fetching ahead was seen to be the best up to 8 KiB; beyond, it costs time to try. */
    MAX_FETCH_BYTES = 32 << 10,
    POLLS_BEFORE_YIELD = 1000, /* microseconds: far more than a line takes */
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

/* ---- waiting ---- */

static bool has_come(const uint64_t *counter, uint64_t number)
{
    return __atomic_load_n(counter, __ATOMIC_ACQUIRE) >= number;
}

static void await_after_delay(const uint64_t *counter, uint64_t number)
{
    unsigned polls = 0;

    while (!has_come(counter, number)) {
        arc_wait_moment();
        if (++polls % POLLS_BEFORE_YIELD == 0) {
            (void) sched_yield();
        }
    }
}

static void await_at_once(const uint64_t *counter, uint64_t number)
{
    unsigned polls = 0;

    while (!has_come(counter, number)) {
        if (++polls % POLLS_BEFORE_YIELD == 0) {
            (void) sched_yield();
        }
    }
}

/* ---- memory ---- */

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
        way->await(&end->other->staged, end->pieces + piece - way->slots + MIN_SLOTS);
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

    memcpy(end->own->line[buffer_set].data, end->in, count * sizeof(float));
    post_counter(&end->own->line[buffer_set].call, end->calls);
    way->await(&end->other->line[buffer_set].call, end->calls);
    memcpy(theirs, end->other->line[buffer_set].data, count * sizeof(float));
    end->kernels->add(end->out, end->in, theirs, count);
}

/* ---- packet ---- */

static void exchange_packet(floor_end_t *end, const floor_way_t *way, size_t count)
{
    const unsigned buffer_set = enter_call(end);

    way->stores.copy(end->own->packet[buffer_set].data, end->in, count);
    post_counter(&end->own->packet[buffer_set].call, end->calls);
    way->await(&end->other->packet[buffer_set].call, end->calls);
    if (way->fetches) { /* not before: see fetch_other_set() */
        const char *next = (const char *) &end->own->packet[FLOOR_BUFFER_SETS - 1 - buffer_set];

        for (size_t at = 0; at < sizeof(uint64_t) + count * sizeof(float); at += LINE_BYTES) {
            arc_cpu_prefetch_for_write(next + at);
        }
    }
    end->kernels->add(end->out, end->in, end->other->packet[buffer_set].data, count);
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
        way->await(&end->other->staged, end->pieces + added + 1);
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

            way->await(&end->other->staged, end->pieces + summed + 1);
            way->stores.add_both(
                end->out + first, slot_at(end->own, buffer_set, way, summed) + at.own_at,
                end->in + first, slot_at(end->other, buffer_set, way, summed) + at.own_at,
                at.own_elems);
            summed++;
            post_counter(&end->own->summed, end->pieces + summed);
        } else {
            const split_t at = split_piece(end, way, gathered, count);

            way->await(&end->other->summed, end->pieces + gathered + 1);
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

/* ---- in each other's vectors ---- */

/* A system call: dear, and nobody's wish below this many bytes. */
enum { MIN_IN_PLACE_BYTES = 16 << 10 };

static bool get_by_kernel(float *to, const float *from, size_t count)
{
    const size_t bytes = count * sizeof(float);
    const struct iovec local = {to, bytes};
    const struct iovec remote = {(float *) from, bytes};

    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t) bytes;
}

static void exchange_in_place(floor_end_t *end, const floor_way_t *way, size_t count)
{
    const unsigned buffer_set = enter_call(end);
    const floor_way_t whole = {.piece_elems = count};
    const split_t at = split_piece(end, &whole, 0, count);

    end->pieces += 1;
    post_counter(&end->own->staged, end->pieces);
    way->await(&end->other->staged, end->pieces);
    for (size_t i = 0; i < at.own_elems; i += way->piece_elems) {
        const size_t first = at.own_at + i;
        const size_t elems = least(way->piece_elems, at.own_elems - i);
        const float *theirs = end->other->in + first;

        if (way->get != NULL) {
            (void) way->get(end->own->arena[buffer_set], theirs, elems);
            theirs = end->own->arena[buffer_set];
        }
        end->kernels->add(end->out + first, end->in + first, theirs, elems);
    }
    post_counter(&end->own->summed, end->pieces);
    way->await(&end->other->summed, end->pieces);
    if (way->get == NULL) {
        way->stores.copy_out(end->out + at.other_at, end->other->out + at.other_at, at.other_elems);
    } else {
        (void) way->get(end->out + at.other_at, end->other->out + at.other_at, at.other_elems);
    }
    post_counter(&end->own->read, end->calls);
    way->await(&end->other->read, end->calls);
}

/* ---- all of them ---- */

static const struct shape {
    const char *name;
    void (*exchange)(floor_end_t *end, const floor_way_t *way, size_t count);
    size_t max_bytes;
    bool in_arena; /* anything can be stored there, in any manner, and in pieces */
    bool (*get)(float *to, const float *from, size_t count);
} shapes[] = {
    {"line", exchange_line, FLOOR_LINE_DATA_BYTES, false, NULL},
    {"packet", exchange_packet, FLOOR_PACKET_DATA_BYTES, false, NULL},
    {"one-shot", exchange_one_shot, SIZE_MAX, true, NULL},
    {"two-shot", exchange_two_shot, SIZE_MAX, true, NULL},
    {"mapped", exchange_in_place, SIZE_MAX, false, NULL},
    {"cma", exchange_in_place, SIZE_MAX, false, get_by_kernel},
};

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

static const struct poll {
    const char *name;
    void (*await)(const uint64_t *counter, uint64_t number);
    size_t max_bytes;
} polls[] = {
    {"pause", bounce_await, SIZE_MAX},
    {"delay", await_after_delay, SIZE_MAX},
    /* At 1 KiB others are faster: between near cores by 3 to 10 %, between far ones by a third. */
    {"at-once", await_at_once, FLOOR_PACKET_DATA_BYTES},
};

enum {
    SHAPES = sizeof shapes / sizeof shapes[0],
    MANNERS = sizeof manners / sizeof manners[0],
    CUTS = sizeof cuts / sizeof cuts[0],
    POLLS = sizeof polls / sizeof polls[0],
};

/* Four shapes, two of them in the arena in any manner; the others exist up to 1 KiB only, where
 * there are no pieces. */
_Static_assert((int) FLOOR_MAX_WAYS >= (2 * MANNERS + 2) * CUTS * POLLS,
               "all of one size have room");
_Static_assert((int) FLOOR_PACKET_DATA_BYTES < 4 << 10, "no pieces where there are packets");

static const floor_stores_t *stores_of(const floor_kernels_t *kernels, const struct manner *manner)
{
    return (const floor_stores_t *) ((const char *) kernels + manner->stores_at);
}

static bool is_possible(const floor_kernels_t *kernels, const struct shape *shape,
                        const struct manner *manner, const struct cut *cut, size_t bytes)
{
    const bool is_plain = manner->stores_at == offsetof(floor_kernels_t, ordinary);
    const bool is_streaming = manner->stores_at == offsetof(floor_kernels_t, streaming);

    if (shape->exchange == exchange_line) { /* it has its own stores */
        return is_plain && !manner->fetches && cut->piece_bytes == ALL_BYTES;
    }
    if (shape->exchange == exchange_in_place) {
        const float from = 1;
        float to = 0;
        return is_plain && !manner->fetches && bytes >= MIN_IN_PLACE_BYTES &&
               (shape->get == NULL || shape->get(&to, &from, 1)) &&
               (cut->piece_bytes == ALL_BYTES || (shape->get != NULL && cut->slots == ALL_SLOTS));
    }
    return stores_of(kernels, manner)->copy != NULL && (shape->in_arena || !is_streaming) &&
           (bytes >= LINE_BYTES || is_plain || !shape->in_arena) &&
           (!manner->fetches || bytes <= MAX_FETCH_BYTES);
}

/* Is it another cut than those before? */
static bool is_another(const struct cut *cut, size_t bytes)
{
    const bool is_cut = cut->piece_bytes < bytes;
    const bool goes_round = is_cut && cut->slots < divide_up(bytes, cut->piece_bytes);

    return (is_cut || cut->piece_bytes == ALL_BYTES) && (goes_round || cut->slots == ALL_SLOTS);
}

static void name_way(floor_way_t *way, const struct shape *shape, const struct manner *manner,
                     const struct cut *cut, const struct poll *poll)
{
    const bool is_in_place = shape->exchange == exchange_in_place;
    const bool has_manner = !is_in_place && shape->exchange != exchange_line;
    const bool has_cut = is_in_place || shape->in_arena;

    (void) snprintf(way->name, sizeof way->name, "%s%s%s%s%s,%s", shape->name,
                    has_manner ? "," : "", has_manner ? manner->name : "", has_cut ? "," : "",
                    has_cut ? cut->name : "", poll->name);
}

unsigned floor_ways_list(const floor_kernels_t *kernels, size_t count, floor_way_t *ways)
{
    const size_t bytes = count * sizeof(float);
    unsigned listed = 0;

    for (unsigned i = 0; i < SHAPES * MANNERS * CUTS * POLLS; i++) {
        const struct shape *shape = &shapes[i / POLLS / CUTS / MANNERS];
        const struct manner *manner = &manners[i / POLLS / CUTS % MANNERS];
        const struct cut *cut = &cuts[i / POLLS % CUTS];
        const struct poll *poll = &polls[i % POLLS];

        if (bytes <= shape->max_bytes && bytes <= poll->max_bytes && is_another(cut, bytes) &&
            is_possible(kernels, shape, manner, cut, bytes)) {
            floor_way_t *way = &ways[listed++];

            *way = (floor_way_t){
                .exchange = shape->exchange,
                .await = poll->await,
                .get = shape->get,
                .stores = *stores_of(kernels, manner),
                .fetches = manner->fetches,
                .piece_elems = least(bytes, cut->piece_bytes) / sizeof(float),
                .slots = cut->slots,
            };
            name_way(way, shape, manner, cut, poll);
        }
    }
    return listed;
}
