/*
 * Number formats on the wire, and the coded form of a segment of the vector.
 *
 *   int8, int4, ...     a signed integer per element and a bf16 scale for every lane of a tile
 *   fp8_e4m3, fp8_e5m2  a float of eight bits per element, scaled alike
 *   bf16, fp16          rounded to two bytes, no scales
 *   fp32                the floats themselves: exact; also what a segment is sent in of which its
 *                       format cannot carry too much (NaN, infinity, magnitudes from 2^95)
 *
 * A segment is cut into rows of 64 elements and tiles of `block_rows` rows; the
 * last row and the last tile may be short:
 *
 *            lane 0   lane 1  ...  lane 63
 *   row 0    x[0]     x[1]         x[63]
 *   row 1    x[64]    x[65]        x[127]
 *   ...
 *   scale    s[0]     s[1]         s[63]      one per lane, taken down the rows
 *
 *   payload  | scales of tile 0 | scales of tile 1 | ... | row 0 | row 1 | ... | kept tiles |
 *              64 x 2 bytes, or none                       64 codes each         floats, or none
 *
 * Only whole rows are on the wire, but for fp32 and kept tiles: lanes behind the end of the
 * vector are coded as zeros.
 *
 * To add a format: docs/architecture.md, "To add".
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_FORMAT_H
#define QUANT_FORMAT_H

#include "quant_codec.h"

/* One row of quant_format_table.h; the columns are explained there. */
typedef struct quant_format {
    const char *name;
    uint8_t wire_id;
    unsigned bits;
    unsigned code; /* QUANT_CODE_...: its kernels */
    bool scaled;
    quant_range_t range;
    unsigned mantissa;
    float step;
    bool exact;
} quant_format_t;

/* quant_format_int8, ... */
#define X(_name, ...) extern const quant_format_t quant_format_##_name;
QUANT_FORMAT_TABLE(X)
#undef X

/* Doubles themselves: what exact means where the program adds doubles (quant_numbers.h).  Nobody
 * names it. */
extern const quant_format_t quant_format_fp64;

/* NULL: there is no such format. */
const quant_format_t *quant_format_by_name(const char *name);
const quant_format_t *quant_format_by_id(uint8_t wire_id);

/* The i-th format, NULL after the last: for lists and tests. */
const quant_format_t *quant_format_at(size_t index);

static inline bool quant_format_is_exact(const quant_format_t *format)
{
    return format->exact;
}

/*
 * ---- the coded form: only `elems` elements and the bytes of the payload are touched ----
 *
 * A tile that a format with scales cannot carry is kept: its scales are all QUANT_KEPT, which no
 * scale is, its codes are 0, and its floats are behind the codes of the last tile, in the order of
 * the tiles.
 */
#define QUANT_KEPT UINT16_C(0xffff)

/* Bytes of the coded form of `elems` elements of which no tile is kept. */
size_t quant_payload_bytes(const quant_format_t *format, size_t elems, unsigned block_rows);

/* The same with the tiles that are kept in `payload`, of which the scales are looked at. */
size_t quant_payload_bytes_of(const quant_format_t *format, const void *payload, size_t elems,
                              unsigned block_rows);

/* What encoding writes, and tells of it.  Peaks are the bits of the largest magnitude. */
typedef struct quant_coding {
    void *payload;
    size_t room;       /* tiles are kept as long as the payload is not longer than that, bytes */
    size_t bytes;      /* written */
    uint32_t peak;     /* of what is coded */
    uint32_t sum_peak; /* of a hop, of all sums: NaN and infinity win */
} quant_coding_t;

/* False: the format cannot carry these values in that room; nothing usable was written. */
bool quant_payload_encode(const quant_format_t *format, const quant_kernels_t *kernels,
                          const float *in, size_t elems, unsigned block_rows,
                          quant_coding_t *coding);

void quant_payload_decode(const quant_format_t *format, const quant_kernels_t *kernels,
                          const void *payload, size_t elems, unsigned block_rows, float *out);

/*
 * sum = decoded + x, rounded once per element; *peak = max(*peak, bits of the largest magnitude of
 * the sums).  `sum` may be `x`.
 */
void quant_payload_decode_add(const quant_format_t *format, const quant_kernels_t *kernels,
                              const void *payload, const float *x, size_t elems,
                              unsigned block_rows, float *sum, uint32_t *peak);

/* Elements of the scratch memory of quant_payload_hop(): one tile. */
static inline size_t quant_tile_elems(unsigned block_rows)
{
    return (size_t) block_rows * QUANT_LANES;
}

/*
 * decode_add and encode in one: what a partial sum goes through at a rank.  The sums live in
 * `tile`, quant_tile_elems() floats that stay in the cache, one tile at a time.  What is written
 * does not overlap `payload`.  False: as quant_payload_encode().
 */
bool quant_payload_hop(const quant_format_t *from, const quant_format_t *format,
                       const quant_kernels_t *kernels, const void *payload, const float *x,
                       size_t elems, unsigned block_rows, float *tile, quant_coding_t *coding);

#endif
