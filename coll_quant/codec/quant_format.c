/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "quant_format.h"

#define X(_name, _id, _bits, _kind, _scaled, _divisor, _scale_min, _limit, _mantissa, _step, \
          _exact)                                                                            \
    const quant_format_t quant_format_##_name = {                                            \
        .name = #_name,                                                                      \
        .wire_id = _id,                                                                      \
        .bits = _bits,                                                                       \
        .code = QUANT_CODE_##_name,                                                          \
        .scaled = _scaled,                                                                   \
        .range = {.divisor = _divisor, .scale_min = _scale_min, .limit = _limit},            \
        .mantissa = _mantissa,                                                               \
        .step = _step,                                                                       \
        .exact = _exact,                                                                     \
    };
QUANT_FORMAT_TABLE(X)
#undef X

static const quant_format_t *const formats[] = {
#define X(_name, ...) &quant_format_##_name,
    QUANT_FORMAT_TABLE(X)
#undef X
        NULL,
};

const quant_format_t quant_format_fp64 = {
    .name = "fp64",
    .wire_id = 11,
    .bits = 64,
    .code = QUANT_CODE_fp32, /* no kernels: quant_doubles.c copies */
    .exact = true,
};

const quant_format_t *quant_format_at(size_t index)
{
    return index < sizeof(formats) / sizeof(formats[0]) ? formats[index] : NULL;
}

const quant_format_t *quant_format_by_id(uint8_t wire_id)
{
    for (size_t i = 0; NULL != formats[i]; ++i) {
        if (wire_id == formats[i]->wire_id) {
            return formats[i];
        }
    }
    return wire_id == quant_format_fp64.wire_id ? &quant_format_fp64 : NULL;
}

const quant_format_t *quant_format_above(unsigned bits)
{
    const quant_format_t *next = NULL;

    for (size_t i = 0; NULL != formats[i]; ++i) {
        if (formats[i]->scaled && formats[i]->bits > bits &&
            (NULL == next || formats[i]->bits < next->bits)) {
            next = formats[i];
        }
    }
    return next;
}
