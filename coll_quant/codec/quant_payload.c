/*
 * The walks over the tiles of a segment: the same for all formats.
 *
 * The kernels know whole rows only.  The last row, if it is short, goes through
 * rows of our own, so that nothing behind the caller's last element is touched.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <string.h>

#include "quant_payload.h"
#include "sizes.h"

/* ---- tiles ---- */

/* Where one tile is in the vector and in the payload, and how much there is of it. */
typedef struct tile {
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
} tile_t;

/* The tiles of a segment. */
typedef struct tiles {
    const quant_codec_t *codec;
    unsigned shift;    /* a block has 2^shift numbers */
    size_t tile_elems; /* of every tile but the last */
    size_t count;
    size_t bytes; /* of the payload, no tile kept */
} tiles_t;

/* Bits of the largest magnitudes of each block. */
typedef struct peaks {
    uint32_t here[QUANT_BLOCKS];  /* of the tile under way; once it is coded or kept 0 */
    uint32_t coded[QUANT_BLOCKS]; /* of all that are coded */
} peaks_t;

/* The block of the first number of the row that is not whole. */
static size_t tail_block(const tile_t *tile)
{
    return tile->rows * QUANT_LANES >> tile->shift;
}

static size_t length_of(const tile_t *tile)
{
    return tile->rows * QUANT_LANES + tile->tail;
}

static size_t scales_bytes(const quant_format_t *format, size_t blocks)
{
    return format->scaled ? blocks * sizeof(uint16_t) : 0;
}

/* Without the division that the compiler would make of a size that it does not know. */
static size_t blocks_of(size_t elems, unsigned shift)
{
    return (elems + ((size_t) 1 << shift) - 1) >> shift;
}

/* An exact format pads nothing: its payload is the elements. */
static size_t codes_bytes(const quant_format_t *format, size_t elems)
{
    return format->exact ? elems * format->bits / 8
                         : arc_divide_up(elems, QUANT_LANES) * quant_row_bytes(format->bits);
}

static tiles_t tiles_of(const quant_codec_t *codec)
{
    const size_t tile_elems = quant_tile_elems(codec->block_rows);

    return (tiles_t){
        .codec = codec,
        .shift = (unsigned) __builtin_ctz(codec->block_rows),
        .tile_elems = tile_elems,
        .count = arc_divide_up(codec->elems, tile_elems),
        .bytes = quant_payload_bytes(codec->format, codec->elems, codec->block_rows),
    };
}

size_t quant_payload_bytes(const quant_format_t *format, size_t elems, unsigned block_rows)
{
    return scales_bytes(format, arc_divide_up(elems, block_rows)) + codes_bytes(format, elems);
}

/* As one that is coded. */
static tile_t tile_at(const tiles_t *tiles, size_t index)
{
    const quant_format_t *format = tiles->codec->format;
    const size_t first = index * tiles->tile_elems;
    const size_t left = tiles->codec->elems - first;
    const size_t here = arc_min(left, tiles->tile_elems);
    const size_t blocks = blocks_of(tiles->codec->elems, tiles->shift);
    const size_t codes = scales_bytes(format, blocks) + codes_bytes(format, first);
    const size_t rows = here / QUANT_LANES;

    return (tile_t){
        .codec = tiles->codec,
        .format = format,
        .shift = tiles->shift,
        .first = first,
        .rows = rows,
        .tail = here % QUANT_LANES,
        .blocks = blocks_of(here, tiles->shift),
        .scales = index * scales_bytes(format, QUANT_BLOCKS),
        .codes = codes,
        .tail_codes = codes + rows * quant_row_bytes(format->bits),
        .tail_bytes = codes_bytes(format, here % QUANT_LANES),
    };
}

/*
 * Where the codes of a tile are that may be kept, one tile after the other; *kept: offset of the
 * next kept tile, in front of tile 0 the bytes of the tiles.
 */
static void find_codes(tile_t *tile, const uint8_t *payload, size_t *kept)
{
    uint16_t scale = 0;

    if (tile->format->scaled) {
        memcpy(&scale, payload + tile->scales, sizeof(scale));
    }
    if (QUANT_KEPT == scale) {
        tile->format = &quant_format_fp32;
        tile->codes = *kept;
        tile->tail_codes = *kept + tile->rows * quant_row_bytes(quant_format_fp32.bits);
        tile->tail_bytes = tile->tail * sizeof(float);
        *kept += length_of(tile) * sizeof(float);
    }
}

/*
 * The scales of a tile, 64 of them; those of blocks that it lacks are not specified.  Of a format
 * without scales nothing.
 */
