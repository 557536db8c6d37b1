/*
 * The list of local products.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "products.h"

const int matrix_dims[MATRICES][SIDES] = {
    [MATRIX_A] = {DIM_M, DIM_K}, [MATRIX_B] = {DIM_K, DIM_N}, [MATRIX_C] = {DIM_M, DIM_N}};

/* From the outermost loop to the innermost: the free dimension first, and inner products of one
 * slice of C behind each other unless C stays. */
static const int loop_order[MATRICES][DIMS] = {[MATRIX_A] = {DIM_N, DIM_M, DIM_K},
                                               [MATRIX_B] = {DIM_M, DIM_N, DIM_K},
                                               [MATRIX_C] = {DIM_K, DIM_M, DIM_N}};

/* The work of one stationary tile. */
typedef struct work {
    const problem_t *problem;
    range_t dim[DIMS];
    size_t member[MATRICES]; /* this process in its replica of each matrix */
    size_t offset;           /* of the outermost loop, in pieces */
} work_t;

/* What the buffers of A or B hold. */
typedef struct buffers {
    struct {
        tile_t tile;
        size_t used; /* number of the last product that uses it, from 1; 0: empty */
    } slot[SLOTS];
} buffers_t;

box_t product_slice(const product_t *product, int matrix)
{
    return (box_t){
        {product->dim[matrix_dims[matrix][ROW]], product->dim[matrix_dims[matrix][COLUMN]]}};
}

/* The end of the piece of a dimension that begins at `begin`. */
static size_t piece_end(const work_t *work, int dim, size_t begin)
{
    size_t end = work->dim[dim].end;

    for (int matrix = 0; matrix < MATRICES; matrix++) {
        for (int side = 0; side < SIDES; side++) {
            const size_t length = work->problem->layout[matrix].tile_shape[side];
            const size_t cut = (begin / length + 1) * length;
            if (matrix_dims[matrix][side] == dim && cut < end) {
                end = cut;
            }
        }
    }
    return end;
}

static size_t count_pieces(const work_t *work, int dim)
{
    size_t count = 0;

    for (size_t at = work->dim[dim].begin; at < work->dim[dim].end; at = piece_end(work, dim, at)) {
        count++;
    }
    return count;
}

/* The piece of a dimension with a number. */
static range_t find_piece(const work_t *work, int dim, size_t number)
{
    range_t piece = {work->dim[dim].begin, 0};

    piece.end = piece_end(work, dim, piece.begin);
    while (number-- > 0) {
        piece.begin = piece.end;
        piece.end = piece_end(work, dim, piece.begin);
    }
    return piece;
}

static bool tiles_equal(tile_t first, tile_t second)
{
    return first.index[ROW] == second.index[ROW] && first.index[COLUMN] == second.index[COLUMN];
}

/* The tile of each matrix that a piece lies in, and what is fetched of it. */
static void find_tiles(const work_t *work, product_t *product)
{
    for (int matrix = 0; matrix < MATRICES; matrix++) {
        const layout_t *layout = &work->problem->layout[matrix];
        const box_t slice = product_slice(product, matrix);
        for (int side = 0; side < SIDES; side++) {
            product->tile[matrix].index[side] = slice.side[side].begin / layout->tile_shape[side];
        }
        if (matrix != MATRIX_C) {
            const int *dims = matrix_dims[matrix];
            const box_t needed = {{work->dim[dims[ROW]], work->dim[dims[COLUMN]]}};
            const tile_t tile = product->tile[matrix];
            product->operand[matrix] = (operand_t){
                .part = box_overlap(layout_tile_bounds(layout, tile), needed),
                .local = layout_owner(layout, tile) == work->member[matrix],
            };
        }
    }
}

static bool append(products_t *products, const product_t *product)
{
    if (products->count == products->room) {
        const size_t room = products->room > 0 ? 2 * products->room : 64;
        product_t *list = reallocarray(products->list, room, sizeof *list);
        if (NULL == list) {
            return false;
        }
        products->list = list;
        products->room = room;
    }
    products->list[products->count++] = *product;
    return true;
}

static bool list_work(products_t *products, const work_t *work, const int *order)
{
    const size_t counts[DIMS] = {count_pieces(work, order[0]), count_pieces(work, order[1]),
                                 count_pieces(work, order[2])};
    product_t product = {.first = true, .last = true};

    for (size_t outer = 0; outer < counts[0]; outer++) {
        product.dim[order[0]] = find_piece(work, order[0], (outer + work->offset) % counts[0]);
        for (size_t middle = 0; middle < counts[1]; middle++) {
            product.dim[order[1]] = find_piece(work, order[1], middle);
            for (size_t inner = 0; inner < counts[2]; inner++) {
                product.dim[order[2]] = find_piece(work, order[2], inner);
                find_tiles(work, &product);
                if (!append(products, &product)) {
                    return false;
                }
            }
        }
    }
    return true;
}

