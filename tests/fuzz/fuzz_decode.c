/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <string.h>

#include "fuzz.h"
#include "quant_bound.h"

/* As a message from the network: only one that passes the check is decoded. */
static void decode_message(const fuzz_input_t *input)
{
    quant_wire_segment_t segment = {
        .format = input->format,
        .block_rows = input->block_rows,
        .elements = (uint32_t) input->elems,
        .transform = input->transform,
    };
    const quant_format_t *found = NULL;
    uint8_t *message = fuzz_alloc_filled(input, input->rest_bytes);

    if (ARC_OK == quant_wire_check(&segment, message, input->rest_bytes, &found)) {
        float *out = fuzz_alloc(input->elems * sizeof(float));
        segment.transform.tile = fuzz_alloc(quant_tile_elems(input->block_rows) * sizeof(float));
        quant_wire_unpack(&segment, &input->kernels, found, message, out);
        free(segment.transform.tile);
        free(out);
    }
    free(message);
}

/* As many arbitrary bytes as its scales ask for. */
static uint8_t *received_message(const fuzz_input_t *input)
{
    const size_t least = sizeof(quant_wire_header_t) +
                         quant_payload_bytes(input->format, input->elems, input->block_rows);
    uint8_t *received = fuzz_alloc_filled(input, least);
    const size_t bytes = sizeof(quant_wire_header_t) +
                         quant_payload_bytes_of(input->format, quant_wire_payload(received),
                                                input->elems, input->block_rows);

    free(received);
    return fuzz_alloc_filled(input, bytes);
}

/* As the payload of a message whose header was right. */
static void decode_payload(const fuzz_input_t *input)
{
    const size_t floats_bytes = input->elems * sizeof(float);
    quant_wire_segment_t next = {
        .format = input->next,
        .block_rows = input->block_rows,
        .elements = (uint32_t) input->elems,
        .transform = input->transform,
        .received_key = input->transform.key + 1,
    };
    const quant_format_t *found = NULL;
    uint8_t *received = received_message(input);
    uint8_t *sent = fuzz_alloc(quant_wire_bytes_max(input->next, input->elems, input->block_rows));
    float *x = fuzz_alloc_filled(input, floats_bytes);
    float *tile = fuzz_alloc(quant_tile_elems(input->block_rows) * sizeof(float));

    uint32_t bound = 0;
    memcpy(&bound, received + offsetof(quant_wire_header_t, bound), sizeof(bound));
    if (!quant_bound_is_valid(bound)) {
        memset(received + offsetof(quant_wire_header_t, bound), 0, sizeof(bound));
    }
    size_t bytes =
        quant_wire_hop(&next, &input->kernels, input->format, received, x, 0, tile, sent);
    FUZZ_REQUIRE(ARC_OK == quant_wire_check(&next, sent, bytes, &found));
    FUZZ_REQUIRE(found == input->next || quant_format_is_exact(found));
    next.transform.tile = tile;
    quant_wire_unpack(&next, &input->kernels, input->format, received, x);
    free(tile);
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
    }
    return 0;
}
