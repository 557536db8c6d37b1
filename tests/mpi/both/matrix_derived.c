/*
 * Derived types with a user-defined operation. The element is a 2x2 matrix of
 * 32-bit numbers, its operation the matrix product modulo 2^32: associative,
 * exact and not commutative, so that rank order shows. Four layouts hold it:
 *
 *   contiguous        | a b c d |
 *   vector with gaps  | a . b . c . d |       extent 7 words, overlapping nothing
 *   negative bound    . . | a b c d | .       lower bound -8 bytes, extent 28
 *   reversed fields   | d c b a |             the type map is not ascending
 *
 * Bytes in gaps are not part of the element; the receive buffer must keep them.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <string.h>

#include "matrix.h"

enum {
    FIELDS = 4,
    WORD = sizeof(uint32_t),
    LOWER_BOUND_BYTES = -8,
    DERIVED_LARGEST = 9000,
    WORDS_MAX = 8, /* more than the extent of every layout */
};

static const uint32_t gap_value = 0x6B6B6B6Bu;
static const int derived_counts[] = {0, 1, 2, 3, 14, 255, 2048, DERIVED_LARGEST};

/** Where the four fields of an element are, in words from the address given to MPI. */
typedef struct layout {
    const char *name;
    int words[FIELDS];
    int extent_words;
    int lower_bound_bytes;
} layout_t;

static const layout_t layouts[] = {
    {"contiguous", {0, 1, 2, 3}, 4, 0},
    {"vector with gaps", {0, 2, 4, 6}, 7, 0},
    {"resized with a negative lower bound", {0, 1, 2, 3}, 7, LOWER_BOUND_BYTES},
    {"fields in reversed order", {3, 2, 1, 0}, 4, 0},
};

/* The operation gets no argument of ours; it learns the layout here. */
static const layout_t *current_layout;

typedef struct matrix2x2 {
    uint32_t f[FIELDS];
} matrix2x2_t;

static matrix2x2_t multiply_matrices(matrix2x2_t a, matrix2x2_t b)
{
    matrix2x2_t product = {{
        a.f[0] * b.f[0] + a.f[1] * b.f[2],
        a.f[0] * b.f[1] + a.f[1] * b.f[3],
        a.f[2] * b.f[0] + a.f[3] * b.f[2],
        a.f[2] * b.f[1] + a.f[3] * b.f[3],
    }};

    return product;
}

static matrix2x2_t load_matrix(const uint32_t *element, const layout_t *layout)
{
    matrix2x2_t value;

    for (int k = 0; k < FIELDS; k++) {
        value.f[k] = element[layout->words[k]];
    }
    return value;
}

static void store_matrix(uint32_t *element, const layout_t *layout, matrix2x2_t value)
{
    for (int k = 0; k < FIELDS; k++) {
        element[layout->words[k]] = value.f[k];
    }
}

static void product_op(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const uint32_t *a = in;
    uint32_t *b = inout;
    const layout_t *layout = current_layout;

    (void) type;
    for (int i = 0; i < *count; i++) {
        store_matrix(b, layout, multiply_matrices(load_matrix(a, layout), load_matrix(b, layout)));
        a += layout->extent_words;
        b += layout->extent_words;
    }
}

static matrix2x2_t drawn_matrix(int rank, int i)
{
    matrix2x2_t value;

    for (int k = 0; k < FIELDS; k++) {
        value.f[k] = (uint32_t) draw_bits(23, (unsigned) rank, (uint64_t) (FIELDS * i + k));
    }
    return value;
}

static MPI_Datatype make_type(const layout_t *layout)
{
    MPI_Datatype fields;
    MPI_Datatype type;

    MPI_Type_create_indexed_block(FIELDS, 1, layout->words, MPI_UINT32_T, &fields);
    MPI_Type_create_resized(fields, layout->lower_bound_bytes,
                            (MPI_Aint) layout->extent_words * WORD, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&fields);
    return type;
}

/* Elements as drawn for `rank`, everything between them set to gap_value. */
static void fill_elements(uint32_t *words, const layout_t *layout, int count, int rank)
{
    for (int i = 0; i < count * layout->extent_words; i++) {
        words[i] = gap_value;
    }
    for (int i = 0; i < count; i++) {
        store_matrix(words + i * layout->extent_words, layout, drawn_matrix(rank, i));
    }
}

/* The result in its place and the gaps untouched. */
static void check_result(uint32_t *words, const layout_t *layout, int count, int ranks)
{
    const matrix2x2_t gaps = {{gap_value, gap_value, gap_value, gap_value}};

    for (int i = 0; i < count; i++) {
        uint32_t *element = words + i * layout->extent_words;
        matrix2x2_t expected = drawn_matrix(0, i);
        matrix2x2_t got = load_matrix(element, layout);

        for (int rank = 1; rank < ranks; rank++) {
            expected = multiply_matrices(expected, drawn_matrix(rank, i));
        }
        tap_check(memcmp(&got, &expected, sizeof got) == 0, "count %d: element %d is wrong", count,
                  i);
        store_matrix(element, layout, gaps);
    }
    for (int i = 0; i < count * layout->extent_words; i++) {
        if (words[i] != gap_value) {
            tap_fail("count %d: wrote into a gap of element %d", count, i / layout->extent_words);
            return;
        }
    }
}

static void check_layout(const layout_t *layout, int rank, int ranks)
{
    MPI_Datatype type = make_type(layout);
    guarded_t send;
    guarded_t receive;
    MPI_Op op;

    current_layout = layout;
    guarded_init(&send, (size_t) DERIVED_LARGEST * WORDS_MAX * WORD);
    guarded_init(&receive, (size_t) DERIVED_LARGEST * WORDS_MAX * WORD);
    MPI_Op_create(product_op, 0, &op);
    for (size_t c = 0; c < sizeof derived_counts / sizeof derived_counts[0]; c++) {
        for (int in_place = 0; in_place < 2; in_place++) {
            int count = derived_counts[c];
            size_t bytes = (size_t) (count * layout->extent_words) * WORD;
            uint32_t *in = guarded_place(&send, bytes);
            uint32_t *out = guarded_place(&receive, bytes);

            fill_elements(in, layout, count, rank);
            fill_elements(out, layout, count, in_place ? rank : ranks);
            MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, count, type, op, MPI_COMM_WORLD);
            check_result(out, layout, count, ranks);
            tap_check(guarded_intact(&send) && guarded_intact(&receive), "count %d: canary", count);
        }
    }
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    guarded_fini(&send);
    guarded_fini(&receive);
    tap_case("derived type, non-commutative matrix product: %s", layout->name);
}

void matrix_check_derived_types(void)
{
    int rank;
    int ranks;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        check_layout(&layouts[i], rank, ranks);
    }
}
