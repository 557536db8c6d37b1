/*
 * Command line of floor.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_FLOOR_OPTIONS_H
#define ARC_FLOOR_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "floor_ways.h"

typedef struct floor_options {
    size_t min_bytes;
    size_t max_bytes;
    int iterations; /* 0: by size */
    int warmup;     /* -1: by size */
    int windows;
    unsigned core[FLOOR_SIDES];
    bool cores_told;
    bool ways;
    bool ping_pong;
    bool back_to_back; /* accepted: it always is */
    bool help;
} floor_options_t;

/** False when the command line is wrong, asks for help, or there are no two cores; then it has been
 * said. */
bool floor_options_parse(floor_options_t *options, int argc, char **argv);

#endif
