/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "unit.h"
#include "sim_memory.h"

enum { MAX_PIECE_BYTES = 512 };

/* Any piece of the arenas, at any time. */
static void deliver_piece(sim_memory_t *memory, lowlat_segment_t *to, const lowlat_segment_t *from)
{
    const size_t bytes = LOWLAT_BUFFER_SETS * memory->arena_bytes;
    const size_t begin = test_random_below(&memory->random, bytes);
    const size_t rest = bytes - begin;
    const size_t wanted = 1 + test_random_below(&memory->random, MAX_PIECE_BYTES);

    memcpy(to->arena + begin, from->arena + begin, wanted < rest ? wanted : rest);
}

/* A packet: a piece of its data without the number, or all of it. */
static void deliver_packet(sim_memory_t *memory, lowlat_segment_t *to, const lowlat_segment_t *from)
{
    const size_t buffer_set = test_random_below(&memory->random, LOWLAT_BUFFER_SETS);
    const size_t level = test_random_below(&memory->random, LOWLAT_PACKETS);
    const lowlat_packet_t *owners = &from->packet[buffer_set][level];
    lowlat_packet_t *viewers = &to->packet[buffer_set][level];
    const size_t end = test_random_below(&memory->random, LOWLAT_PACKET_DATA_BYTES + 1);
    const size_t begin = test_random_below(&memory->random, end + 1);

    if (0 == test_random_below(&memory->random, 2)) {
        memcpy(viewers->data + begin, owners->data + begin, end - begin);
    } else {
        *viewers = *owners;
    }
}

/* A flag, and with it all that it publishes. */
static void deliver_flag(sim_memory_t *memory, lowlat_segment_t *to, const lowlat_segment_t *from,
                         const sim_streamed_t *streamed)
{
    const size_t flag = test_random_below(&memory->random, LOWLAT_FLAGS);
    const size_t bytes = LOWLAT_BUFFER_SETS * memory->arena_bytes;

    if (to->flag[flag].value == from->flag[flag].value) {
        return; /* it publishes nothing new */
    }
    SCOPED unsigned char *old = streamed->ranges > 0 ? test_alloc(bytes) : NULL;

    if (NULL != old) {
        memcpy(old, to->arena, bytes);
    }
    memcpy(to->arena, from->arena, bytes);
    for (unsigned i = 0; i < streamed->ranges; ++i) {
        const size_t offset = streamed->range[i].offset_bytes;
        memcpy(to->arena + offset, old + offset, streamed->range[i].bytes);
    }
    memcpy(to->packet, from->packet, sizeof to->packet);
    to->flag[flag] = from->flag[flag];
}

/* Something of the owner's to somebody who sees it, if there is one. */
static void deliver_something(sim_memory_t *memory, unsigned owner)
{
    enum { PIECE, PACKET, MORE_PACKETS, FLAG, KINDS };

    if (0 == memory->readers[owner]) {
        return;
    }
    const size_t reader = test_random_below(&memory->random, memory->readers[owner]);
    const unsigned viewer = memory->reader[owner * memory->ranks + reader];
    const lowlat_segment_t *from = memory->view[owner * memory->ranks + owner];
    lowlat_segment_t *to = memory->view[viewer * memory->ranks + owner];

    switch (test_random_below(&memory->random, KINDS)) {
    case PIECE:
        deliver_piece(memory, to, from);
        break;
    case PACKET:
    case MORE_PACKETS:
        deliver_packet(memory, to, from);
        break;
    default:
        deliver_flag(memory, to, from, &memory->streamed[owner]);
        break;
    }
}

/* ---- stores past the caches ---- */

/* Whose stores these are: the functions of an arc_copier_t have no context. */
static sim_memory_t *storing_memory;
static unsigned storing_owner;

