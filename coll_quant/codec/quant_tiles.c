/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <string.h>

#include "quant_tiles.h"
#include "sizes.h"

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
    return quant_format_is_exact(format)
               ? elems * format->bits / 8
               : arc_divide_up(elems, QUANT_LANES) * quant_row_bytes(format->bits);
}

quant_tiles_t quant_tiles_of(const quant_codec_t *codec)
{
    const size_t tile_elems = quant_tile_elems(codec->block_rows);

    return (quant_tiles_t){
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

quant_tile_t quant_tile_at(const quant_tiles_t *tiles, size_t index)
{
    const quant_format_t *format = tiles->codec->format;
    const size_t first = index * tiles->tile_elems;
    const size_t left = tiles->codec->elems - first;
    const size_t here = arc_min(left, tiles->tile_elems);
    const size_t blocks = blocks_of(tiles->codec->elems, tiles->shift);
    const size_t codes = scales_bytes(format, blocks) + codes_bytes(format, first);
    const size_t rows = here / QUANT_LANES;

    return (quant_tile_t){
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

void quant_tile_find(quant_tile_t *tile, const uint8_t *payload, size_t *kept)
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
        *kept += quant_tile_length(tile) * sizeof(float);
    }
}

void quant_tile_factors(const quant_tile_t *tile, const uint8_t *payload,
                        float factor[QUANT_BLOCKS])
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

void quant_tile_put_scales(const quant_tile_t *tile, const uint8_t scale[QUANT_SCALES_BYTES],
                           uint8_t *payload)
{
    memcpy(payload + tile->scales, scale, scales_bytes(tile->format, tile->blocks));
}

size_t quant_payload_bytes_of(const quant_codec_t *codec, const void *payload)
{
    const quant_tiles_t tiles = quant_tiles_of(codec);
    size_t bytes = tiles.bytes;

    for (size_t i = 0; i < tiles.count && codec->format->scaled; ++i) {
        quant_tile_t tile = quant_tile_at(&tiles, i);
        quant_tile_find(&tile, payload, &bytes);
    }
    return bytes;
}

bool quant_tile_keep(const quant_tile_t *tile, const float *x, quant_peaks_t *peaks,
                     quant_coding_t *coding)
{
    const size_t bytes = quant_tile_length(tile) * sizeof(float);
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
