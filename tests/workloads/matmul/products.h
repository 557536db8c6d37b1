/*
 * The local products of C = A B that one process makes, in their order, with what each has to fetch
 * and to send: the universal algorithm by slicing.  Index arithmetic, no MPI.
 *
 * One matrix stays where it is.  A process does the work of its tiles of that matrix: for a tile
 * the box rows x inner x columns (M x K x N) of which two sides are the tile's and the third is
 * free, the inner dimension for a tile of C, the columns for A, the rows for B.  Where the
 * stationary matrix has c replicas, each takes the c-th part of the free dimension.
 *
 *           N        The bounds of the tiles of A and C cut M, those of A and B cut K, those of
 *        +--+----+   B and C cut N.  Each piece of the box is one product, of a slice of one
 *      K | B     |   tile of A and one of B, added to a slice of one tile of C.  Tiles need not
 *        +--+----+   align.
 *   +--+ +--+----+
 * M |A | |C |    |   Order: the free dimension is outermost, and begins at the sum of the indices
 *   +--+ +--+----+   of the stationary tile, so that not all processes fetch the same tile at a
 *    K               time.
 *
 * Of a tile of A or B that lies elsewhere only the part inside the box is fetched, into one of
 * `SLOTS` buffers per operand, least recently used first; it stays there until the buffer is
 * needed.  Products that add to the same slice of C follow each other, and are sent as one.
 *
 * Source: Brock and Golin, "Slicing Is All You Need", sections 4.1 and 4.2.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_WORKLOADS_MATMUL_PRODUCTS_H
#define ARC_WORKLOADS_MATMUL_PRODUCTS_H

#include "layout.h"

enum { MATRIX_A, MATRIX_B, MATRIX_C, MATRICES };
enum { DIM_M, DIM_K, DIM_N, DIMS };

enum {
    PREFETCH = 2,         /* products ahead whose tiles are on the way */
    SLOTS = PREFETCH + 2, /* one more than must be there: a tile may be used again */
};

/* The dimension along the rows, and that along the columns, of A, B and C. */
extern const int matrix_dims[MATRICES][SIDES];

typedef struct problem {
    layout_t layout[MATRICES];
    size_t ranks;
} problem_t;

/* What a product reads of A or B. */
typedef struct operand {
    box_t part; /* of the matrix: what is fetched of the tile */
    bool local; /* the tile is this process' own: nothing is fetched */
    bool fetch; /* this is the first product that needs the part, or it has been overwritten */
    int slot;   /* the buffer that has it, unless local */
} operand_t;

typedef struct product {
    range_t dim[DIMS];
    tile_t tile[MATRICES];
    operand_t operand[MATRIX_C]; /* of A and B */
    bool first;                  /* that adds to this slice of C, as long as it is held */
    bool last;
} product_t;

typedef struct products {
    product_t *list;
    size_t count;
    size_t room;
} products_t;

/* The slice of a matrix that a product is about. */
box_t product_slice(const product_t *product, int matrix);

/* The products of a rank; `stationary` is one of MATRIX_A, MATRIX_B, MATRIX_C.  False if there is
 * no memory.  To be given to products_fini() in either case. */
bool products_init(products_t *products, const problem_t *problem, int stationary, size_t rank)
    __attribute__((warn_unused_result));
void products_fini(products_t *products);

#endif