static void get_factors(const tile_t *tile, const uint8_t *payload, float factor[QUANT_BLOCKS])
{
    const uint8_t *scale = payload + tile->scales;
    uint8_t padded[QUANT_SCALES_BYTES];

    if (!tile->format->scaled) {
        return;
    }
    if (tile->blocks < QUANT_BLOCKS) {
        memset(padded, 0, sizeof(padded));
        memcpy(padded, scale, scales_bytes(tile->format, tile->blocks));
        scale = padded;
    }
    /* As a row of codes of that format. */
    tile->codec->kernels->code[QUANT_CODE_bf16].decode(scale, 1, QUANT_SHIFT_ALL, NULL, factor);
}

size_t quant_payload_bytes_of(const quant_codec_t *codec, const void *payload)
{
    const tiles_t tiles = tiles_of(codec);
    size_t bytes = tiles.bytes;

    for (size_t i = 0; i < tiles.count && codec->format->scaled; ++i) {
        tile_t tile = tile_at(&tiles, i);
        find_codes(&tile, payload, &bytes);
    }
    return bytes;
}

/* Keep a tile, whose numbers are `x`.  False: there is no room, or no scale to tell it by. */
static bool keep_tile(const tile_t *tile, const float *x, peaks_t *peaks, quant_coding_t *coding)
{
    const size_t bytes = length_of(tile) * sizeof(float);
    uint8_t *payload = coding->payload;

    if (!tile->format->scaled || coding->bytes + bytes > coding->room) {
        return false;
    }
    memset(payload + tile->scales, (uint8_t) QUANT_KEPT, scales_bytes(tile->format, tile->blocks));
    memset(payload + tile->codes, 0, tile->tail_codes - tile->codes + tile->tail_bytes);
    memcpy(payload + coding->bytes, x, bytes);
    coding->bytes += bytes;
    memset(peaks->here, 0, sizeof(peaks->here));
    return true;
}

/* ---- walks over all of them ---- */

static const quant_code_kernels_t *kernels_of(const tile_t *tile)
{
    return &tile->codec->kernels->code[tile->format->code];
}

/* *peak = max(*peak, all of absmax), which are magnitudes of one row of floats, too. */
static void raise_peak(const quant_codec_t *codec, uint32_t *peak,
                       const uint32_t absmax[QUANT_BLOCKS])
{
    uint32_t most[QUANT_BLOCKS]; /* the first one: the row is one block */

    most[0] = *peak;
    codec->kernels->absmax((const float *) absmax, 1, QUANT_SHIFT_ALL, most);
    *peak = most[0];
}

/* Where the tile behind `tile` begins; at the end, where this one does: it is in the cache. */
static const float *next_tile(const tile_t *tile, const float *x)
{
    const size_t next = tile->first + length_of(tile);
    return x + (next < tile->codec->elems ? next : tile->first);
}

/* The magnitudes of its last row, which begins with block 0 of `tail`, in those of the tile. */
static void raise_tail(const tile_t *tile, const uint32_t tail[QUANT_BLOCKS],
                       uint32_t absmax[QUANT_BLOCKS])
{
    const size_t first = tail_block(tile);

    for (size_t b = first; b < tile->blocks; ++b) {
        absmax[b] = tail[b - first] > absmax[b] ? tail[b - first] : absmax[b];
    }
}

/*
 * Scales and codes of the numbers `x` of a tile, `last` its padded tail, whose peaks are known.
 * False: its format cannot carry it.
 */
static bool code_tile(const tile_t *tile, const float *x, const float *last, const float *ahead,
                      peaks_t *peaks, uint8_t *payload)
{
    const quant_format_t *format = tile->format;
    const quant_code_kernels_t *code = kernels_of(tile);
    uint8_t scale[QUANT_SCALES_BYTES];
    float inverse[QUANT_BLOCKS];

    if (!tile->codec->kernels->scales(peaks->here, &format->range, scale, inverse, peaks->coded)) {
        return false;
    }
    memcpy(payload + tile->scales, scale, scales_bytes(format, tile->blocks));
    code->encode(x, tile->rows, tile->shift, inverse, payload + tile->codes, ahead);
    if (0 != tile->tail) {
        uint8_t row[QUANT_ROW_BYTES_MAX];
        code->encode(last, 1, tile->shift, inverse + tail_block(tile), row, last);
        memcpy(payload + tile->tail_codes, row, tile->tail_bytes);
    }
    return true;
}

static bool encode_tile(const tile_t *tile, const float *x, const float *ahead, peaks_t *peaks,
                        quant_coding_t *coding)
{
    const quant_kernels_t *kernels = tile->codec->kernels;
    float padded[QUANT_LANES];

    kernels->absmax(x, tile->rows, tile->shift, peaks->here);
    if (0 != tile->tail) {
        memset(padded, 0, sizeof(padded));
        memcpy(padded, x + tile->rows * QUANT_LANES, tile->tail * sizeof(float));
        uint32_t absmax[QUANT_BLOCKS] = {0};
        kernels->absmax(padded, 1, tile->shift, absmax);
        raise_tail(tile, absmax, peaks->here);
    }
    return code_tile(tile, x, padded, ahead, peaks, coding->payload);
}

