/*
 * Number formats on the wire: one row of a table each.
 *
 *   int8   a signed byte per element, one bf16 scale per lane of a tile
 *   fp32   the floats themselves: exact; also what a segment that int8 cannot
 *          carry (NaN, infinity, magnitudes from 2^127) is sent in
 *
 * A segment of the vector is cut into rows of 64 elements and tiles of
 * `block_rows` rows; the last row and the last tile may be short:
 *
 *            lane 0   lane 1  ...  lane 63
 *   row 0    x[0]     x[1]         x[63]
 *   row 1    x[64]    x[65]        x[127]
 *   ...
 *   scale    s[0]     s[1]         s[63]      one per lane, taken down the rows
 *
 * To add a format: its loops in quant_codec_<isa>.c, its tile walk in
 * quant_format_<name>.c (and in Makefile.am), and one row in QUANT_FORMAT_TABLE.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_FORMAT_H
#define QUANT_FORMAT_H

#include "quant_codec.h"

/* X(name): the only list of formats; the first one is the default. */
#define QUANT_FORMAT_TABLE(X) X(int8) X(fp32)

typedef struct quant_format {
    const char *name;
    uint8_t wire_id;   /* in the message header; never reused for something else */
    unsigned code_max; /* largest code, of which the error follows; 0: exact */

    /* Bytes of the coded form of `elems` elements. */
    size_t (*payload_bytes)(size_t elems, unsigned block_rows);

    /* False: this format cannot carry these values, and `payload` holds nothing usable. */
    bool (*encode)(const quant_kernels_t *kernels, const float *in, size_t elems,
                   unsigned block_rows, void *payload);

    void (*decode)(const quant_kernels_t *kernels, const void *payload, size_t elems,
                   unsigned block_rows, float *out);

    /* sum = decoded + x, rounded once per element.  `sum` may be `x`. */
    void (*decode_add)(const quant_kernels_t *kernels, const void *payload, const float *x,
                       size_t elems, unsigned block_rows, float *sum);
} quant_format_t;

/* `payload` is aligned to 4 bytes; only `elems` elements and payload_bytes() bytes are touched. */
#define X(_name) extern const quant_format_t quant_format_##_name;
QUANT_FORMAT_TABLE(X)
#undef X

/* NULL: there is no such format. */
const quant_format_t *quant_format_by_name(const char *name);
const quant_format_t *quant_format_by_id(uint8_t wire_id);

/* The i-th format, NULL after the last: for lists and tests. */
const quant_format_t *quant_format_at(size_t index);

#endif
