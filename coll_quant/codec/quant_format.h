/*
 * Number formats on the wire, and the coded form of a segment of the vector.
 *
 *   int8, int4, ...     a signed integer per element and a bf16 scale for every block of elements
 *   fp8_e4m3, fp8_e5m2  a float of eight bits per element, scaled alike
 *   bf16, fp16          rounded to two bytes, no scales
 *   fp32                the floats themselves: exact; also what a segment is sent in of which its
 *                       format cannot carry too much (NaN, infinity, magnitudes from 2^95)
 *
 * A segment is cut into blocks of B consecutive elements, a power of two from 8 on, 64 by default,
 * with a scale each; into rows of 64 elements, of which codes are packed together; and into tiles
 * of 64 blocks, which are `block_rows` = B rows.  The last of each may be short:
 *
 *   element  0 ..... 63 | 64 ..... 127 | ... | 4032 ... 4095 | 4096 ...
 *   B = 64   s[0]       | s[1]         | ... | s[63]         | s[64]       a scale for each block
 *            row 0      | row 1        | ... | row 63        | row 64
 *            tile 0                                          | tile 1
 *
 *   payload  | s[0] | s[1] | ... | row 0 | row 1 | ... | kept tiles |
 *              2 bytes, or none    64 codes each         floats, or none
 *
 * Only whole rows are on the wire, but for fp32 and kept tiles: what is behind the end of the
 * vector is coded as zeros.
 *
 * A tile that a format with scales cannot carry is kept: its scales are all QUANT_KEPT, which no
 * scale is, its codes are 0, and its floats are behind the codes of the last tile, in the order of
 * the tiles.
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

/* Doubles themselves: what exact means where the program adds doubles (quant_element.h).  Nobody
 * names it. */
extern const quant_format_t quant_format_fp64;

/* NULL: there is no such format. */
const quant_format_t *quant_format_by_id(uint8_t wire_id);

/* The i-th format, NULL after the last: for lists and tests. */
const quant_format_t *quant_format_at(size_t index);

/* The first one with scales that has the fewest bits above so many; NULL: there is none. */
const quant_format_t *quant_format_above(unsigned bits);

#define QUANT_KEPT UINT16_C(0xffff)

#endif