bool quant_payload_encode(const quant_codec_t *codec, const float *in, quant_coding_t *coding)
{
    const tiles_t tiles = tiles_of(codec);
    peaks_t peaks = {0};

    coding->bytes = tiles.bytes;
    coding->peak = 0;
    if (codec->format->exact) {
        memcpy(coding->payload, in, codec->elems * sizeof(float));
        return true;
    }
    for (size_t i = 0; i < tiles.count; ++i) {
        const tile_t tile = tile_at(&tiles, i);
        const float *x = in + tile.first;
        if (!encode_tile(&tile, x, next_tile(&tile, in), &peaks, coding) &&
            !keep_tile(&tile, x, &peaks, coding)) {
            return false;
        }
    }
    raise_peak(codec, &coding->peak, peaks.coded);
    return true;
}

/*
 * sum = decoded + the tile's part of x for its whole rows, and `last`, 64 floats, the padded sum of
 * its tail, if it has one; absmax: theirs.  x NULL: nothing is added, and absmax not touched.
 */
static void add_tile(const tile_t *tile, const uint8_t *payload, const float *x, float *sum,
                     float *last, uint32_t absmax[QUANT_BLOCKS])
{
    const quant_code_kernels_t *code = kernels_of(tile);
    float factor[QUANT_BLOCKS];

    get_factors(tile, payload, factor);
    if (NULL == x) {
        code->decode(payload + tile->codes, tile->rows, tile->shift, factor, sum);
    } else {
        code->decode_add(payload + tile->codes, tile->rows, tile->shift, factor, x + tile->first,
                         sum, absmax);
    }
    if (0 != tile->tail) {
        uint8_t row[QUANT_ROW_BYTES_MAX] = {0};
        memcpy(row, payload + tile->tail_codes, tile->tail_bytes);
        if (NULL == x) {
            code->decode(row, 1, tile->shift, factor + tail_block(tile), last);
            return;
        }
        float padded[QUANT_LANES] = {0};
        uint32_t tail[QUANT_BLOCKS] = {0};
        memcpy(padded, x + tile->first + tile->rows * QUANT_LANES, tile->tail * sizeof(float));
        code->decode_add(row, 1, tile->shift, factor + tail_block(tile), padded, last, tail);
        raise_tail(tile, tail, absmax);
    }
}

void quant_payload_decode_add(const quant_codec_t *codec, const void *payload, const float *x,
                              float *sum, uint32_t *peak)
{
    const tiles_t tiles = tiles_of(codec);
    size_t kept = tiles.bytes;
    uint32_t most[QUANT_BLOCKS] = {0};

    for (size_t i = 0; i < tiles.count; ++i) {
        tile_t tile = tile_at(&tiles, i);
        float *to = sum + tile.first;
        float last[QUANT_LANES];

        find_codes(&tile, payload, &kept);
        add_tile(&tile, payload, x, to, last, most);
        memcpy(to + tile.rows * QUANT_LANES, last, tile.tail * sizeof(float));
    }
    raise_peak(codec, peak, most);
}

void quant_payload_decode(const quant_codec_t *codec, const void *payload, float *out)
{
    uint32_t none = 0;

    if (codec->format->exact) {
        memcpy(out, payload, codec->elems * sizeof(float));
        return;
    }
    quant_payload_decode_add(codec, payload, NULL, out, &none);
}

bool quant_payload_hop(const quant_codec_t *from, const quant_codec_t *codec, const void *payload,
                       const float *x, quant_coding_t *coding)
{
    const tiles_t received = tiles_of(from);
    const tiles_t tiles = tiles_of(codec);
    size_t kept = received.bytes;
    peaks_t peaks = {0};
    float *sum = codec->tile;

    coding->bytes = tiles.bytes;
    coding->peak = 0;
    coding->sum_peak = 0;
    for (size_t i = 0; i < tiles.count; ++i) {
        tile_t in = tile_at(&received, i);
        const tile_t tile = tile_at(&tiles, i);
        float *last = sum + tile.rows * QUANT_LANES;

        find_codes(&in, payload, &kept);
        add_tile(&in, payload, x, sum, last, peaks.here);
        /* Nothing ahead: to fetch numbers that are only added later costs a hop a tenth. */
        if (code_tile(&tile, sum, last, sum, &peaks, coding->payload)) {
            continue;
        }
        raise_peak(codec, &coding->sum_peak, peaks.here);
        if (!keep_tile(&tile, sum, &peaks, coding)) {
            return false;
        }
    }
    raise_peak(codec, &coding->peak, peaks.coded);
    if (coding->peak > coding->sum_peak) {
        coding->sum_peak = coding->peak;
    }
    return true;
}
