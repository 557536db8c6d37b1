/*
 * Fuzz targets: functions of arbitrary bytes that abort where a promise breaks.
 *
 * fuzz_main.c gives one of them to libFuzzer; fuzz_replay.c runs all on the
 * corpus and on random bytes, with any compiler.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quant_wire.h"

#define FUZZ_REQUIRE(_condition)                                                     \
    do {                                                                             \
        if (!(_condition)) {                                                         \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #_condition); \
            abort();                                                                 \
        }                                                                            \
    } while (0)

/* The first bytes of an input say what is done with the others. */
typedef struct fuzz_head {
    uint8_t format;     /* index, wraps around */
    uint8_t next;       /* index of the format of the next hop; the last round: all is longer */
    uint8_t isa;        /* wraps around */
    uint8_t block_rows; /* a power of two from 8 to 4096, wraps around */
    uint8_t elems[2];   /* at least 1 */
} fuzz_head_t;

typedef struct fuzz_input {
    quant_kernels_t kernels;
    quant_codec_t codec; /* with these */
    const quant_format_t *next;
    const uint8_t *rest;
    size_t rest_bytes;
} fuzz_input_t;

/* False: too short to say anything.  Otherwise input->codec.tile is to be freed. */
bool fuzz_input_parse(const uint8_t *data, size_t bytes, fuzz_input_t *input);

/* Exactly `bytes` bytes of memory, so that a sanitizer sees a byte too far; free() them. */
void *fuzz_alloc(size_t bytes);

/* The same, filled with what is left of the input, over and over again. */
void *fuzz_alloc_filled(const fuzz_input_t *input, size_t bytes);

/* Arbitrary bytes as a message and as a payload: no access outside of the buffers. */
int fuzz_decode(const uint8_t *data, size_t bytes);

/* Arbitrary floats: all instruction sets write the same bytes, errors keep the bound. */
int fuzz_roundtrip(const uint8_t *data, size_t bytes);

/* Arbitrary text as rules: what is read is right, and is read again. */
int fuzz_rules(const uint8_t *data, size_t bytes);

#endif
