/*
 * Parses jobs.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spec.h"

enum { MAX_TEXT = 256, CYCLIC_CUTS = 4 };

static const char matrix_names[] = "ABC";

typedef struct message {
    char *text;
    size_t bytes;
} message_t;

#define FAIL(_message, ...) (snprintf((_message)->text, (_message)->bytes, __VA_ARGS__), false)

static size_t divide_up(size_t length, size_t parts)
{
    const size_t share = (length + parts - 1) / parts;

    return share > 0 ? share : 1;
}

/* The grid of `members` processes that is most nearly square, not more rows than columns. */
static void choose_grid(layout_t *layout, size_t members)
{
    size_t rows = 1;

    for (size_t divisor = 1; divisor * divisor <= members; divisor++) {
        rows = members % divisor == 0 ? divisor : rows;
    }
    layout->grid[ROW] = rows;
    layout->grid[COLUMN] = members / rows;
}

/* A tile shape and a process grid. */
static bool parse_custom(const char *text, size_t members, layout_t *layout, char matrix,
                         message_t *message)
{
    int end = 0;

    if (4 != sscanf(text, "%9zux%9zu@%9zux%9zu%n", &layout->tile_shape[ROW],
                    &layout->tile_shape[COLUMN], &layout->grid[ROW], &layout->grid[COLUMN], &end) ||
        text[end] != '\0' || strpbrk(text, "-+ ") != NULL) {
        return FAIL(message,
                    "partitioning '%s' of %c: use row, col, block, cyclic, or tile and process grid"
                    " as 32x48@2x1",
                    text, matrix);
    }
    if (layout->tile_shape[ROW] == 0 || layout->tile_shape[COLUMN] == 0) {
        return FAIL(message, "partitioning '%s' of %c: a tile has at least 1 row and 1 column",
                    text, matrix);
    }
    if (layout_members(layout) != members) {
        return FAIL(message,
                    "partitioning '%s' of %c: a process grid of %zu, but a replica has %zu"
                    " processes; change the grid, the replication or the ranks",
                    text, matrix, layout_members(layout), members);
    }
    return true;
}

static bool parse_partition(const char *text, size_t members, layout_t *layout, char matrix,
                            message_t *message)
{
    size_t cuts = 1;

    if (strcmp(text, "row") == 0) {
        layout->grid[ROW] = members;
        layout->grid[COLUMN] = 1;
    } else if (strcmp(text, "col") == 0) {
        layout->grid[ROW] = 1;
        layout->grid[COLUMN] = members;
    } else if (strcmp(text, "block") == 0 || strcmp(text, "cyclic") == 0) {
        choose_grid(layout, members);
        cuts = text[0] == 'c' ? CYCLIC_CUTS : 1;
    } else {
        return parse_custom(text, members, layout, matrix, message);
    }
    for (int side = 0; side < SIDES; side++) {
        layout->tile_shape[side] = divide_up(layout->shape[side], layout->grid[side] * cuts);
    }
    return true;
}

static bool parse_matrix(char *text, size_t ranks, layout_t *layout, char matrix,
                         message_t *message)
{
    char *star = strchr(text, '*');

    layout->replication = 1;
    if (star != NULL) {
        char *end = NULL;
        *star = '\0';
        layout->replication = strtoul(star + 1, &end, 10);
        if (star[1] < '0' || star[1] > '9' || *end != '\0' || layout->replication == 0 ||
            ranks % layout->replication != 0) {
            return FAIL(message,
                        "replication '%s' of %c: must divide the number of ranks, which is %zu",
                        star + 1, matrix, ranks);
        }
    }
    return parse_partition(text, ranks / layout->replication, layout, matrix, message);
}

static bool parse_stationary(const char *text, int *stationary, message_t *message)
{
    static const char *const names[] = {"A", "B", "C"};

    for (int i = 0; i < MATRICES; i++) {
        if (strcmp(text, names[i]) == 0) {
            *stationary = i;
            return true;
        }
    }
    return FAIL(message, "'%s' is not what stays: use A, B or C", text);
}

/* MPI counts elements in an int. */
static bool check_shape(const layout_t *layout, char matrix, message_t *message)
{
    const size_t *shape = layout->shape;

    if (shape[ROW] == 0 || shape[COLUMN] == 0 || shape[ROW] > INT_MAX / shape[COLUMN]) {
        return FAIL(message,
                    "%c of %zu x %zu: use at least 1 row and 1 column, and at most %d elements",
                    matrix, shape[ROW], shape[COLUMN], INT_MAX);
    }
    return true;
}

bool job_parse(const char *text, const size_t *dims, size_t ranks, job_t *job, char *error,
               size_t error_bytes)
{
    message_t message = {error, error_bytes};
    char copy[MAX_TEXT];
    char *rest = copy;

    if (strlen(text) >= sizeof copy) {
        return FAIL(&message, "a job of more than %d characters", MAX_TEXT - 1);
    }
    strcpy(copy, text);
    job->problem.ranks = ranks;
    for (int matrix = 0; matrix < MATRICES; matrix++) {
        layout_t *layout = &job->problem.layout[matrix];
        char *word = strsep(&rest, ",");
        if (rest == NULL) {
            return FAIL(&message, "job '%s': use A,B,C,STAYS as row,col*2,block,C", text);
        }
        layout->shape[ROW] = dims[matrix_dims[matrix][ROW]];
        layout->shape[COLUMN] = dims[matrix_dims[matrix][COLUMN]];
        if (!check_shape(layout, matrix_names[matrix], &message) ||
            !parse_matrix(word, ranks, layout, matrix_names[matrix], &message)) {
            return false;
        }
    }
    return parse_stationary(rest, &job->stationary, &message);
}
