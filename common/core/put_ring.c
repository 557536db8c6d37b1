/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "put_ring.h"
#include "sizes.h"

enum {
    LINE_BYTES = 64, /* a cache line: who writes a part of it takes all of it from the reader */
    CELL_DATA_BYTES = 4,
    HEADER_CELLS = 2,
    GROUP_CELLS = 8, /* a cache line */
    SEQUENCE_SHIFT = 32,
};

/* The first cell of a header: a length below these. */
static const uint32_t kind_fenced = 1u << 31;
static const uint32_t kind_last = 1u << 30;

/* ---- where things are ---- */

static size_t data_cells(size_t bytes)
{
    return arc_divide_up(bytes, CELL_DATA_BYTES);
}

static size_t cells_bytes_of(const arc_put_config_t *config)
{
    return arc_round_up((HEADER_CELLS + data_cells(config->fused_bytes)) * sizeof(uint64_t),
                        LINE_BYTES);
}

size_t arc_put_staging_bytes(const arc_put_config_t *config)
{
    return config->slots * cells_bytes_of(config);
}

size_t arc_put_ring_bytes(const arc_put_config_t *config)
{
    return LINE_BYTES + config->slots * (cells_bytes_of(config) + config->slot_bytes);
}

/* Offsets in a ring. */
static size_t cells_at(const arc_put_ring_t *ring, unsigned slot)
{
    return LINE_BYTES + slot * ring->cells_bytes;
}

static size_t bytes_at(const arc_put_ring_t *ring, unsigned slot)
{
    return cells_at(ring, ring->config->slots) + slot * ring->config->slot_bytes;
}

static const arc_put_place_t first_place = {.slot = 0, .sequence = (uint64_t) 1 << SEQUENCE_SHIFT};

/* The last sequence of a turn. */
static uint64_t last_sequence(const arc_put_config_t *config)
{
    return (((uint64_t) 1 << config->sequence_bits) - 1) << SEQUENCE_SHIFT;
}

/* Of an empty fragment, too. */
static unsigned slots_of(const arc_put_config_t *config, size_t bytes)
{
    return bytes <= config->slot_bytes ? 1 : (unsigned) arc_divide_up(bytes, config->slot_bytes);
}

/* The place of the next slot. */
static arc_put_place_t place_after(const arc_put_config_t *config, arc_put_place_t place)
{
    place.slot += 1;
    if (place.slot == config->slots) {
        place.slot = 0;
        place.sequence = place.sequence == last_sequence(config)
                             ? first_place.sequence
                             : place.sequence + first_place.sequence;
    }
    return place;
}

void arc_put_ring_init(arc_put_ring_t *ring, arc_window_t *window, const arc_put_config_t *config,
                       unsigned peer, unsigned stream, unsigned char *staging,
                       arc_window_request_t *requests)
{
    const size_t bytes = arc_put_ring_bytes(config);

    assert(config->slots >= ARC_PUT_MIN_SLOTS &&
           arc_put_fragment_bytes(config) <= ARC_PUT_MAX_FRAGMENT_BYTES &&
           config->fused_bytes <= config->slot_bytes);
    assert(config->sequence_bits >= ARC_PUT_MIN_SEQUENCE_BITS &&
           config->sequence_bits <= ARC_PUT_SEQUENCE_BITS);
    *ring = (arc_put_ring_t){
        .window = window,
        .config = config,
        .cells_bytes = cells_bytes_of(config),
        .peer = peer,
        .ours = window->base + (peer * (size_t) config->streams + stream) * bytes,
        .theirs = (window->number_at_peer[peer] * (size_t) config->streams + stream) * bytes,
        .staging = staging,
        .out = first_place,
        .in = first_place,
        .data_put = requests,
        .header_put = requests + config->slots,
    };
}

/* ---- cells ---- */

