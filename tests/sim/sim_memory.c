/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "sim_memory.h"

enum { MAX_PIECE_BYTES = 512 };

static lowlat_segment_t *segment_new(size_t arena_bytes)
{
    const size_t bytes = lowlat_segment_bytes(arena_bytes);
    lowlat_segment_t *segment = aligned_alloc(LOWLAT_PAGE_BYTES, bytes);

    if (NULL == segment) {
        abort();
    }
    memset(segment, 0, bytes);
    return segment;
}

sim_memory_t *sim_memory_new(unsigned ranks, size_t arena_bytes, uint64_t seed)
{
    sim_memory_t *memory = test_alloc(sizeof *memory);

    memory->ranks = ranks;
    memory->arena_bytes = arena_bytes;
    memory->random = test_random_of(seed, 0);
    memory->view = test_alloc(sizeof *memory->view * ranks * ranks);
    memory->parts = test_alloc(sizeof *memory->parts * ranks * ranks);
    for (unsigned i = 0; i < ranks * ranks; ++i) {
        memory->view[i] = segment_new(arena_bytes);
    }
    return memory;
}

void sim_memory_free(sim_memory_t *memory)
{
    for (unsigned i = 0; i < memory->ranks * memory->ranks; ++i) {
        free(memory->view[i]);
    }
    free(memory->view);
    free(memory->parts);
    free(memory);
}

lowlat_group_t sim_memory_group(sim_memory_t *memory, unsigned rank, size_t block_bytes,
                                size_t chunk_bytes)
{
    return (lowlat_group_t){
        .rank = rank,
        .ranks = memory->ranks,
        .arena_bytes = memory->arena_bytes,
        .block_bytes = block_bytes,
        .chunk_bytes = chunk_bytes,
        .prefetch_bytes = block_bytes,
        .segment = &memory->view[rank * memory->ranks],
        .parts = &memory->parts[rank * memory->ranks],
    };
}

/* Any piece of the arenas, at any time. */
static void deliver_piece(sim_memory_t *memory, lowlat_segment_t *to, const lowlat_segment_t *from)
{
    const size_t bytes = LOWLAT_HALVES * memory->arena_bytes;
    const size_t begin = test_random_below(&memory->random, bytes);
    const size_t rest = bytes - begin;
    const size_t wanted = 1 + test_random_below(&memory->random, MAX_PIECE_BYTES);

    memcpy(to->arena + begin, from->arena + begin, wanted < rest ? wanted : rest);
}

/* The inline lines travel one by one; a line is a unit. */
static void deliver_line(sim_memory_t *memory, lowlat_segment_t *to, const lowlat_segment_t *from)
{
    const size_t half = test_random_below(&memory->random, LOWLAT_HALVES);
    const size_t line = test_random_below(&memory->random, LOWLAT_LINES);
    to->line[half][line] = from->line[half][line];
}

/* A flag, and with it all that it publishes. */
static void deliver_flag(sim_memory_t *memory, lowlat_segment_t *to, const lowlat_segment_t *from)
{
    const size_t flag = test_random_below(&memory->random, LOWLAT_FLAGS);

    memcpy(to->arena, from->arena, LOWLAT_HALVES * memory->arena_bytes);
    to->flag[flag] = from->flag[flag];
}

void sim_memory_deliver(sim_memory_t *memory)
{
    enum { PIECE, LINE, FLAG, KINDS };
    const unsigned owner = (unsigned) test_random_below(&memory->random, memory->ranks);
    const unsigned viewer = (unsigned) test_random_below(&memory->random, memory->ranks);
    const lowlat_segment_t *from = memory->view[owner * memory->ranks + owner];
    lowlat_segment_t *to = memory->view[viewer * memory->ranks + owner];

    if (owner == viewer) {
        return;
    }
    switch (test_random_below(&memory->random, KINDS)) {
    case PIECE:
        deliver_piece(memory, to, from);
        break;
    case LINE:
        deliver_line(memory, to, from);
        break;
    default:
        deliver_flag(memory, to, from);
        break;
    }
}
