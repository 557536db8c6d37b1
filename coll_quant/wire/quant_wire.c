/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <string.h>

#include "quant_bound.h"
#include "quant_wire.h"
#include "sizes.h"

static size_t message_bytes(const quant_format_t *format, size_t elems, unsigned block_rows)
{
    return sizeof(quant_wire_header_t) + quant_payload_bytes(format, elems, block_rows);
}

size_t quant_wire_bytes_max(const quant_format_t *format, size_t elems, unsigned block_rows)
{
    size_t coded = message_bytes(format, elems, block_rows);
    size_t floats = message_bytes(&quant_format_fp32, elems, block_rows);
    return coded > floats ? coded : floats;
}

static const quant_format_t *exact_of(const quant_wire_segment_t *segment)
{
    return NULL != segment->exact ? segment->exact : &quant_format_fp32;
}

/*
 * Of a payload with kept tiles, bytes at most: those of the floats of the whole segment.  Floats
 * that stand for doubles are not kept: they would not be the doubles.
 */
static size_t room_of(const quant_wire_segment_t *segment)
{
    return &quant_format_fp32 == exact_of(segment) ? segment->elements * sizeof(float) : 0;
}

static uint8_t version_of(const quant_wire_segment_t *segment)
{
    return (uint8_t) (QUANT_WIRE_VERSION |
                      segment->transform.rounding << QUANT_WIRE_ROUNDING_SHIFT |
                      segment->transform.rotation << QUANT_WIRE_ROTATION_SHIFT);
}

static size_t seal(const quant_wire_segment_t *segment, const quant_format_t *format, float bound,
                   size_t payload_bytes, void *message)
{
    const quant_wire_header_t header = {
        .magic = QUANT_WIRE_MAGIC,
        .version = version_of(segment),
        .format = format->wire_id,
        .sequence = segment->sequence,
        .elements = segment->elements,
        .bound = bound,
    };
    memcpy(message, &header, sizeof(header));
    return sizeof(header) + payload_bytes;
}

static size_t seal_exact(const quant_wire_segment_t *segment, const quant_format_t *format,
                         float error, void *message)
{
    const size_t bytes = quant_payload_bytes(format, segment->elements, segment->block_rows);
    return seal(segment, format, error, bytes, message);
}

size_t quant_wire_seal_doubles(const quant_wire_segment_t *segment, float error, void *message)
{
    return seal_exact(segment, &quant_format_fp64, error, message);
}

/* The rows of the largest tile of a segment. */
static unsigned rows_max(const quant_wire_segment_t *segment)
{
    return (unsigned) arc_min(arc_divide_up(segment->elements, QUANT_LANES), segment->block_rows);
}

/* Numbers of error `error` were coded. */
static size_t seal_coded(const quant_wire_segment_t *segment, float error,
                         const quant_coding_t *coding, void *message)
{
    const float bound = quant_bound_transformed(error, segment->format, &segment->transform,
                                                rows_max(segment), coding->peak);
    return seal(segment, segment->format, bound, coding->bytes, message);
}

static quant_coding_t coding_of(const quant_wire_segment_t *segment, void *message)
{
    return (quant_coding_t){
        .payload = (uint8_t *) message + sizeof(quant_wire_header_t),
        .room = room_of(segment),
    };
}

size_t quant_wire_pack(const quant_wire_segment_t *segment, const quant_kernels_t *kernels,
                       const float *in, float error, void *message)
{
    const quant_format_t *format = segment->format;
    quant_coding_t coding = coding_of(segment, message);

    const bool coded = quant_transform_applies(&segment->transform, format)
                           ? quant_transform_encode(&segment->transform, format, kernels, in,
                                                    segment->elements, segment->block_rows, &coding)
                           : quant_payload_encode(format, kernels, in, segment->elements,
                                                  segment->block_rows, &coding);
    if (!coded) {
        memcpy(coding.payload, in, segment->elements * sizeof(float));
        return seal_exact(segment, &quant_format_fp32, error, message);
    }
    return seal_coded(segment, error, &coding, message);
}

float quant_wire_add(const quant_wire_segment_t *segment, const quant_kernels_t *kernels,
                     const quant_format_t *from, const void *received, const float *x, float error,
                     float *sum)
{
    const void *payload = quant_wire_payload(received);
    uint32_t peak = 0;

    if (quant_transform_undone(&segment->transform, from)) {
        quant_transform_decode_add(&segment->transform, from, kernels, payload, x,
                                   segment->elements, segment->block_rows, sum, &peak);
    } else {
        quant_payload_decode_add(from, kernels, payload, x, segment->elements, segment->block_rows,
                                 sum, &peak);
    }
    return quant_bound_added(quant_wire_bound(received), error, peak);
}

