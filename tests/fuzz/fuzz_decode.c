/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <string.h>

#include "fuzz.h"
#include "quant_bound.h"

/* As a message from the network: only one that passes the check is decoded. */
static void decode_message(const fuzz_input_t *input)
{
    const quant_wire_segment_t segment = {.codec = input->codec};
    uint8_t *message = fuzz_alloc_filled(input, input->rest_bytes);

    if (ARC_OK == quant_wire_check(&segment, message, input->rest_bytes)) {
        float *out = fuzz_alloc(input->codec.elems * sizeof(float));
        quant_wire_unpack(&segment, message, out);
        free(out);
    }
    free(message);
}

/* As many arbitrary bytes as its scales ask for. */
static uint8_t *received_message(const fuzz_input_t *input)
{
    const quant_codec_t *codec = &input->codec;
    const size_t least = sizeof(quant_wire_header_t) +
                         quant_payload_bytes(codec->format, codec->elems, codec->block_rows);
    uint8_t *received = fuzz_alloc_filled(input, least);
    const size_t bytes =
        sizeof(quant_wire_header_t) + quant_payload_bytes_of(codec, quant_wire_payload(received));

    free(received);
    return fuzz_alloc_filled(input, bytes);
}

/* As the payload of a message whose header was right. */
static void decode_payload(const fuzz_input_t *input)
{
    const size_t floats_bytes = input->codec.elems * sizeof(float);
    const quant_wire_segment_t segment = {.codec = input->codec};
    quant_wire_segment_t next = segment;
    uint8_t *received = received_message(input);
    float *x = fuzz_alloc_filled(input, floats_bytes);

    next.codec.format = input->next;
    uint8_t *sent =
        fuzz_alloc(quant_wire_bytes_max(input->next, next.codec.elems, next.codec.block_rows));
    received[offsetof(quant_wire_header_t, format)] = input->codec.format->wire_id;
    uint32_t bound = 0;
    memcpy(&bound, received + offsetof(quant_wire_header_t, bound), sizeof(bound));
    if (!quant_bound_is_valid(bound)) {
        memset(received + offsetof(quant_wire_header_t, bound), 0, sizeof(bound));
    }
    size_t bytes = quant_wire_hop(&next, received, x, 0, sent);
    FUZZ_REQUIRE(ARC_OK == quant_wire_check(&next, sent, bytes));
    const quant_format_t *found = quant_wire_format(sent);
    FUZZ_REQUIRE(found == input->next || found->exact);
    quant_wire_unpack(&segment, received, x);
    free(x);
    free(sent);
    free(received);
}

int fuzz_decode(const uint8_t *data, size_t bytes)
{
    fuzz_input_t input;

    if (fuzz_input_parse(data, bytes, &input)) {
        decode_message(&input);
        decode_payload(&input);
        free(input.codec.tile);
    }
    return 0;
}
