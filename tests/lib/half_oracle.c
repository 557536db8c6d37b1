/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "half_oracle.h"

const half_format_t half_bf16 = {"bf16", 7, 127, 255};
const half_format_t half_fp16 = {"fp16", 10, 15, 31};

const half_format_t *half_by_name(const char *name)
{
    if (strcmp(name, half_bf16.name) == 0) {
        return &half_bf16;
    }
    return strcmp(name, half_fp16.name) == 0 ? &half_fp16 : NULL;
}

double half_number(const half_format_t *format, uint16_t bits)
{
    const int fraction = bits & ((1 << format->fraction_bits) - 1);
    const int exponent = bits >> format->fraction_bits & format->top_exponent;
    const double sign = bits >> 15 ? -1.0 : 1.0;

    if (exponent == format->top_exponent) {
        return fraction == 0 ? sign * INFINITY : NAN;
    }
    /* A subnormal has the exponent of the smallest normal number and no leading one. */
    const int significand = exponent == 0 ? fraction : fraction + (1 << format->fraction_bits);
    const int power = (exponent == 0 ? 1 : exponent) - format->bias - format->fraction_bits;
    return sign * ldexp(significand, power);
}

uint16_t half_round(const half_format_t *format, double x)
{
    const uint16_t sign = signbit(x) ? 0x8000 : 0;
    const uint16_t infinite = (uint16_t) (format->top_exponent << format->fraction_bits);
    int exponent;

    if (isinf(x)) {
        return sign | infinite;
    }
    (void) frexp(x, &exponent);
    /* frexp() gives [1/2, 1) times 2^exponent. */
    const int stored = x == 0 ? 0 : exponent - 1 + format->bias;
    const int used = stored < 1 ? 1 : stored;
    /* In units of the last place; rint() rounds to nearest, ties to even. */
    const double units = rint(ldexp(fabs(x), format->fraction_bits + format->bias - used));
    /* A carry out of the fraction raises the exponent. */
    const double bits = units + ldexp(used - 1, format->fraction_bits);
    return bits >= infinite ? sign | infinite : (uint16_t) (sign | (uint16_t) bits);
}
