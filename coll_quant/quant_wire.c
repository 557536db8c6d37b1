/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <string.h>

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

static size_t seal(const quant_wire_segment_t *segment, const quant_format_t *format, void *message)
{
    const quant_wire_header_t header = {
        .magic = QUANT_WIRE_MAGIC,
        .version = QUANT_WIRE_VERSION,
        .format = format->wire_id,
        .sequence = segment->sequence,
        .elements = segment->elements,
    };
    memcpy(message, &header, sizeof(header));
    return message_bytes(format, segment->elements, segment->block_rows);
}

size_t quant_wire_pack(const quant_wire_segment_t *segment, const quant_kernels_t *kernels,
                       const float *in, void *message)
{
    const quant_format_t *format = segment->format;
    void *payload = (uint8_t *) message + sizeof(quant_wire_header_t);

    if (!quant_payload_encode(format, kernels, in, segment->elements, segment->block_rows,
                              payload)) {
        format = &quant_format_fp32;
        memcpy(payload, in, segment->elements * sizeof(float));
    }
    return seal(segment, format, message);
}

size_t quant_wire_hop(const quant_wire_segment_t *segment, const quant_kernels_t *kernels,
                      const quant_format_t *from, const void *received, const float *x, float *tile,
                      void *message)
{
    const quant_format_t *format = segment->format;
    const void *in = quant_wire_payload(received);
    void *payload = (uint8_t *) message + sizeof(quant_wire_header_t);

    if (quant_format_is_exact(format) ||
        !quant_payload_hop(from, format, kernels, in, x, segment->elements, segment->block_rows,
                           tile, payload)) {
        format = &quant_format_fp32;
        quant_payload_decode_add(from, kernels, in, x, segment->elements, segment->block_rows,
                                 payload);
    }
    return seal(segment, format, message);
}

arc_status_t quant_wire_check(const quant_wire_segment_t *segment, const void *message,
                              size_t bytes, const quant_format_t **format)
{
    quant_wire_header_t header;

    if (bytes < sizeof(header)) {
        return ARC_ERR_PROTOCOL;
    }
    memcpy(&header, message, sizeof(header));
    if (QUANT_WIRE_MAGIC != header.magic || QUANT_WIRE_VERSION != header.version ||
        segment->sequence != header.sequence || segment->elements != header.elements ||
        0 != header.reserved) {
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
