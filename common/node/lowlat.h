/*
 * Sums on a node: the memory of a group of ranks that map each other's segments, and the shape of
 * an algorithm.
 *
 * Every rank owns one segment.  Only the owner writes there, but for one counter; all others map it
 * and read:
 *
 *   | flags | left | probe, told | packet[0][..] | packet[1][..] | arena[0]    | arena[1]    |
 *                                  set 0           set 1           arena_bytes   arena_bytes
 *
 *   flags       64-bit counters, each in a line of its own; they only grow
 *   left        others that have let go of the segment, each for good; they write it, not the owner
 *   probe       a counter by which ranks measure how far apart cores are; told: what they found
 *   packet[b][l]  the sequence number of an operation, then up to 632 bytes of data
 *   arena[b]    staged data
 *
 * where b is the buffer set and l a level (lowlat_levels.h).
 *
 * THE TWO BUFFER SETS.  Operation number k of the group uses set k mod 2 of the packets and arenas,
 * whatever its algorithm.  Two sets are enough, with no barrier or credit at the end of an
 * operation:
 *
 *   1  The result of an allreduce depends on every rank's part.  So a rank that has
 *      completed k+1 has, directly or through others, waited for something that
 *      every rank did in k+1; every rank had then returned from k.
 *   2  A rank that writes set b for k+2 has completed k+1.  By 1 no rank is in
 *      operation k any more, which was the last one to read set b.
 *
 * Each element of the result depends on every rank, and every rank waits for whoever has summed
 * it: so 1 holds although nobody waits for a share that is empty.  The waits are acquire loads of
 * what was stored with release, so that the argument carries through any number of ranks.
 *
 * For operations of a part of the ranks (lowlat_staging.c) 1 does not hold.  They use arenas only,
 * and before them comes an operation of all by packets: whoever has completed that one knows that
 * all have left those before it, which were the last to read an arena.  Ranks outside the part may
 * still read its packets.  So there is an even number of operations of the part, and then another
 * one of all, which uses the other set of packets.
 *
 * THE COUNTERS.  Within an operation a flag counts pieces: 1, 2, ...  It is
 * stored as `base` + n, where `base` is the number of pieces of all operations
 * before, the same on all ranks.  So a flag that an operation does not use is
 * merely small, "not before" is a plain comparison, and nothing ever wraps.
 *
 * One rank writes a flag and others read it: so each has a line of its own, 128 bytes from the
 * next, because the prefetcher of x86 fetches lines in pairs.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_H
#define LOWLAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "copy.h"
#include "element.h"
#include "lowlat_levels.h"
#include "task.h"

enum {
    /* Of x86 and most of Arm.  Right with others, too: longer lines cost more transfers. */
    LOWLAT_CACHE_LINE_BYTES = 64,
    LOWLAT_FLAG_SPACING_BYTES = 2 * LOWLAT_CACHE_LINE_BYTES,
    LOWLAT_SEQUENCE_BYTES = sizeof(uint64_t),
    LOWLAT_LINE_DATA_BYTES = LOWLAT_CACHE_LINE_BYTES - LOWLAT_SEQUENCE_BYTES, /* behind a number */
    /* Room for 512 bytes; staging 1024 takes as long between near cores, and less between far. */
    LOWLAT_PACKET_DATA_BYTES = 5 * LOWLAT_FLAG_SPACING_BYTES - LOWLAT_SEQUENCE_BYTES,
    LOWLAT_PACKETS = 5,       /* of a set: for so many levels */
    LOWLAT_PAGE_BYTES = 4096, /* arenas start on a page */
    LOWLAT_BUFFER_SETS = 2,
    LOWLAT_MIN_SLOTS = 3,           /* that a pipeline needs; see the proofs of the algorithms */
    LOWLAT_MAX_SLOTS = 8,           /* more would only take more of the caches */
    LOWLAT_MIN_ARENA_BYTES = 32768, /* what a communicator begins with */
    LOWLAT_MAX_ELEMENT_BYTES = 4096,
    LOWLAT_YIELDS = 3, /* where cores are shared: polls that only yield, for each other one */
};

