/*
 * Draws jobs.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "random_jobs.h"

enum { MAX_SIDE = 70, MOST_TILES = 6 }; /* along a side */

void random_job_seed(random_job_t *job, uint64_t seed)
{
    job->state = seed;
}

/* From 0 to `bound` - 1; splitmix64. */
static size_t draw(random_job_t *job, size_t bound)
{
    uint64_t bits = job->state += 0x9e3779b97f4a7c15u;

    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return (size_t) ((bits ^ (bits >> 31)) % bound);
}

static size_t draw_divisor(random_job_t *job, size_t number)
{
    size_t divisor = 0;

    do {
        divisor = 1 + draw(job, number);
    } while (number % divisor != 0);
    return divisor;
}

/* A side of a tile: any length that makes few tiles, which may be longer than the matrix. */
static size_t draw_tile_side(random_job_t *job, size_t side)
{
    const size_t least = (side + MOST_TILES - 1) / MOST_TILES;

    return least + draw(job, side + 1);
}

static void append_matrix(random_job_t *job, size_t rows, size_t columns, size_t ranks)
{
    static const char *const named[] = {"row", "col", "block", "cyclic"};
    enum { NAMED = sizeof named / sizeof *named };
    const size_t replication = draw_divisor(job, ranks);
    const size_t kind = draw(job, 2 * NAMED); /* half of them have tiles that align with nothing */
    const size_t used = strlen(job->text);
    char *text = job->text + used;
    const size_t room = sizeof job->text - used;

    if (kind < NAMED) {
        snprintf(text, room, "%s*%zu,", named[kind], replication);
    } else {
        const size_t members = ranks / replication;
        const size_t grid_rows = draw_divisor(job, members);
        const size_t tile_rows = draw_tile_side(job, rows);
        snprintf(text, room, "%zux%zu@%zux%zu*%zu,", tile_rows, draw_tile_side(job, columns),
                 grid_rows, members / grid_rows, replication);
    }
}

void random_job_next(random_job_t *job, size_t ranks)
{
    static const char *const stays[] = {"A", "B", "C"};

    for (int dim = 0; dim < DIMS; dim++) {
        job->dims[dim] = 1 + draw(job, MAX_SIDE);
    }
    job->text[0] = '\0';
    for (int matrix = 0; matrix < MATRICES; matrix++) {
        append_matrix(job, job->dims[matrix_dims[matrix][ROW]],
                      job->dims[matrix_dims[matrix][COLUMN]], ranks);
    }
    strcat(job->text, stays[draw(job, sizeof stays / sizeof *stays)]);
}