/* Has the cell come?  One load brings data and sequence; fences order what depends on them. */
static inline bool cell_read(const uint64_t *cell, uint64_t sequence, uint32_t *data)
{
    const uint64_t value = __atomic_load_n(cell, __ATOMIC_RELAXED);

    *data = (uint32_t) value;
    return (value ^ sequence) >> SEQUENCE_SHIFT == 0;
}

/* Data that fill `cells` cells, of which the last may be a part.  Groups: for vectors. */
static void cells_fill(uint64_t *cells, uint64_t sequence, const unsigned char *data, size_t bytes)
{
    const size_t whole = bytes / CELL_DATA_BYTES;
    uint32_t words[GROUP_CELLS] = {0};
    size_t done = 0;

    for (; done + GROUP_CELLS <= whole; done += GROUP_CELLS) {
        memcpy(words, data + done * CELL_DATA_BYTES, sizeof words);
        for (unsigned i = 0; i < GROUP_CELLS; ++i) {
            cells[done + i] = sequence | words[i];
        }
    }
    memset(words, 0, sizeof words);
    memcpy(words, data + done * CELL_DATA_BYTES, bytes - done * CELL_DATA_BYTES);
    for (unsigned i = 0; done < data_cells(bytes); ++done, ++i) {
        cells[done] = sequence | words[i];
    }
}

/* Have all cells of a group come?  One branch for all, in the loop that most data go through. */
static inline bool group_take(const uint64_t *cells, uint64_t sequence, unsigned char *data)
{
    uint64_t values[GROUP_CELLS];
    uint64_t differs = 0;

#pragma GCC unroll 8
    for (unsigned i = 0; i < GROUP_CELLS; ++i) {
        values[i] = __atomic_load_n(&cells[i], __ATOMIC_RELAXED);
        differs |= values[i] ^ sequence;
    }
    if (0 != differs >> SEQUENCE_SHIFT) {
        return false;
    }
#pragma GCC unroll 8
    for (unsigned i = 0; i < GROUP_CELLS; ++i) {
        const uint32_t word = (uint32_t) values[i];
        memcpy(data + i * CELL_DATA_BYTES, &word, sizeof word);
    }
    return true;
}

/* Read cells from number `done` on; the number of the first that has not come. */
static size_t cells_take(const uint64_t *cells, uint64_t sequence, size_t done, unsigned char *data,
                         size_t bytes)
{
    const size_t whole = bytes / CELL_DATA_BYTES;
    const size_t all = data_cells(bytes);
    uint32_t word = 0;

    /* As a rule it comes last: who polls it alone does not take the other lines from the writer. */
    if (done < all && !cell_read(&cells[all - 1], sequence, &word)) {
        return done;
    }
    while (done + GROUP_CELLS <= whole &&
           group_take(&cells[done], sequence, data + done * CELL_DATA_BYTES)) {
        done += GROUP_CELLS;
    }
    for (; done < whole; ++done) {
        if (!cell_read(&cells[done], sequence, &word)) {
            return done;
        }
        memcpy(data + done * CELL_DATA_BYTES, &word, sizeof word);
    }
    if (done < all && cell_read(&cells[done], sequence, &word)) {
        memcpy(data + done * CELL_DATA_BYTES, &word, bytes % CELL_DATA_BYTES);
        ++done;
    }
    return done;
}

/* ---- credit ---- */

/*
 * A count of which the peer told the lower half.  More than we have sent it cannot be: then it is
 * an old one, that lay unread while the counts went on.
 */
static void learn_credit(arc_put_ring_t *ring, uint32_t told)
{
    const uint32_t more = told - (uint32_t) ring->credit;

    if (more <= ring->sent - ring->credit) {
        ring->credit += more;
    }
}