_Static_assert(LOWLAT_MAX_ELEMENT_BYTES *LOWLAT_MIN_SLOTS <= LOWLAT_MIN_ARENA_BYTES,
               "a pipeline of single elements fits into the smallest arenas");

typedef enum lowlat_flag {
    LOWLAT_ENTERED,  /* the sequence number of the operation that the rank is in, or was */
    LOWLAT_STAGED,   /* pieces of its part that it has made readable */
    LOWLAT_REDUCED,  /* pieces of the result that it has made readable */
    LOWLAT_GATHERED, /* pieces that it has read and does not need any more */
    LOWLAT_SUMMED,   /* by levels (lowlat_parts.h): steps of pieces that it has made outwards, */
    LOWLAT_SPREAD,   /* and back */
    LOWLAT_FLAGS
} lowlat_flag_t;

typedef struct lowlat_packet {
    _Alignas(LOWLAT_FLAG_SPACING_BYTES) uint64_t sequence;
    unsigned char data[LOWLAT_PACKET_DATA_BYTES];
} lowlat_packet_t;

/* What a rank tells the others about itself; lowlat_staging.h has when. */
typedef struct lowlat_told {
    uint64_t changed; /* its neighbour is at another distance than before */
    uint64_t way;     /* how it stages long messages (lowlat_staging.h) */
} lowlat_told_t;

typedef struct lowlat_segment {
    struct {
        _Alignas(LOWLAT_FLAG_SPACING_BYTES) uint64_t value;
    } flag[LOWLAT_FLAGS];
    _Alignas(LOWLAT_FLAG_SPACING_BYTES) uint64_t left;
    _Alignas(LOWLAT_FLAG_SPACING_BYTES) uint64_t probe;
    _Alignas(LOWLAT_FLAG_SPACING_BYTES) lowlat_told_t told;
    lowlat_packet_t packet[LOWLAT_BUFFER_SETS][LOWLAT_PACKETS];
    _Alignas(LOWLAT_PAGE_BYTES) unsigned char arena[];
} lowlat_segment_t;

struct lowlat_task;

/* A group of ranks that map each other's segments: those of a node. */
typedef struct lowlat_group {
    unsigned rank;
    unsigned ranks;
    bool cores_shared;     /* some ranks have no core of their own; the same on all ranks */
    size_t arena_bytes;    /* of each buffer set */
    size_t block_bytes;    /* staging unit of one-shot */
    size_t chunk_bytes;    /* of two-shot: this much of the vector at a time */
    size_t prefetch_bytes; /* messages up to here prefetch for the next one */
    size_t stream_bytes;   /* messages from here on are staged by `streaming` */
    arc_copier_t streaming;
    unsigned way;               /* how most ranks stage long messages; the same on all ranks */
    int apart_ns;               /* distance of the neighbour at the last trial (lowlat_staging.c) */
    unsigned looks_changed;     /* looks in a row that found another distance */
    uint64_t probes;            /* the same on all ranks */
    uint64_t sequence;          /* operations started so far; the same on all ranks */
    uint64_t pieces;            /* of all of them: `base` of the next; the same on all ranks */
    lowlat_segment_t **segment; /* [ranks]; segment[rank] is our own */
    const void **parts;         /* [ranks] scratch of an operation: the operands of a reduction */
    lowlat_levels_t levels;     /* by which sums go on the node; none: they are flat */
    lowlat_levels_t pairs;      /* the butterflies go by */
    struct lowlat_net *net;     /* the other nodes (lowlat_net.h); NULL: there are none */
    /*
     * Asked in phases around an exchange between nodes: how far sums of `count` parts of so many
     * elements may be off, which are off by `error` together.  NULL: nobody asks.
     */
    float (*sum_error)(const struct lowlat_task *task, const void *const *parts, unsigned count,
                       size_t elems, double error);
} lowlat_group_t;