/* The buffer that holds the part, or the one that was not used for longest. */
static void assign_buffer(buffers_t *buffers, product_t *product, int matrix, size_t number)
{
    operand_t *operand = &product->operand[matrix];
    int oldest = 0;

    for (int slot = 0; slot < SLOTS; slot++) {
        if (buffers->slot[slot].used > 0 &&
            tiles_equal(buffers->slot[slot].tile, product->tile[matrix])) {
            operand->slot = slot;
            buffers->slot[slot].used = number;
            return;
        }
        oldest = buffers->slot[slot].used < buffers->slot[oldest].used ? slot : oldest;
    }
    operand->slot = oldest;
    operand->fetch = true;
    buffers->slot[oldest].tile = product->tile[matrix];
    buffers->slot[oldest].used = number;
}

/* Buffers for the products of one stationary tile, which begin at `begin`.  Of the same tile
 * another stationary tile needs another part: the buffers are taken as empty, in the order of their
 * use. */
static void assign_buffers(products_t *products, size_t begin, buffers_t *buffers)
{
    static const tile_t none = {{SIZE_MAX, SIZE_MAX}};

    for (int matrix = 0; matrix < MATRIX_C; matrix++) {
        for (int slot = 0; slot < SLOTS; slot++) {
            buffers[matrix].slot[slot].tile = none;
        }
        for (size_t i = begin; i < products->count; i++) {
            if (!products->list[i].operand[matrix].local) {
                assign_buffer(&buffers[matrix], &products->list[i], matrix, i + 1);
            }
        }
    }
}

static bool same_slice_of_c(const product_t *first, const product_t *second)
{
    const box_t one = product_slice(first, MATRIX_C);
    const box_t other = product_slice(second, MATRIX_C);

    return one.side[ROW].begin == other.side[ROW].begin &&
           one.side[COLUMN].begin == other.side[COLUMN].begin;
}

/* Joins the products of one stationary tile that add to the same slice of C one after the other. */
static void join_sums(products_t *products, size_t begin)
{
    for (size_t i = begin + 1; i < products->count; i++) {
        if (same_slice_of_c(&products->list[i - 1], &products->list[i])) {
            products->list[i - 1].last = false;
            products->list[i].first = false;
        }
    }
}

/* Part `number` of `parts` of a dimension. */
static range_t share_of(size_t length, size_t number, size_t parts)
{
    return (range_t){length * number / parts, length * (number + 1) / parts};
}

bool products_init(products_t *products, const problem_t *problem, int stationary, size_t rank)
{
    const layout_t *layout = &problem->layout[stationary];
    const int free_dim = loop_order[stationary][0];
    const int *sides = matrix_dims[stationary];
    work_t work = {.problem = problem};
    buffers_t buffers[MATRIX_C];
    tile_t tile;

    memset(products, 0, sizeof *products);
    memset(buffers, 0, sizeof buffers);
    for (int matrix = 0; matrix < MATRICES; matrix++) {
        work.member[matrix] = rank % layout_members(&problem->layout[matrix]);
    }
    const size_t replica = rank / layout_members(layout);
    const int other = (stationary + 1) % MATRICES; /* it has the free dimension, as has the third */
    const int free_side = matrix_dims[other][ROW] == free_dim ? ROW : COLUMN;
    work.dim[free_dim] =
        share_of(problem->layout[other].shape[free_side], replica, layout->replication);
    for (bool more = layout_first_tile(layout, work.member[stationary], &tile); more;
         more = layout_next_tile(layout, &tile)) {
        const box_t bounds = layout_tile_bounds(layout, tile);
        const size_t begin = products->count;
        work.dim[sides[ROW]] = bounds.side[ROW];
        work.dim[sides[COLUMN]] = bounds.side[COLUMN];
        work.offset = tile.index[ROW] + tile.index[COLUMN];
        if (!list_work(products, &work, loop_order[stationary])) {
            return false;
        }
        assign_buffers(products, begin, buffers);
        join_sums(products, begin);
    }
    return true;
}

void products_fini(products_t *products)
{
    free(products->list);
    products->list = NULL;
    products->count = products->room = 0;
}
