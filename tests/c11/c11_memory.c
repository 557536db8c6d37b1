/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "c11_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

c11_state_t c11_the;

/* ---- views ---- */

static void join(c11_view_t *into, const c11_view_t *view)
{
    for (unsigned i = 0; i < c11_the.run->ranks; ++i) {
        into->clock[i] = view->clock[i] > into->clock[i] ? view->clock[i] : into->clock[i];
    }
    for (unsigned i = 0; i < c11_the.locations; ++i) {
        into->oldest[i] = view->oldest[i] > into->oldest[i] ? view->oldest[i] : into->oldest[i];
    }
}

unsigned c11_rank(void)
{
    return c11_the.now;
}

void c11_complain(const char *what)
{
    if (NULL == c11_the.wrong) {
        (void) snprintf(c11_the.text, sizeof c11_the.text, "%s", what);
        c11_the.wrong = c11_the.text;
    }
}

const char *c11_wrong(void)
{
    return c11_the.wrong;
}

/* ---- ordinary memory ---- */

static bool is_shared(const void *address)
{
    return (uintptr_t) address - (uintptr_t) c11_the.memory < c11_the.run->bytes;
}

static void race(const char *what, unsigned other, const c11_grain_t *grain)
{
    char text[sizeof c11_the.text];

    (void) snprintf(text, sizeof text, "rank %u %s byte %zu, which rank %u %s", c11_the.now, what,
                    (size_t) (grain - c11_the.grain) * C11_GRAIN_BYTES, other,
                    grain->writer == other && 0 != grain->written ? "writes" : "reads");
    c11_complain(text);
}

static void touch(const void *address, size_t bytes,
                  void (*how)(c11_grain_t *grain, c11_rank_t *rank))
{
    const size_t offset = (uintptr_t) address - (uintptr_t) c11_the.memory;

    if (bytes > 0 && is_shared(address)) {
        for (size_t i = offset / C11_GRAIN_BYTES; i <= (offset + bytes - 1) / C11_GRAIN_BYTES;
             ++i) {
            how(&c11_the.grain[i], c11_self());
        }
    }
}

static void check_writer(const c11_grain_t *grain, const c11_rank_t *rank, const char *what)
{
    if (grain->writer != c11_the.now && grain->written > rank->view.clock[grain->writer]) {
        race(what, grain->writer, grain);
    }
}

static void read_grain(c11_grain_t *grain, c11_rank_t *rank)
{
    check_writer(grain, rank, "reads");
    grain->read[c11_the.now] = rank->view.clock[c11_the.now];
}

static void write_grain(c11_grain_t *grain, c11_rank_t *rank)
{
    check_writer(grain, rank, "writes");
    for (unsigned other = 0; other < c11_the.run->ranks; ++other) {
        if (grain->read[other] > rank->view.clock[other]) {
            race("writes", other, grain);
        }
    }
    grain->written = rank->view.clock[c11_the.now];
    grain->writer = (uint8_t) c11_the.now;
}

/* Nothing that the rank releases says that this was written, until fence_grain(). */
static void stream_grain(c11_grain_t *grain, c11_rank_t *rank)
{
    write_grain(grain, rank);
    grain->written = UINT32_MAX;
}

static void fence_grain(c11_grain_t *grain, c11_rank_t *rank)
{
    grain->written = rank->view.clock[c11_the.now];
}

/* Words that were put must be known to the last one. */
void c11_read(const void *address, size_t bytes)
{
    const size_t offset = (uintptr_t) address - (uintptr_t) c11_the.memory;

    touch(address, bytes, read_grain);
    for (size_t at = offset / C11_WORD_BYTES;
         is_shared(address) && at * C11_WORD_BYTES < offset + bytes; ++at) {
        const unsigned number = c11_the.location_of[at];
        if (0 != number &&
            c11_self()->view.oldest[number - 1] != c11_the.location[number - 1].count - 1) {
            c11_complain("a rank reads what may not have come");
        }
    }
}

void c11_write(const void *address, size_t bytes)
{
    touch(address, bytes, write_grain);
}

void *c11_copy(void *to, const void *from, size_t bytes)
{
    c11_read(from, bytes);
    c11_write(to, bytes);
    return memcpy(to, from, bytes);
}

static void copy_streaming(void *to, const void *from, size_t bytes)
{
    c11_rank_t *rank = c11_self();

    c11_read(from, bytes);
    touch(to, bytes, stream_grain);
    memcpy(to, from, bytes);
    if (is_shared(to)) {
        if (sizeof rank->stream / sizeof rank->stream[0] == rank->streamed) {
            abort();
        }
        rank->stream[rank->streamed].address = to;
        rank->stream[rank->streamed++].bytes = bytes;
    }
}

static void fence_streams(void)
{
    c11_rank_t *rank = c11_self();

    for (unsigned i = 0; i < rank->streamed; ++i) {
        touch(rank->stream[i].address, rank->stream[i].bytes, fence_grain);
    }
    rank->streamed = 0;
}

const arc_copier_t c11_streaming = {.copy = copy_streaming, .fence = fence_streams};

/* ---- atomics ---- */