/* All places where the peer may have told more. */
static void look_for_credit(arc_put_ring_t *ring)
{
    const uint64_t word = __atomic_load_n((const uint64_t *) ring->ours, __ATOMIC_RELAXED);
    arc_put_place_t place = ring->in;

    /* It may be as old as the ring: all of its bits count. */
    if (word > ring->credit) {
        ring->credit = word;
    }
    for (unsigned i = 0; i < ring->config->slots; ++i) {
        const uint64_t *cells = (const uint64_t *) (ring->ours + cells_at(ring, place.slot));
        uint32_t told = 0;
        if (cell_read(&cells[1], place.sequence, &told)) {
            learn_credit(ring, told);
        }
        place = place_after(ring->config, place);
    }
}

arc_status_t arc_put_ring_tell(arc_put_ring_t *ring)
{
    arc_window_t *window = ring->window;

    if (ring->received - ring->told < (ring->config->slots + 1) / 2) {
        return ARC_OK;
    }
    /* The word that the last one was put from. */
    arc_status_t status = arc_window_test(window, &ring->credit_put);
    if (ARC_OK != status) {
        return status;
    }
    /* After the credit before, and after what we have read and zeroed. */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    status = window->ops->fence(window);
    if (ARC_OK != status) {
        return status;
    }
    ring->told = ring->received;
    ring->told_word = ring->told;
    return window->ops->put(window, ring->peer, ring->theirs, &ring->told_word,
                            sizeof ring->told_word, &ring->credit_put);
}

/* ---- to the peer ---- */

arc_status_t arc_put_ring_test(arc_put_ring_t *ring)
{
    arc_window_t *window = ring->window;

    while (ring->ended < ring->sent) {
        arc_status_t status = arc_window_test(window, &ring->data_put[ring->ended_slot]);
        if (ARC_OK == status) {
            status = arc_window_test(window, &ring->header_put[ring->ended_slot]);
        }
        if (ARC_OK != status) {
            return status;
        }
        ring->ended += 1;
        ring->ended_slot = (ring->ended_slot + 1) % ring->config->slots;
    }
    return ARC_OK;
}

/* May the next fragment use `count` slots, there and in the staging? */
static arc_status_t find_slots(arc_put_ring_t *ring, unsigned count)
{
    const unsigned slots = ring->config->slots;
    const uint64_t sent = ring->sent + count;

    if (sent > ring->credit + slots) {
        look_for_credit(ring);
        if (sent > ring->credit + slots) {
            return ARC_IN_PROGRESS;
        }
    }
    if (sent > ring->ended + slots) {
        arc_status_t status = arc_put_ring_test(ring);
        if (ARC_OK != status && ARC_IN_PROGRESS != status) {
            return status;
        }
    }
    return sent <= ring->ended + slots ? ARC_OK : ARC_IN_PROGRESS;
}

/* The data of a fenced fragment, from slot to slot, and the fence. */
static arc_status_t put_bytes(arc_put_ring_t *ring, const unsigned char *data, size_t bytes)
{
    arc_window_t *window = ring->window;
    const size_t slot_bytes = ring->config->slot_bytes;
    arc_status_t status = ARC_OK;
    unsigned slot = ring->out.slot;

    for (size_t done = 0; ARC_OK == status && done < bytes; done += slot_bytes) {
        assert(NULL == ring->data_put[slot].handle);
        status =
            window->ops->put(window, ring->peer, ring->theirs + bytes_at(ring, slot), data + done,
                             arc_min(bytes - done, slot_bytes), &ring->data_put[slot]);
        slot = (slot + 1) % ring->config->slots;
    }
    return ARC_OK == status ? window->ops->fence(window) : status;
}

