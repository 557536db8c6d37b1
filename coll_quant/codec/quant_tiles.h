/*
 * The tiles of a segment: where they are in the vector and in the payload.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_TILES_H
#define QUANT_TILES_H

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

/* Where one tile begins, and how much there is of it. */
typedef struct quant_tile {
    const quant_codec_t *codec;   /* of the segment */
    const quant_format_t *format; /* of the codes: fp32 of a kept tile */
    unsigned shift;               /* of its blocks */
    size_t first;                 /* element */
    size_t rows;                  /* whole rows */
    size_t tail;                  /* elements in one more row that is not whole; 0: there is none */
    size_t blocks;                /* 64, or of a short tile fewer */
    size_t scales;                /* offset in the payload, bytes */
    size_t codes;                 /* offset in the payload, bytes */
    size_t tail_codes;            /* offset in the payload, bytes */
    size_t tail_bytes;            /* of the last row on the wire */
} quant_tile_t;

/* The tiles of a segment. */
typedef struct quant_tiles {
    const quant_codec_t *codec;
    unsigned shift;    /* a block has 2^shift numbers */
    size_t tile_elems; /* of every tile but the last */
    size_t count;
    size_t bytes; /* of the payload, no tile kept */
} quant_tiles_t;

quant_tiles_t quant_tiles_of(const quant_codec_t *codec);

/* As one that is coded. */
quant_tile_t quant_tile_at(const quant_tiles_t *tiles, size_t index);

/*
 * Where the codes of a tile are that may be kept, one tile after the other; *kept: offset of the
 * next kept tile, in front of tile 0 the bytes of the tiles.
 */
void quant_tile_find(quant_tile_t *tile, const uint8_t *payload, size_t *kept);

/* Bits of the largest magnitudes of each block. */
typedef struct quant_peaks {
    uint32_t here[QUANT_BLOCKS];  /* of the tile under way; once it is coded or kept 0 */
    uint32_t coded[QUANT_BLOCKS]; /* of all that are coded */
} quant_peaks_t;

/* Keep a tile, whose numbers are `x`.  False: there is no room, or no scale to tell it by. */
bool quant_tile_keep(const quant_tile_t *tile, const float *x, quant_peaks_t *peaks,
                     quant_coding_t *coding);

/*
 * The scales of a tile, 64 of them; those of blocks that it lacks are not specified.  Of a format
 * without scales nothing.
 */
void quant_tile_factors(const quant_tile_t *tile, const uint8_t *payload,
                        float factor[QUANT_BLOCKS]);

/* As many scales as it has blocks to its place in the payload. */
void quant_tile_put_scales(const quant_tile_t *tile, const uint8_t scale[QUANT_SCALES_BYTES],
                           uint8_t *payload);

/* The block of the first number of the row that is not whole. */
static inline size_t quant_tile_tail_block(const quant_tile_t *tile)
{
    return tile->rows * QUANT_LANES >> tile->shift;
}

static inline size_t quant_tile_length(const quant_tile_t *tile)
{
    return tile->rows * QUANT_LANES + tile->tail;
}

#endif
