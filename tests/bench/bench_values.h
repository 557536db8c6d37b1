/*
 * What the command lines of arc_allreduce and floor have in common: message sizes, how many calls
 * are made of each, and how often that is measured.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_BENCH_VALUES_H
#define ARC_BENCH_VALUES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "options.h"

typedef struct bench_run {
    size_t min_bytes;
    size_t max_bytes;
    int iterations; /* 0: by size */
    int warmup;     /* -1: by size */
    int windows;    /* measurements of each size */
    bool back_to_back;
    bool ping_pong;
    bool help;
} bench_run_t;

#define BENCH_RUN_DEFAULT                                                            \
    {                                                                                \
        .min_bytes = sizeof(float), .max_bytes = 1 << 20, .warmup = -1, .windows = 1 \
    }

/** Their rows in a table of options.h, and their part of a text that explains all. */
#define BENCH_RUN_ROWS(_run)                                           \
    OPTION_BY('m', "message-size", bench_parse_sizes, &(_run)),        \
        OPTION_FROM('i', "iterations", (_run).iterations, 1, INT_MAX), \
        OPTION_FROM('x', "warmup", (_run).warmup, 0, INT_MAX),         \
        OPTION_FROM(0, "windows", (_run).windows, 1, INT_MAX),         \
        OPTION_NAMED("back-to-back", (_run).back_to_back),             \
        OPTION_NAMED("ping-pong", (_run).ping_pong), OPTION_FROM('h', "help", (_run).help, 0, 0)
#define BENCH_RUN_USAGE                                                                       \
    "  -m, --message-size [MIN:]MAX  bytes; doubled from MIN on (default 4:1048576);\n"       \
    "                                k, M and G behind a number are powers of 1024\n"         \
    "  -i, --iterations N            default 1000 up to 8192 bytes, 100 above\n"              \
    "  -x, --warmup N                default 200 up to 8192 bytes, 10 above\n"                \
    "      --windows N               measure each size N times, a line each (default 1)\n"    \
    "      --ping-pong               add how many ns a cache line takes between the cores,\n" \
    "                                of ranks 0 and 1: the slower of before and after; -\n"   \
    "                                if there is one rank only, or several nodes\n"

/** What is wrong with a word behind the options. */
#define BENCH_NO_OPERANDS "an argument that is no option; --help lists these"

/**
 * MAX or MIN:MAX, whole numbers with an optional k, M or G behind them, for a row of options: of a
 * bench_run_t.  MAX alone leaves min_bytes as it is, and may not be less.
 */
const char *bench_parse_sizes(const char *text, void *run);

/** Timed calls of this size, and calls before them. */
int bench_iterations(const bench_run_t *run, size_t bytes);
int bench_warmup(const bench_run_t *run, size_t bytes);

#endif
