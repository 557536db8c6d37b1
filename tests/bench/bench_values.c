/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bench_values.h"

enum {
    SMALL_BYTES = 8192, /* as OSU: up to here many iterations, above few */
    SMALL_ITERATIONS = 1000,
    SMALL_WARMUP = 200,
    LARGE_ITERATIONS = 100,
    LARGE_WARMUP = 10,
};

/* A whole number with an optional k, M or G behind it; *end is behind that. */
static bool parse_bytes(const char *text, char **end, size_t *bytes)
{
    static const char suffixes[] = "kmg";
    unsigned shift = 0;

    if (!isdigit((unsigned char) *text)) {
        return false;
    }
    errno = 0;
    unsigned long long value = strtoull(text, end, 10);
    const char *suffix = **end == '\0' ? NULL : strchr(suffixes, tolower((unsigned char) **end));

    if (suffix != NULL) {
        shift = 10 * (unsigned) (suffix - suffixes + 1);
        (*end)++;
    }
    if (errno != 0 || value == 0 || value > (unsigned long long) INT_MAX >> shift) {
        return false;
    }
    *bytes = (size_t) value << shift;
    return true;
}

const char *bench_parse_sizes(const char *text, void *of)
{
    bench_run_t *run = of;
    size_t first_bytes = run->min_bytes;
    size_t last_bytes = 0;
    char *end = NULL;
    bool good = parse_bytes(text, &end, &last_bytes);

    if (good && *end == ':') {
        first_bytes = last_bytes;
        good = parse_bytes(end + 1, &end, &last_bytes);
    }
    if (!good || *end != '\0' || last_bytes < first_bytes) {
        return "MAX or MIN:MAX, from 1 to 2147483647, MIN <= MAX";
    }
    run->min_bytes = first_bytes;
    run->max_bytes = last_bytes;
    return NULL;
}

int bench_iterations(const bench_run_t *run, size_t bytes)
{
    return run->iterations != 0   ? run->iterations
           : bytes <= SMALL_BYTES ? SMALL_ITERATIONS
                                  : LARGE_ITERATIONS;
}

int bench_warmup(const bench_run_t *run, size_t bytes)
{
    return run->warmup >= 0 ? run->warmup : bytes <= SMALL_BYTES ? SMALL_WARMUP : LARGE_WARMUP;
}
