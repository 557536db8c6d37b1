/*
 * How long a rank needs for what follows from the number of ranks alone, and what it keeps of it:
 * a line for each part and number of ranks, with the fastest of several times.
 *
 *   scale [RANKS ...]    default: 1024 4096 16384 65536 131072
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "scale_parts.h"
#include "wait.h"

enum { TURNS = 7 };

static void measure(const scale_part_t *part, unsigned ranks)
{
    int64_t least_ns = INT64_MAX;
    size_t bytes = 0;

    for (unsigned turn = 0; turn < TURNS; ++turn) {
        const int64_t start_ns = arc_now_ns();
        bytes = part->run(ranks, NULL);
        const int64_t took_ns = arc_now_ns() - start_ns;
        least_ns = took_ns < least_ns ? took_ns : least_ns;
    }
    printf("%-28s %8u %12.1f %12zu\n", part->name, ranks, (double) least_ns / 1000, bytes);
}

int main(int argc, char **argv)
{
    static const unsigned defaults[] = {1024, 4096, 16384, 65536, 131072};
    const unsigned count = argc > 1 ? (unsigned) argc - 1 : sizeof defaults / sizeof defaults[0];

    printf("%-28s %8s %12s %12s\n", "part", "ranks", "us", "bytes kept");
    for (const scale_part_t *part = scale_parts; NULL != part->name; ++part) {
        for (unsigned i = 0; i < count; ++i) {
            const unsigned ranks =
                argc > 1 ? (unsigned) strtoul(argv[i + 1], NULL, 0) : defaults[i];
            if (ranks < 2) {
                fprintf(stderr, "scale: not a number of ranks: %s\n", argv[i + 1]);
                return EXIT_FAILURE;
            }
            measure(part, ranks);
        }
    }
    return EXIT_SUCCESS;
}