static void copy_streaming(void *to, const void *from, size_t bytes)
{
    sim_streamed_t *streamed = &storing_memory->streamed[storing_owner];
    const lowlat_segment_t *own =
        storing_memory->view[storing_owner * storing_memory->ranks + storing_owner];
    const size_t offset_bytes = (uintptr_t) to - (uintptr_t) own->arena;

    /* Results lie elsewhere: nobody else reads them. */
    if (bytes > 0 && offset_bytes < LOWLAT_BUFFER_SETS * storing_memory->arena_bytes) {
        assert_true(streamed->ranges < SIM_STREAMED_RANGES);
        streamed->range[streamed->ranges].offset_bytes = offset_bytes;
        streamed->range[streamed->ranges].bytes = bytes;
        streamed->ranges += 1;
    }
    memcpy(to, from, bytes);
}

/* What was stored before it may be seen before it: a flag that should have come later, too. */
static void fence(void)
{
    deliver_something(storing_memory, storing_owner);
    storing_memory->streamed[storing_owner].ranges = 0;
}

void sim_memory_turn(sim_memory_t *memory, const lowlat_group_t *group)
{
    storing_memory = memory;
    storing_owner = group->rank;
}

/* As many bytes as a message must have; or none does, or all do. */
static size_t draw_bound(sim_memory_t *memory, size_t block_bytes)
{
    const size_t bounds[] = {0, 2 * block_bytes, SIZE_MAX};

    return bounds[test_random_below(&memory->random, sizeof bounds / sizeof bounds[0])];
}

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
    memory->view = test_zeros(sizeof *memory->view * ranks * ranks);
    memory->parts = test_alloc(sizeof *memory->parts * ranks * ranks);
    memory->streamed = test_zeros(sizeof *memory->streamed * ranks);
    memory->reader = test_alloc(sizeof *memory->reader * ranks * ranks);
    memory->readers = test_zeros(sizeof *memory->readers * ranks);
    for (unsigned rank = 0; rank < ranks; ++rank) {
        memory->view[rank * ranks + rank] = segment_new(arena_bytes);
    }
    return memory;
}

void sim_memory_free(sim_memory_t *memory)
{
    for (unsigned i = 0; i < memory->ranks * memory->ranks; ++i) {
        free(memory->view[i]);
    }
    free(memory->view);
    free(memory->reader);
    free(memory->readers);
    free(memory->parts);
    free(memory->streamed);
    free(memory);
}

void sim_memory_map(sim_memory_t *memory, unsigned viewer, unsigned owner)
{
    lowlat_segment_t **view = &memory->view[viewer * memory->ranks + owner];

    if (NULL == *view) {
        *view = segment_new(memory->arena_bytes);
        memory->reader[owner * memory->ranks + memory->readers[owner]] = viewer;
        memory->readers[owner] += 1;
    }
}

lowlat_group_t sim_memory_group(sim_memory_t *memory, unsigned rank, size_t block_bytes,
                                size_t chunk_bytes)
{
    for (unsigned owner = 0; owner < memory->ranks; ++owner) {
        sim_memory_map(memory, rank, owner);
    }
    return sim_memory_group_alone(memory, rank, block_bytes, chunk_bytes);
}

lowlat_group_t sim_memory_group_alone(sim_memory_t *memory, unsigned rank, size_t block_bytes,
                                      size_t chunk_bytes)
{
    lowlat_group_t group = {
        .rank = rank,
        .ranks = memory->ranks,
        .arena_bytes = memory->arena_bytes,
        .block_bytes = block_bytes,
        .chunk_bytes = chunk_bytes,
        .prefetch_bytes = block_bytes,
        .stream_bytes = draw_bound(memory, block_bytes),
        .streaming = {.copy = copy_streaming, .fence = fence},
        .segment = &memory->view[rank * memory->ranks],
        .parts = &memory->parts[rank * memory->ranks],
    };

    assert_true(lowlat_levels_by_pairs(&group.pairs, rank, memory->ranks));
    return group;
}

void sim_memory_deliver(sim_memory_t *memory)
{
    const unsigned owner = (unsigned) test_random_below(&memory->random, memory->ranks);

    deliver_something(memory, owner);
}