static unsigned location_at(const void *address)
{
    const size_t offset = (uintptr_t) address - (uintptr_t) c11_the.memory;

    if (!is_shared(address) || 0 != offset % C11_WORD_BYTES) {
        abort();
    }
    uint8_t *number = &c11_the.location_of[offset / C11_WORD_BYTES];
    if (0 == *number) {
        if (C11_MOST_LOCATIONS == c11_the.locations) {
            abort();
        }
        c11_the.location[c11_the.locations] =
            (c11_location_t){.stored = test_alloc(sizeof(c11_stored_t)), .count = 1, .room = 1};
        memset(c11_the.location[c11_the.locations].stored, 0, sizeof(c11_stored_t));
        *number = (uint8_t) ++c11_the.locations;
    }
    return *number - 1u;
}

static bool others_run(void)
{
    for (unsigned rank = 0; rank < c11_the.run->ranks; ++rank) {
        if (rank != c11_the.now && !c11_the.rank[rank].ended) {
            return true;
        }
    }
    return false;
}

/* Which of the values does a load return? */
static uint32_t pick(c11_rank_t *rank, unsigned number)
{
    const c11_location_t *location = &c11_the.location[number];
    uint32_t oldest = rank->view.oldest[number];

    if (c11_the.is_drawn) {
        return location->count - 1 -
               (uint32_t) (0 == test_random_below(&c11_the.random, 2)
                               ? test_random_below(&c11_the.random, location->count - oldest)
                               : 0);
    }
    while (!c11_the.newest_only) {
        const unsigned there = location->count - oldest;
        const unsigned chosen = c11_choose(there + others_run());
        if (chosen < there) {
            return location->count - 1 - chosen;
        }
        oldest = location->count;
        rank->awaits = true;
        rank->location = number;
        rank->count = oldest;
        arc_fiber_yield();
    }
    return location->count - 1;
}

/* Somebody else may run before what comes. */
static void let_others(void)
{
    if (c11_the.is_drawn && 0 == test_random_below(&c11_the.random, 4)) {
        arc_fiber_yield();
    }
}

uint64_t c11_load(const void *address, int order, c11_place_t place)
{
    const int named = c11_order(order, place);
    const unsigned number = location_at(address);
    c11_rank_t *rank = c11_self();

    let_others();
    const uint32_t index = pick(rank, number);
    const c11_stored_t *stored = &c11_the.location[number].stored[index];
    rank->moved = false;
    rank->view.oldest[number] = index;
    join(__ATOMIC_RELAXED == named ? &rank->loaded : &rank->view, &stored->view);
    return stored->value;
}

/* One more value, by who knows of those up to `known`. */
static c11_stored_t *append(c11_location_t *location, uint32_t known, uint64_t value)
{
    if (known != location->count - 1) {
        c11_complain("a location has two writers");
    }
    if (location->count == location->room) {
        location->room *= 2;
        location->stored = realloc(location->stored, location->room * sizeof *location->stored);
        if (NULL == location->stored) {
            abort();
        }
    }
    c11_self()->moved = true;
    location->stored[location->count].value = value;
    return &location->stored[location->count++];
}

void c11_store(void *address, uint64_t value, int order, c11_place_t place)
{
    const int named = c11_order(order, place);
    const unsigned number = location_at(address);
    c11_rank_t *rank = c11_self();

    let_others();
    c11_stored_t *stored = append(&c11_the.location[number], rank->view.oldest[number], value);
    rank->view.oldest[number] += 1;
    stored->view = __ATOMIC_RELAXED == named ? rank->released : rank->view;
    rank->view.clock[c11_the.now] += 1;
}

void c11_fence(int order, c11_place_t place)
{
    const int named = c11_order(order, place);
    c11_rank_t *rank = c11_self();

    if (__ATOMIC_ACQUIRE == named || __ATOMIC_ACQ_REL == named) {
        join(&rank->view, &rank->loaded);
    }
    if (__ATOMIC_RELEASE == named || __ATOMIC_ACQ_REL == named) {
        rank->released = rank->view;
        rank->view.clock[c11_the.now] += 1;
    }
}

/* ---- puts ---- */

/* What is put over bytes that a rank has read: the grains keep no puts, locations do. */
static void put_grain(c11_grain_t *grain, c11_rank_t *rank)
{
    const c11_grain_t before = *grain;

    write_grain(grain, rank);
    *grain = before;
}

/* The window knows what it has fenced, and what the rank had learned when it put. */
void c11_put(void *to, const void *from, size_t bytes)
{
    c11_rank_t *rank = c11_self();

    let_others();
    touch(to, bytes, put_grain);
    memcpy(to, from, bytes);
    for (size_t at = 0; at < bytes; at += C11_WORD_BYTES) {
        const unsigned number = location_at((unsigned char *) to + at);
        uint64_t value = 0;
        memcpy(&value, (unsigned char *) to + at, sizeof value);
        const uint32_t learned = rank->view.oldest[number];
        const uint32_t fenced = rank->fenced.oldest[number];
        c11_stored_t *stored =
            append(&c11_the.location[number], learned > fenced ? learned : fenced, value);
        stored->view = rank->released;
        join(&stored->view, &rank->fenced);
        rank->put.oldest[number] = c11_the.location[number].count - 1;
    }
}

void c11_fence_puts(void)
{
    join(&c11_self()->fenced, &c11_self()->put);
}

bool c11_polled_in_vain(void)
{
    if (c11_the.is_drawn || c11_the.newest_only) {
        arc_fiber_yield();
    } else if (!c11_self()->moved) {
        c11_the.newest_only = true;
    }
    return !c11_the.given_up;
}
