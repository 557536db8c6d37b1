/*
 * Segments of the vector in coded form (quant_format.h): encoded, decoded, added.
 *
 * Cost of encoding: one pass to find the largest magnitudes and one to code,
 * both over a tile that stays in the first-level cache (16 KiB for 64 rows), a larger one in the
 * second; quant_algos.h has more about it.  A hop finds them while it adds, so that it is two
 * passes, too.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_PAYLOAD_H
#define QUANT_PAYLOAD_H

#include "quant_format.h"

/*
 * How a segment is coded, and with what.  Both ends of a message have the same codec, but each its
 * own kernels and scratch memory.
 */
typedef struct quant_codec {
    const quant_kernels_t *kernels;
    const quant_format_t *format;
    unsigned block_rows;
    size_t elems;
    float *tile; /* scratch for hops, quant_tile_elems() floats */
} quant_codec_t;

/* Elements of a whole tile. */
static inline size_t quant_tile_elems(unsigned block_rows)
{
    return (size_t) block_rows * QUANT_LANES;
}

/* Bytes of the coded form of `elems` elements of which no tile is kept. */
size_t quant_payload_bytes(const quant_format_t *format, size_t elems, unsigned block_rows);

/* The same with the tiles that are kept in `payload`, of which the scales are looked at. */
size_t quant_payload_bytes_of(const quant_codec_t *codec, const void *payload);

/* What encoding writes, and tells of it.  Peaks are the bits of the largest magnitude. */
typedef struct quant_coding {
    void *payload;
    size_t room;       /* tiles are kept as long as the payload is not longer than that, bytes */
    size_t bytes;      /* written */
    uint32_t peak;     /* of what is coded */
    uint32_t sum_peak; /* of a hop, of all sums: NaN and infinity win */
} quant_coding_t;

/* False: the format cannot carry these values in that room; nothing usable was written. */
bool quant_payload_encode(const quant_codec_t *codec, const float *in, quant_coding_t *coding);

/* Only the elements of the segment and the bytes of the payload are touched, here and below. */
void quant_payload_decode(const quant_codec_t *codec, const void *payload, float *out);

/*
 * sum = decoded + x, rounded once per element; *peak = max(*peak, bits of the largest magnitude of
 * the sums).  `sum` may be `x`.
 */
void quant_payload_decode_add(const quant_codec_t *codec, const void *payload, const float *x,
                              float *sum, uint32_t *peak);

/*
 * decode_add by `from` and encode by `codec` in one: what a partial sum goes through at a rank.
 * The sums live in codec->tile, one tile at a time.  Both have the same length and tiles.  What is
 * written does not overlap `payload`.  False: as quant_payload_encode().
 */
bool quant_payload_hop(const quant_codec_t *from, const quant_codec_t *codec, const void *payload,
                       const float *x, quant_coding_t *coding);

#endif
