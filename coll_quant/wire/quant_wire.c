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
    return &quant_format_fp32 == exact_of(segment) ? segment->codec.elems * sizeof(float) : 0;
}

static size_t write_header(const quant_wire_segment_t *segment, const quant_format_t *format,
                           float bound, size_t payload_bytes, void *message)
{
    const quant_wire_header_t header = {
        .magic = QUANT_WIRE_MAGIC,
        .version = QUANT_WIRE_VERSION,
        .format = format->wire_id,
        .sequence = segment->sequence,
        .elements = (uint32_t) segment->codec.elems,
        .bound = bound,
    };
    memcpy(message, &header, sizeof(header));
    return sizeof(header) + payload_bytes;
}

size_t quant_wire_seal_exact(const quant_wire_segment_t *segment, const quant_format_t *format,
                             float error, void *message)
{
    const quant_codec_t *codec = &segment->codec;
    const size_t bytes = quant_payload_bytes(format, codec->elems, codec->block_rows);
    return write_header(segment, format, error, bytes, message);
}

/* Numbers of error `error` were coded. */
static size_t seal_coded(const quant_wire_segment_t *segment, float error,
                         const quant_coding_t *coding, void *message)
{
    const quant_format_t *format = segment->codec.format;
    const float bound = quant_bound_encoded(error, format, coding->peak);
    return write_header(segment, format, bound, coding->bytes, message);
}

static quant_coding_t coding_of(const quant_wire_segment_t *segment, void *message)
{
    return (quant_coding_t){
        .payload = (uint8_t *) message + sizeof(quant_wire_header_t),
        .room = room_of(segment),
    };
}

/* What a message is decoded with: it may be exact. */
static quant_codec_t codec_of(const quant_wire_segment_t *segment, const void *message)
{
    quant_codec_t codec = segment->codec;
    codec.format = quant_wire_format(message);
    return codec;
}

size_t quant_wire_pack(const quant_wire_segment_t *segment, const void *in, float error,
                       void *message)
{
    quant_coding_t coding = coding_of(segment, message);

    if (!quant_payload_encode(&segment->codec, in, &coding)) {
        memcpy(coding.payload, in, segment->codec.elems * sizeof(float));
        return quant_wire_seal_exact(segment, &quant_format_fp32, error, message);
    }
    return seal_coded(segment, error, &coding, message);
}

float quant_wire_add(const quant_wire_segment_t *segment, const void *received, const void *x,
                     float error, void *sum)
{
    const quant_codec_t codec = codec_of(segment, received);
    uint32_t peak = 0;

    quant_payload_decode_add(&codec, quant_wire_payload(received), x, sum, &peak);
    return quant_bound_added(quant_wire_bound(received), error, peak);
}

void quant_wire_unpack(const quant_wire_segment_t *segment, const void *message, void *out)
{
    const quant_codec_t codec = codec_of(segment, message);
    quant_payload_decode(&codec, quant_wire_payload(message), out);
}

size_t quant_wire_hop(const quant_wire_segment_t *segment, const void *received, const void *x,
                      float error, void *message)
{
    const quant_codec_t codec = codec_of(segment, received);
    quant_coding_t coding = coding_of(segment, message);

    /* The sums go straight into the payload where they are not coded. */
    if (segment->codec.format->exact ||
        !quant_payload_hop(&codec, &segment->codec, quant_wire_payload(received), x, &coding)) {
        error = quant_wire_add(segment, received, x, error, coding.payload);
        return quant_wire_seal_exact(segment, &quant_format_fp32, error, message);
    }
    error = quant_bound_added(quant_wire_bound(received), error, coding.sum_peak);
    return seal_coded(segment, error, &coding, message);
}

static quant_wire_header_t header_of(const void *message)
{
    quant_wire_header_t header;
    memcpy(&header, message, sizeof(header));
    return header;
}

const quant_format_t *quant_wire_format(const void *message)
{
    return quant_format_by_id(header_of(message).format);
}

float quant_wire_bound(const void *message)
{
    return header_of(message).bound;
}

/* Scales are looked at once it is sure that they are there. */
static bool has_length(const quant_wire_segment_t *segment, const void *message, size_t bytes)
{
    const quant_codec_t codec = codec_of(segment, message);
    const size_t coded = message_bytes(codec.format, codec.elems, codec.block_rows);

    if (bytes < coded ||
        (bytes > coded && bytes > sizeof(quant_wire_header_t) + room_of(segment))) {
        return false;
    }
    return bytes == sizeof(quant_wire_header_t) +
                        quant_payload_bytes_of(&codec, quant_wire_payload(message));
}

arc_status_t quant_wire_check(const quant_wire_segment_t *segment, const void *message,
                              size_t bytes)
{
    uint32_t bound = 0;

    if (bytes < sizeof(quant_wire_header_t)) {
        return ARC_ERR_PROTOCOL;
    }
    const quant_wire_header_t header = header_of(message);
    memcpy(&bound, &header.bound, sizeof(bound));
    if (QUANT_WIRE_MAGIC != header.magic || QUANT_WIRE_VERSION != header.version ||
        segment->sequence != header.sequence || segment->codec.elems != header.elements ||
        !quant_bound_is_valid(bound)) {
        return ARC_ERR_PROTOCOL;
    }
    const quant_format_t *found = quant_format_by_id(header.format);
    const bool allowed =
        NULL != found && (segment->codec.format == found || exact_of(segment) == found ||
                          (segment->any_scaled && found->scaled));
    return allowed && has_length(segment, message, bytes) ? ARC_OK : ARC_ERR_PROTOCOL;
}
