/*
 * Every rounding and rotation that changes something, alone and together.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef TRANSFORM_OPTIONS_H
#define TRANSFORM_OPTIONS_H

#include "quant_transform.h"

static const struct option {
    const char *name;
    quant_rounding_t rounding;
    quant_rotation_t rotation;
} options[] = {
    {"stochastic", QUANT_ROUNDING_STOCHASTIC, QUANT_ROTATION_NONE},
    {"dither", QUANT_ROUNDING_DITHER, QUANT_ROTATION_NONE},
    {"hadamard", QUANT_ROUNDING_NEAREST, QUANT_ROTATION_HADAMARD},
    {"stochastic_hadamard", QUANT_ROUNDING_STOCHASTIC, QUANT_ROTATION_HADAMARD},
    {"dither_hadamard", QUANT_ROUNDING_DITHER, QUANT_ROTATION_HADAMARD},
};

enum { OPTIONS = sizeof(options) / sizeof(options[0]) };

#endif