arc_status_t arc_put_ring_send(arc_put_ring_t *ring, const void *data, size_t bytes, bool last)
{
    arc_window_t *window = ring->window;
    const unsigned slot = ring->out.slot;
    const uint64_t sequence = ring->out.sequence;
    const bool fenced = bytes > ring->config->fused_bytes;
    const unsigned count = slots_of(ring->config, bytes);
    size_t put_cells = HEADER_CELLS;

    assert(bytes <= arc_put_fragment_bytes(ring->config));
    arc_status_t status = find_slots(ring, count);
    if (ARC_OK != status) {
        return status;
    }
    /* What was in the slots before has been read there and has left here. */
    assert(ring->sent + count <= ring->credit + ring->config->slots);
    assert(NULL == ring->header_put[slot].handle);
    uint64_t *cells = (uint64_t *) (ring->staging + slot * ring->cells_bytes);
    cells[0] = sequence | (uint32_t) bytes | (fenced ? kind_fenced : 0) | (last ? kind_last : 0);
    cells[1] = sequence | (uint32_t) ring->received;
    /* We write where the peer has read, by its count; it where we have read and zeroed, by ours. */
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
    if (fenced) {
        status = put_bytes(ring, data, bytes);
    } else {
        cells_fill(cells + HEADER_CELLS, sequence, data, bytes);
        put_cells += data_cells(bytes);
    }
    if (ARC_OK == status) {
        status = window->ops->put(window, ring->peer, ring->theirs + cells_at(ring, slot), cells,
                                  put_cells * sizeof *cells, &ring->header_put[slot]);
    }
    ring->told = ring->received;
    ring->sent += count;
    for (unsigned i = 0; i < count; ++i) {
        ring->out = place_after(ring->config, ring->out);
    }
    return status;
}

/* ---- from the peer ---- */

arc_status_t arc_put_ring_peek(arc_put_ring_t *ring, arc_put_fragment_t *fragment)
{
    const arc_put_config_t *config = ring->config;
    const uint64_t *cells = (const uint64_t *) (ring->ours + cells_at(ring, ring->in.slot));
    const uint64_t sequence = ring->in.sequence;
    uint32_t kind = 0;
    uint32_t told = 0;

    if (!cell_read(&cells[0], sequence, &kind) || !cell_read(&cells[1], sequence, &told)) {
        return ARC_IN_PROGRESS;
    }
    /* The data of a fenced fragment are ordinary memory. */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    learn_credit(ring, told);
    *fragment = (arc_put_fragment_t){
        .bytes = kind & ~(kind_fenced | kind_last),
        .fenced = 0 != (kind & kind_fenced),
        .last = 0 != (kind & kind_last),
    };
    return fragment->bytes <=
                   (fragment->fenced ? arc_put_fragment_bytes(config) : config->fused_bytes)
               ? ARC_OK
               : ARC_ERR_PROTOCOL;
}

/* The next slot is read: the peer may use it again. */
static void leave_slot(arc_put_ring_t *ring)
{
    if (ring->in.sequence == last_sequence(ring->config)) {
        uint64_t *cells = (uint64_t *) (ring->ours + cells_at(ring, ring->in.slot));
        for (size_t i = 0; i < ring->cells_bytes / sizeof *cells; ++i) {
            __atomic_store_n(&cells[i], 0, __ATOMIC_RELAXED);
        }
    }
    assert(ring->received - ring->told < ring->config->slots);
    ring->received += 1;
    ring->in = place_after(ring->config, ring->in);
}

arc_status_t arc_put_ring_read(arc_put_ring_t *ring, const arc_put_fragment_t *fragment, void *data)
{
    const size_t slot_bytes = ring->config->slot_bytes;
    size_t done = 0;

    if (!fragment->fenced) {
        const uint64_t *cells = (const uint64_t *) (ring->ours + cells_at(ring, ring->in.slot));
        ring->cells_read = cells_take(cells + HEADER_CELLS, ring->in.sequence, ring->cells_read,
                                      data, fragment->bytes);
        if (ring->cells_read < data_cells(fragment->bytes)) {
            return ARC_IN_PROGRESS;
        }
        ring->cells_read = 0;
        leave_slot(ring);
        return ARC_OK;
    }
    for (; done < fragment->bytes; done += slot_bytes) {
        memcpy((unsigned char *) data + done, ring->ours + bytes_at(ring, ring->in.slot),
               arc_min(fragment->bytes - done, slot_bytes));
        leave_slot(ring);
    }
    return ARC_OK;
}