/* Bytes of a segment with two arenas of `arena_bytes` each. */
static inline size_t lowlat_segment_bytes(size_t arena_bytes)
{
    return sizeof(lowlat_segment_t) + LOWLAT_BUFFER_SETS * arena_bytes;
}

/* Elements [first, end) of a vector. */
typedef struct lowlat_range {
    size_t first;
    size_t end;
} lowlat_range_t;

static inline size_t lowlat_range_elems(lowlat_range_t range)
{
    return range.end - range.first;
}

/* One operation.  Lives on the caller's stack; nothing is allocated for it. */
typedef struct lowlat_task {
    arc_task_t task; /* first: the algorithms are handed this */
    lowlat_group_t *group;
    const arc_reducer_t *reducer;
    const void *in; /* may be `out` */
    void *out;
    size_t count;      /* elements, > 0 */
    size_t span_bytes; /* of `count` elements */
    /* Several nodes: messages up to here have one rank of each node exchange them. */
    size_t leader_bytes;
    /* The operation must get all parts at once, in the order of the ranks: not by levels. */
    bool flat;
    /* How direct adds 16-bit floats between nodes of one rank each; otherwise NULL. */
    const struct lowlat_widened *widened;
    /* From here on set by lowlat_task_begin(), */
    uint64_t sequence;
    uint64_t base;
    unsigned buffer_set;
    unsigned peer; /* all ranks below have been seen in the present wait */
    bool unfenced; /* what was staged since the last flag must be fenced before the next */
    /* and by the algorithm: */
    size_t piece_elems;         /* pipeline: elements of a block or chunk, but for the last */
    size_t pieces;              /* ... how many */
    size_t slots;               /* ... that the arena has room for */
    size_t staged;              /* ... pieces readable by others */
    size_t reduced;             /* ... pieces reduced */
    unsigned back;              /* ... levels on which the next one is gathered */
    size_t gathered;            /* ... pieces complete in `out` */
    unsigned owners;            /* ... ranks that reduce a part of each; by levels of a step */
    size_t row_elems;           /* ... which begins at a multiple of so many */
    size_t part_elems;          /* ... numbers of our part of each piece but the last */
    size_t exchanged;           /* ... pieces summed over the nodes */
    struct lowlat_piped *piped; /* ... by this exchange; NULL: we have no part (lowlat_piped.h) */
    const lowlat_levels_t *levels; /* by levels: these */
    unsigned step;                 /* ... of a chunk: outwards, then back */
    unsigned sharing;              /* ... of which the first ones share out the vector */
    bool posted;                   /* ... what others need of us in it */
    bool by_packets;               /* ... on levels that share nothing out, or have one owner */
    size_t half_bytes;             /* ... of an arena, that a chunk has */
    const void *partial;           /* ... the vector summed so far: `in`, then `out` */
    /* ... of which we have so much on a level: elements; parts (lowlat_parts.h) */
    lowlat_range_t range[LOWLAT_MAX_LEVELS + 1];
    lowlat_range_t share; /* ... elements that we reduce next */
    size_t sharers;       /* ... members that we gather from next */
    bool has_share;       /* ... these are computed, */
    bool has_sharers;     /* ... once, before the first poll */
} lowlat_task_t;

typedef struct lowlat_algorithm {
    const char *name;
    const char *description;
    /* An element of the result depends on nothing but that element of all parts. */
    bool reproducible;
    /*
     * Start an operation: set up `task` from its first fields (group to
     * span_bytes are set) and publish what can be published.  Cannot fail.
     */
    void (*start)(lowlat_task_t *task);
} lowlat_algorithm_t;

/*
 * Every rank reads every other rank's whole vector and sums all of them itself; every rank sums one
 * part of the vector over all ranks, then collects the sums; by pairs of ranks, as in
 * lowlat_by_levels.h.
 */
void lowlat_oneshot_start(lowlat_task_t *task);
void lowlat_twoshot_start(lowlat_task_t *task);
void lowlat_half_butterfly_start(lowlat_task_t *task);
void lowlat_butterfly_start(lowlat_task_t *task);

#endif
