/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <string.h>

#include "quant_bound.h"
#include "quant_wire.h"

static size_t message_bytes(const quant_format_t *format, size_t elems, unsigned block_rows)
{
    return sizeof(quant_wire_header_t) + quant_payload_bytes(format, elems, block_rows);
}

size_t quant_wire_bytes_max(const quant_format_t *format, size_t elems, unsigned block_rows)
{
    size_t coded = message_bytes(format, elems, block_rows);
    size_t escaped = message_bytes(&quant_format_fp32, elems, block_rows);
    return coded > escaped ? coded : escaped;
}

static size_t seal(const quant_wire_segment_t *segment, const quant_format_t *format, float bound,
                   void *message)
{
    const quant_wire_header_t header = {
        .magic = QUANT_WIRE_MAGIC,
        .version = QUANT_WIRE_VERSION,
        .format = format->wire_id,
        .sequence = segment->sequence,
        .elements = segment->elements,
        .bound = bound,
    };
    memcpy(message, &header, sizeof(header));
    return message_bytes(format, segment->elements, segment->block_rows);
}

size_t quant_wire_pack(const quant_wire_segment_t *segment, const quant_kernels_t *kernels,
                       const float *in, float error, void *message)
{
    const quant_format_t *format = segment->format;
    void *payload = (uint8_t *) message + sizeof(quant_wire_header_t);
    uint32_t peak = 0;

    if (!quant_payload_encode(format, kernels, in, segment->elements, segment->block_rows, payload,
                              &peak)) {
        format = &quant_format_fp32;
        memcpy(payload, in, segment->elements * sizeof(float));
    }
    return seal(segment, format, quant_bound_encoded(error, format, peak), message);
}

float quant_wire_add(const quant_wire_segment_t *segment, const quant_kernels_t *kernels,
                     const quant_format_t *from, const void *received, const float *x, float error,
                     float *sum)
{
    uint32_t peak = 0;

    quant_payload_decode_add(from, kernels, quant_wire_payload(received), x, segment->elements,
                             segment->block_rows, sum, &peak);
    return quant_bound_added(quant_wire_bound(received), error, peak);
}

size_t quant_wire_hop(const quant_wire_segment_t *segment, const quant_kernels_t *kernels,
                      const quant_format_t *from, const void *received, const float *x, float error,
                      float *tile, void *message)
{
    const quant_format_t *format = segment->format;
    void *payload = (uint8_t *) message + sizeof(quant_wire_header_t);
    uint32_t peak = 0;

    if (quant_format_is_exact(format) ||
        !quant_payload_hop(from, format, kernels, quant_wire_payload(received), x,
                           segment->elements, segment->block_rows, tile, payload, &peak)) {
        error = quant_wire_add(segment, kernels, from, received, x, error, payload);
        return seal(segment, &quant_format_fp32, error, message);
    }
    error = quant_bound_added(quant_wire_bound(received), error, peak);
    return seal(segment, format, quant_bound_encoded(error, format, peak), message);
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
    if (QUANT_WIRE_MAGIC != header.magic || QUANT_WIRE_VERSION != header.version ||
        segment->sequence != header.sequence || segment->elements != header.elements ||
        !quant_bound_is_valid(bound)) {
        return ARC_ERR_PROTOCOL;
    }

    const quant_format_t *found = quant_format_by_id(header.format);
    if (NULL == found || (segment->format != found && &quant_format_fp32 != found) ||
        message_bytes(found, segment->elements, segment->block_rows) != bytes) {
        return ARC_ERR_PROTOCOL;
    }
    *format = found;
    return ARC_OK;
}
