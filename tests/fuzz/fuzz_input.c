/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "fuzz.h"

enum { ELEMS_MAX = 20000, ISAS = 3, LONGER = 16, BLOCKS = 10 /* 8 .. 4096 */ };

bool fuzz_input_parse(const uint8_t *data, size_t bytes, fuzz_input_t *input)
{
    fuzz_head_t head;

    if (bytes < sizeof(head)) {
        return false;
    }
    memcpy(&head, data, sizeof(head));
    const unsigned times = UINT8_MAX / QUANT_CODES == head.next / QUANT_CODES ? LONGER : 1;
    *input = (fuzz_input_t){
        .kernels = quant_kernels_select(arc_cpu_isa((arc_isa_t) (head.isa % ISAS))),
        .codec =
            {
                .kernels = &input->kernels,
                .format = quant_format_at(head.format % QUANT_CODES),
                .block_rows = 8U << head.block_rows % BLOCKS,
                .elems = (1 + (size_t) (head.elems[0] | head.elems[1] << 8) % ELEMS_MAX) * times,
            },
        .next = quant_format_at(head.next % QUANT_CODES),
        .rest = data + sizeof(head),
        .rest_bytes = bytes - sizeof(head),
    };
    input->codec.tile = fuzz_alloc(quant_tile_elems(input->codec.block_rows) * sizeof(float));
    return true;
}

void *fuzz_alloc(size_t bytes)
{
    void *memory = malloc(0 == bytes ? 1 : bytes);
    FUZZ_REQUIRE(NULL != memory);
    return memory;
}

void *fuzz_alloc_filled(const fuzz_input_t *input, size_t bytes)
{
    uint8_t *memory = fuzz_alloc(bytes);

    for (size_t i = 0; i < bytes; ++i) {
        memory[i] = 0 == input->rest_bytes ? 0 : input->rest[i % input->rest_bytes];
    }
    return memory;
}
