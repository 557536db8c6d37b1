/*
 * The notation of sharded matrices: which axes of a mesh of ranks cut which dimension of a matrix.
 *
 *   mesh      X=4,Y=2                            axes and how many ranks are on each, major first
 *   product   A[I_X,J] B[J,K_Y] -> C[I_X,K_Y]    I is cut over X: A[i,j] is on rank (x,y) for the
 *                                                i of block x, whatever y
 *   shape     I=1024,J=512,K=256                 elements of each dimension
 *
 * I_XY is cut over both axes: block x |Y| + y is on rank (x,y).  An axis cuts one dimension of a
 * matrix at most.  {U_X} marks a matrix of which each rank along X has a partial sum.
 *
 * Source: Austin et al., "Sharded Matrices and How to Multiply Them" (How To Scale Your Model,
 * part 3), "A unified notation for sharding".
 *
 * Pure functions.  Those that can fail return false and leave one line in `error`.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_SHARDING_NOTATION_H
#define ARC_SHARDING_NOTATION_H

#include <stdbool.h>
#include <stddef.h>

enum {
    SHARD_MAX_AXES = 3,
    SHARD_MAX_RANKS = 1 << 20,  /* of a mesh */
    SHARD_MAX_EXTENT = 1 << 20, /* of a dimension: so that a matrix has a size_t of bytes */
    SHARD_MATRICES = 3,         /* A, B, C */
    SHARD_DIMENSIONS = 3,       /* I, J, K */
    SHARD_ERROR_BYTES = 256,
    SHARD_TEXT_BYTES = 64, /* a matrix in the notation */
};

typedef enum shard_matrix { SHARD_A, SHARD_B, SHARD_C } shard_matrix_t;
typedef enum shard_dimension { SHARD_I, SHARD_J, SHARD_K } shard_dimension_t;

typedef struct shard_mesh {
    unsigned axes;
    char name[SHARD_MAX_AXES];
    unsigned ranks[SHARD_MAX_AXES]; /* along each axis */
} shard_mesh_t;

/* Axes of a mesh, by their numbers, the major one first. */
typedef struct shard_axes {
    unsigned count;
    unsigned axis[SHARD_MAX_AXES];
} shard_axes_t;

typedef struct shard_layout {
    shard_axes_t cut[2];    /* rows, columns */
    shard_axes_t unreduced; /* the U of a partial sum, in the order of the mesh */
} shard_layout_t;

typedef struct shard_product {
    char matrix[SHARD_MATRICES];      /* their names */
    char dimension[SHARD_DIMENSIONS]; /* of A: I, J; of B: J, K; of C: I, K */
    shard_layout_t layout[SHARD_MATRICES];
} shard_product_t;

typedef struct shard_shape {
    size_t extent[SHARD_DIMENSIONS]; /* elements */
} shard_shape_t;

/* Which dimension of the product the rows (0) or columns (1) of a matrix are. */
extern const shard_dimension_t shard_dimension_of[SHARD_MATRICES][2];

bool shard_mesh_parse(const char *text, shard_mesh_t *mesh, char *error);
bool shard_product_parse(const char *text, const shard_mesh_t *mesh, shard_product_t *product,
                         char *error);

/* Also fails where a dimension is not a multiple of the ranks that it is cut over. */
bool shard_shape_parse(const char *text, const shard_mesh_t *mesh, const shard_product_t *product,
                       shard_shape_t *shape, char *error);

/* "A[I_X,J]", with {U_Y} behind it for partial sums. */
void shard_matrix_print(const shard_mesh_t *mesh, const shard_product_t *product,
                        shard_matrix_t matrix, const shard_layout_t *layout,
                        char text[SHARD_TEXT_BYTES]);

/* "XY" */
void shard_axes_print(const shard_mesh_t *mesh, const shard_axes_t *axes, char *text);

#endif
