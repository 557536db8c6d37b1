/*
 * Options, and what is said of wrong ones.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "options.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

#include "layout.h"

enum { WRONG_USE = 2 };

void shard_options_refuse(const char *format, ...)
{
    va_list arguments;
    int rank = 0;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (0 == rank) {
        va_start(arguments, format);
        fputs("sharding: ", stderr);
        vfprintf(stderr, format, arguments);
        fputc('\n', stderr);
        va_end(arguments);
    }
    MPI_Finalize();
    exit(WRONG_USE);
}

double shard_options_number(char option, const char *text, bool zero)
{
    char *end = NULL;
    const double number = strtod(text, &end);

    if (end == text || '\0' != *end || !isfinite(number) || number < 0 || (0 == number && !zero)) {
        shard_options_refuse("-%c: %.40s is not a %s number", option, text,
                             zero ? "non-negative" : "positive");
    }
    return number;
}

unsigned shard_options_count(char option, const char *text, unsigned most)
{
    const double number = shard_options_number(option, text, false);

    if (number != floor(number) || number > most) {
        shard_options_refuse("-%c: %.40s is not a whole number from 1 to %u", option, text, most);
    }
    return (unsigned) number;
}

shard_mesh_t shard_options_mesh(const char *text)
{
    char error[SHARD_ERROR_BYTES];
    shard_mesh_t mesh;

    if (NULL == text) {
        shard_options_refuse("which mesh? as -m X=2,Y=2");
    }
    if (!shard_mesh_parse(text, &mesh, error)) {
        shard_options_refuse("-m: %s", error);
    }
    return mesh;
}

void shard_options_check_ranks(const shard_mesh_t *mesh)
{
    const shard_axes_t all = {.count = mesh->axes, .axis = {0, 1, 2}};
    const unsigned needed = shard_axes_ranks(mesh, &all);
    int ranks = 0;

    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (needed != (unsigned) ranks) {
        shard_options_refuse("the mesh has %u ranks, and there are %d; make it mpirun -n %u",
                             needed, ranks, needed);
    }
}
