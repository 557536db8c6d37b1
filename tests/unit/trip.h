/*
 * What one instruction set makes of a vector: coded, decoded, decoded and added.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef TRIP_H
#define TRIP_H

#include "quant_format.h"
#include "testlib.h"

enum { TRIP_ISAS = 3 };
extern const arc_isa_t trip_isas[TRIP_ISAS];

typedef struct trip {
    bool codable;
    uint32_t peak;     /* of x, as encoding tells */
    uint32_t sum_peak; /* of the sum, as decoding and adding tells */
    test_buffer_t payload;
    test_buffer_t decoded; /* floats */
    test_buffer_t sum;     /* floats: decoded + x */
} trip_t;

/* Asserts that no byte outside of the buffers, which have odd alignments, is written. */
trip_t trip_new(const quant_format_t *format, arc_isa_t isa, const float *x, size_t count,
                unsigned block_rows);
void trip_free(trip_t *trip);

static inline const float *trip_decoded(const trip_t *trip)
{
    return (const float *) trip->decoded.data;
}

/* Magnitude of the k-th code of a format, the 0th is 0: integers and small floats alike. */
double trip_magnitude(const quant_format_t *format, unsigned k);

#endif