void quant_wire_unpack(const quant_wire_segment_t *segment, const quant_kernels_t *kernels,
                       const quant_format_t *from, const void *message, float *out)
{
    const void *payload = quant_wire_payload(message);

    if (quant_transform_undone(&segment->transform, from)) {
        quant_transform_decode(&segment->transform, from, kernels, payload, segment->elements,
                               segment->block_rows, out);
    } else {
        quant_payload_decode(from, kernels, payload, segment->elements, segment->block_rows, out);
    }
}

/* The sums go straight into the payload.  False: they cannot be coded. */
static bool hop(const quant_wire_segment_t *received_segment, const quant_wire_segment_t *segment,
                const quant_kernels_t *kernels, const quant_format_t *from, const void *received,
                const float *x, quant_coding_t *coding)
{
    if (quant_transform_applies(&segment->transform, segment->format) ||
        quant_transform_undone(&segment->transform, from)) {
        return quant_transform_hop(&received_segment->transform, from, &segment->transform,
                                   segment->format, kernels, quant_wire_payload(received), x,
                                   segment->elements, segment->block_rows, coding);
    }
    return quant_payload_hop(from, segment->format, kernels, quant_wire_payload(received), x,
                             segment->elements, segment->block_rows, segment->transform.tile,
                             coding);
}

size_t quant_wire_hop(const quant_wire_segment_t *segment, const quant_kernels_t *kernels,
                      const quant_format_t *from, const void *received, const float *x, float error,
                      float *tile, void *message)
{
    quant_coding_t coding = coding_of(segment, message);
    quant_wire_segment_t sent = *segment;
    quant_wire_segment_t taken = quant_wire_received(segment);

    sent.transform.tile = tile;
    taken.transform.tile = tile;
    if (quant_format_is_exact(segment->format) ||
        !hop(&taken, &sent, kernels, from, received, x, &coding)) {
        error = quant_wire_add(&taken, kernels, from, received, x, error, coding.payload);
        return seal_exact(segment, &quant_format_fp32, error, message);
    }
    error = quant_bound_added(quant_wire_bound(received), error, coding.sum_peak);
    return seal_coded(segment, error, &coding, message);
}

const quant_format_t *quant_wire_format(const void *message)
{
    quant_wire_header_t header;

    memcpy(&header, message, sizeof(header));
    return quant_format_by_id(header.format);
}

float quant_wire_bound(const void *message)
{
    quant_wire_header_t header;

    memcpy(&header, message, sizeof(header));
    return header.bound;
}

/* Scales are looked at once it is sure that they are there. */
static bool has_length(const quant_wire_segment_t *segment, const quant_format_t *format,
                       const void *message, size_t bytes)
{
    const size_t elems = segment->elements;
    const unsigned rows = segment->block_rows;
    const size_t coded = message_bytes(format, elems, rows);

    if (bytes < coded ||
        (bytes > coded && bytes > sizeof(quant_wire_header_t) + room_of(segment))) {
        return false;
    }
    return bytes == sizeof(quant_wire_header_t) +
                        quant_payload_bytes_of(format, quant_wire_payload(message), elems, rows);
}

arc_status_t quant_wire_check(const quant_wire_segment_t *segment, const void *message,
                              size_t bytes, const quant_format_t **format)
{
    quant_wire_header_t header;
    uint32_t bound = 0;

    if (bytes < sizeof(header)) {
        return ARC_ERR_PROTOCOL;
    }
    memcpy(&header, message, sizeof(header));
    memcpy(&bound, &header.bound, sizeof(bound));
    if (QUANT_WIRE_MAGIC != header.magic || version_of(segment) != header.version ||
        segment->sequence != header.sequence || segment->elements != header.elements ||
        !quant_bound_is_valid(bound)) {
        return ARC_ERR_PROTOCOL;
    }

    const quant_format_t *found = quant_format_by_id(header.format);
    if (NULL == found || (segment->format != found && exact_of(segment) != found) ||
        !has_length(segment, found, message, bytes)) {
        return ARC_ERR_PROTOCOL;
    }
    *format = found;
    return ARC_OK;
}
