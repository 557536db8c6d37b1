/*
 * 16-bit floats as a test sees them: real numbers, and the nearest 16-bit float
 * of one by arithmetic on doubles. Nothing of the code under test.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_TESTS_HALF_ORACLE_H
#define ARC_TESTS_HALF_ORACLE_H

#include <stdint.h>

typedef struct half_format {
    const char *name;
    int fraction_bits;
    int bias;
    int top_exponent; /* as stored; it means infinity and NaN */
} half_format_t;

extern const half_format_t half_bf16;
extern const half_format_t half_fp16;

/** bf16 or fp16; NULL if it is neither. */
const half_format_t *half_by_name(const char *name);

/** The number that these bits are. */
double half_number(const half_format_t *format, uint16_t bits);

/** The nearest 16-bit float, ties to even; infinite if too large. Not of a NaN. */
uint16_t half_round(const half_format_t *format, double x);

#endif
