/*
 * Wire format "QT3": one segment of the vector is one message.
 *
 *   byte  0       2         3        4          8          12         16
 *         | magic | version | format | sequence | elements | bound    | payload ...
 *
 * `bound`, a float: how far any of the numbers may be from the exact sum that it stands for.
 *
 * All fields are little-endian.  The payload is what quant_payload_encode()
 * writes (quant_format.h); its length follows from format, elements and scales, and a receiver
 * checks it.
 *
 * Tiles that the format cannot carry are kept as floats in the payload.  Where there is no room for
 * them the whole segment goes in fp32 instead, or in fp64 if the program adds doubles: a receiver
 * takes this in every message.  Where each message has a format of its own (quant_fit.h) a receiver
 * takes any format with scales.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_WIRE_H
#define QUANT_WIRE_H

#include <assert.h>

#include "quant_payload.h"
#include "status.h"

#define QUANT_WIRE_MAGIC UINT16_C(0x5451) /* 'Q' 'T' */
#define QUANT_WIRE_VERSION UINT8_C(3)

typedef struct quant_wire_header {
    uint16_t magic;
    uint8_t version;
    uint8_t format;    /* quant_format_t.wire_id */
    uint32_t sequence; /* number of the operation on its communicator */
    uint32_t elements; /* in this segment */
    float bound;       /* of the error; not negative, infinity: there is none */
} quant_wire_header_t;

static_assert(16 == sizeof(quant_wire_header_t), "QT3: header is 16 bytes");
static_assert(__ORDER_LITTLE_ENDIAN__ == __BYTE_ORDER__, "QT3 is written in host order");

/* What both ends of a message know before it exists, and the scratch memory that it takes. */
typedef struct quant_wire_segment {
    quant_codec_t codec;         /* with the format agreed on; `exact` is always allowed too */
    const quant_format_t *exact; /* fp64 for doubles; NULL: fp32 */
    bool any_scaled;             /* the sender may take any format with scales instead */
    uint32_t sequence;
    float
        *floats; /* scratch, as many as the segment has; NULL will do for numbers that are floats */
} quant_wire_segment_t;

/* Upper bound of the bytes of a message of `elems` elements, coded or not. */
size_t quant_wire_bytes_max(const quant_format_t *format, size_t elems, unsigned block_rows);

/* Numbers are floats in what follows: void, as quant_element.h has functions of several types. */

/*
 * Write the message for `in` to `message` (aligned to 4 bytes); returns its bytes.  `error`: how
 * far numbers of `in` may be from the exact ones.
 */
size_t quant_wire_pack(const quant_wire_segment_t *segment, const void *in, float error,
                       void *message);

/*
 * Is this a message of `segment`?  ARC_ERR_PROTOCOL if any field or the length is not what it has
 * to be.  The functions below take only messages that have passed.
 */
arc_status_t quant_wire_check(const quant_wire_segment_t *segment, const void *message,
                              size_t bytes) ARC_MUST_CHECK;

/*
 * Add `x` to the values of a message of the same numbers, in whatever format, and write the message
 * of `segment` with the sums to `message` (aligned to 4 bytes, another one than `received`);
 * returns its bytes.  `error`: of `x`.
 */
size_t quant_wire_hop(const quant_wire_segment_t *segment, const void *received, const void *x,
                      float error, void *message);

/* Add `x`, of error `error`, to the values of a message; the error of the sums. */
float quant_wire_add(const quant_wire_segment_t *segment, const void *received, const void *x,
                     float error, void *sum);

/* The values of a message. */
void quant_wire_unpack(const quant_wire_segment_t *segment, const void *message, void *out);

/* The header of a message in an exact format, whose payload is in place; returns its bytes. */
size_t quant_wire_seal_exact(const quant_wire_segment_t *segment, const quant_format_t *format,
                             float error, void *message);

/* The format that a message is in. */
const quant_format_t *quant_wire_format(const void *message);

/* The bound in a message. */
float quant_wire_bound(const void *message);

static inline const void *quant_wire_payload(const void *message)
{
    return (const uint8_t *) message + sizeof(quant_wire_header_t);
}

#endif
