/*
 * Sums of more elements than an int can count (MPI-4's _c functions, which Open MPI has from 6.0
 * on), of a byte each: blocking, nonblocking and persistent ones.  A rank needs 2 GiB, and what
 * Open MPI itself takes: with little memory the program says so, and leaves them out.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"

#if OMPI_MAJOR_VERSION >= 6

/* A block is no power of two: parts of the vector do not look alike. */
enum { MORE = 12345, BLOCK_BYTES = 1000003 };
static const size_t count = (size_t) INT_MAX + MORE;

/* What the ranks from `first` to `last` have in a block: the sum of it. */
static void add_blocks(unsigned char *block, int first, int last)
{
    memset(block, 0, BLOCK_BYTES);
    for (int rank = first; rank <= last; rank++) {
        for (int i = 0; i < BLOCK_BYTES; i++) {
            block[i] = (unsigned char) (block[i] + (i >> 3) + i + rank);
        }
    }
}

/* Twice what the ranks need. */
static bool is_there_memory(void)
{
    char line[128];
    unsigned long long kib = 0;
    FILE *file = fopen("/proc/meminfo", "r");

    while (NULL != file && NULL != fgets(line, sizeof line, file) &&
           1 != sscanf(line, "MemAvailable: %llu", &kib)) {
    }
    if (NULL != file) {
        fclose(file);
    }
    int enough = kib / 2 > (unsigned long long) world_ranks * (count >> 10);
    MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return enough;
}

static size_t block_bytes(size_t at)
{
    return count - at < BLOCK_BYTES ? count - at : BLOCK_BYTES;
}

static void fill(unsigned char *vector)
{
    static unsigned char block[BLOCK_BYTES];

    add_blocks(block, world_rank, world_rank);
    for (size_t at = 0; at < count; at += BLOCK_BYTES) {
        memcpy(vector + at, block, block_bytes(at));
    }
}

static void check(const unsigned char *vector, const char *what)
{
    static unsigned char sums[BLOCK_BYTES];
    size_t wrong = 0;

    add_blocks(sums, 0, world_ranks - 1);
    for (size_t at = 0; at < count; at += BLOCK_BYTES) {
        wrong += 0 != memcmp(vector + at, sums, block_bytes(at));
    }
    tap_check(0 == wrong, "%zu blocks of %d bytes are wrong", wrong, BLOCK_BYTES);
    tap_case("%s of %zu elements", what, count);
}

static void run_all(unsigned char *vector)
{
    MPI_Request request;

    fill(vector);
    MPI_Allreduce_c(MPI_IN_PLACE, vector, (MPI_Count) count, MPI_UINT8_T, MPI_SUM, MPI_COMM_WORLD);
    check(vector, "a sum");
    fill(vector);
    MPI_Iallreduce_c(MPI_IN_PLACE, vector, (MPI_Count) count, MPI_UINT8_T, MPI_SUM, MPI_COMM_WORLD,
                     &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(vector, "a nonblocking sum");
    fill(vector);
    MPI_Allreduce_init_c(MPI_IN_PLACE, vector, (MPI_Count) count, MPI_UINT8_T, MPI_SUM,
                         MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    check(vector, "a persistent sum");
}

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv);
    if (!is_there_memory()) {
        tap_skip("sums of more elements than an int can count", "there is too little memory");
        return tap_end();
    }
    unsigned char *vector = malloc(count);
    if (tap_check(NULL != vector, "no memory")) {
        run_all(vector);
    }
    free(vector);
    return tap_end();
}

#else

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv);
    tap_skip("sums of more elements than an int can count",
             "this Open MPI has no functions for them");
    return tap_end();
}

#endif
