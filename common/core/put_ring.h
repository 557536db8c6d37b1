/*
 * Fragments between us and one peer, in order, both ways, by puts into each other's windows:
 * what put_stream.h makes messages of.
 *
 * A ring in a window, which the peer fills and its owner reads:
 *
 *   | credit | cells of slot 0 | cells of slot 1 | ... | bytes of slot 0 | bytes of slot 1 | ...
 *     64 B     fused_slot_bytes                          slot_bytes
 *
 *   credit   slots of the *other* direction that the peer has read
 *   cells    8-byte words of 4 bytes data and 4 bytes sequence:
 *
 *              | kind, length |   slots read   | data 0..3 | data 4..7 | ... to fused_bytes
 *                header                          only of a fused fragment
 *
 *   bytes    of a fenced fragment
 *
 * A fragment takes the next slot, or as many as its bytes need; slot number f, counted from the
 * first, is slot f mod S.  FUSED, up to fused_bytes: header and data are one put;
 * the reader tests every cell by itself, so it does not matter in which order they come.  FENCED:
 * the data as they are, a put for each slot, a fence, one header in the cells of the first slot.
 * The two kinds of memory are separate: raw data must never be taken for cells.
 *
 * CREDIT.  A slot is used again when the peer has read what was in it: a fragment of slots f to
 * f + k - 1 waits until f + k <= S + credit.  The count comes with every header of the other
 * direction; alone, by a put of 8 bytes, only when half of the slots or more were read and not yet
 * told.  A fragment has at most half of the slots.  So
 * messages that are answered need no credits of their own, and nobody waits for one but to use a
 * slot again: no barrier, no flush.  A writer without credit looks at the credit word *and* at the
 * headers that have come, also those of fragments that nobody has asked for yet.
 *
 *   Why nobody waits for ever: let the reader have read everything up to f, and the writer
 *   wait with f.  If half of the slots or more are untold, the reader tells them (it does not end
 *   its receive before).  Else the writer has seen, or will see, a credit above f - S/2, which is
 *   enough for S/2 slots.  Credits by put have a fence between them: an old one never overwrites a
 *   newer one.
 *
 * SEQUENCE.  That of lap l = f / S is 1 + l mod (2^B - 1), never 0.  In a slot, all cells left from
 * before must differ from the sequence that is waited for, also cells that no fragment has written
 * for long.  So in the last lap of each turn of the sequence the reader zeroes the cells of the
 * slot: after it has read the fragment, when all cells of it have come, and before it counts it as
 * read, so that nothing else is under way to the slot.  Within a turn sequences only grow: all that
 * can be in a cell is 0 or that of an earlier lap.
 *
 * Source: S. Singhania et al., "Understanding and Improving Communication Performance in Multi-node
 * LLM Inference", section 4, algorithm 1: fused flags, and credits that are awaited as late as can
 * be.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_PUT_RING_H
#define ARC_PUT_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "window.h"

enum {
    ARC_PUT_MIN_SLOTS = 2,
    ARC_PUT_MAX_FRAGMENT_BYTES = 1 << 29, /* a length and the kind share 32 bits */
    ARC_PUT_MIN_SEQUENCE_BITS = 2,
    ARC_PUT_SEQUENCE_BITS = 32,
};

/* The same on all ranks. */
typedef struct arc_put_config {
    unsigned streams;
    unsigned slots;         /* of each ring */
    size_t slot_bytes;      /* the longest put; a multiple of 64 */
    size_t fused_bytes;     /* the longest fused fragment, <= slot_bytes; 0: all are fenced */
    unsigned sequence_bits; /* of a cell; fewer only for tests */
} arc_put_config_t;

/* The longest fragment: half of the slots. */
static inline size_t arc_put_fragment_bytes(const arc_put_config_t *config)
{
    return config->slots / 2 * config->slot_bytes;
}

/* Memory of a ring in a window; a multiple of 64. */
size_t arc_put_ring_bytes(const arc_put_config_t *config);

/* Memory of its staging, a multiple of 64. */
size_t arc_put_staging_bytes(const arc_put_config_t *config);

/* A slot in a lap: follows from the number of slots before. */
typedef struct arc_put_place {
    unsigned slot;
    uint64_t sequence; /* in the upper half, as in a cell */
} arc_put_place_t;

/* Both directions between us and a peer. */
typedef struct arc_put_ring {
    arc_window_t *window;
    const arc_put_config_t *config;
    size_t cells_bytes;     /* of a slot */
    unsigned peer;          /* of the window */
    unsigned char *ours;    /* the ring that the peer fills */
    size_t theirs;          /* offset of the ring that we fill, in the peer's window */
    unsigned char *staging; /* the cells that we put */

    uint64_t sent;                    /* slots put */
    uint64_t ended;                   /* ... whose requests have ended */
    uint64_t credit;                  /* ... that the peer has read, as far as we know */
    arc_put_place_t out;              /* of slot `sent` */
    unsigned ended_slot;              /* ... `ended` */
    arc_window_request_t *data_put;   /* [slots] */
    arc_window_request_t *header_put; /* [slots] */

    uint64_t received;  /* slots read */
    uint64_t told;      /* ... that the peer was told of */
    arc_put_place_t in; /* of slot `received` */
    size_t cells_read;  /* of the data of the next fragment */
    uint64_t told_word;
    arc_window_request_t credit_put;
} arc_put_ring_t;

/*
 * The ring of a stream with a peer.  A window has the rings of its peers one after the other, in
 * their order, and of each peer those of the streams.  `staging` and `requests`, two for each
 * slot, are zeros, and live as long as the ring and what it has put.
 */
void arc_put_ring_init(arc_put_ring_t *ring, arc_window_t *window, const arc_put_config_t *config,
                       unsigned peer, unsigned stream, unsigned char *staging,
                       arc_window_request_t *requests);

/* What is known of a fragment that has come, or is coming. */
typedef struct arc_put_fragment {
    size_t bytes;
    bool fenced;
    bool last; /* of its message */
} arc_put_fragment_t;

/*
 * Put the next fragment: up to arc_put_fragment_bytes() from `data`, which is the window's, if it
 * is fenced, until `ended` is what `sent` is then.  ARC_IN_PROGRESS: there are no slots for it now,
 * nothing was done.
 */
arc_status_t arc_put_ring_send(arc_put_ring_t *ring, const void *data, size_t bytes,
                               bool last) ARC_MUST_CHECK;

/* See which puts have ended. */
arc_status_t arc_put_ring_test(arc_put_ring_t *ring) ARC_MUST_CHECK;

/*
 * Has the next fragment's header come?  ARC_OK: *fragment is set.  ARC_IN_PROGRESS: no.
 * ARC_ERR_PROTOCOL: no peer sends such a header.
 */
arc_status_t arc_put_ring_peek(arc_put_ring_t *ring, arc_put_fragment_t *fragment) ARC_MUST_CHECK;

/*
 * Read the fragment that peek has found, to `data`, which must be the same until the end.
 * ARC_IN_PROGRESS: call again, some of it has not come.
 */
arc_status_t arc_put_ring_read(arc_put_ring_t *ring, const arc_put_fragment_t *fragment,
                               void *data) ARC_MUST_CHECK;

/* Tell the peer what was read, if that is due.  ARC_IN_PROGRESS: due, but not possible now. */
arc_status_t arc_put_ring_tell(arc_put_ring_t *ring) ARC_MUST_CHECK;

#endif
