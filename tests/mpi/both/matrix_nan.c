/*
 * NaN of several ranks, each with bits of its own, and all ways to give the buffers:
 * the result depends on the order of operands, and a rank that keeps to another one
 * returns another NaN.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "oracle.h"

/** What a floating-point type looks like in memory. */
typedef struct nan_row {
    const char *name;
    size_t value_bytes;
    size_t values; /* 2: complex, or a pair of floats */
} nan_row_t;

static const nan_row_t nan_rows[] = {
    {"MPI_FLOAT", sizeof(float), 1},
    {"MPI_DOUBLE", sizeof(double), 1},
    {"MPI_LONG_DOUBLE", sizeof(long double), 1},
    {"MPI_C_FLOAT_COMPLEX", sizeof(float), 2},
    {"MPI_C_DOUBLE_COMPLEX", sizeof(double), 2},
    {"MPI_C_LONG_DOUBLE_COMPLEX", sizeof(long double), 2},
    {"MPI_FLOAT_INT", sizeof(float), 1},
    {"MPI_DOUBLE_INT", sizeof(double), 1},
    {"MPI_LONG_DOUBLE_INT", sizeof(long double), 1},
    {"MPI_2REAL", sizeof(float), 2},
    {"MPI_2DOUBLE_PRECISION", sizeof(double), 2},
};

static const int nan_counts[] = {1, 3, 14, 200};

enum { IN_PLACE_NOBODY, IN_PLACE_RANK_0, IN_PLACE_ALL, IN_PLACE_MODES };

/* A quiet NaN that tells who made it, in the least bits of its fraction. */
static void put_nan(void *out, size_t bytes, unsigned payload)
{
    const uint32_t single = UINT32_C(0x7fc00000) | payload;
    const uint64_t twice = UINT64_C(0x7ff8000000000000) | payload;

    if (bytes == sizeof single) {
        memcpy(out, &single, sizeof single);
    } else if (bytes == sizeof twice) {
        memcpy(out, &twice, sizeof twice);
    } else {
        long double value = (long double) NAN;

        /* Little-endian on all machines that this is for; the least byte is fraction in any case.
         */
        memcpy(&value, &payload, 1);
        memcpy(out, &value, sizeof value);
    }
}

/* NaN from rank 0, from rank 1, from all ranks, from nobody, in turn. */
static bool has_nan(int rank, int i)
{
    const int turn = i % 4;
    return turn == 2 || turn == rank;
}

static void fill_with_nan(unsigned char *out, const type_row_t *type, const nan_row_t *row,
                          int rank, int count)
{
    for (int i = 0; i < count; i++) {
        for (size_t v = 0; has_nan(rank, i) && v < row->values; v++) {
            put_nan(out + (size_t) i * type->extent_bytes + v * row->value_bytes, row->value_bytes,
                    (unsigned) (rank + 1 + 16 * (int) v));
        }
    }
}

/* Only what carries values: the padding of an element is anybody's. */
static void copy_values(unsigned char *out, const unsigned char *in, const type_row_t *type,
                        int count)
{
    memset(out, 0, (size_t) count * type->extent_bytes);
    for (int i = 0; i < count; i++) {
        for (int p = 0; p < TYPE_PARTS; p++) {
            const size_t at = (size_t) i * type->extent_bytes + type->parts[p].offset_bytes;
            memcpy(out + at, in + at, type->parts[p].bytes);
        }
    }
}

/* Sums are NaN where one entered, and nowhere else. */
static void check_entered(const unsigned char *sums, int count)
{
    for (int i = 0; i < count; i++) {
        bool entered = false;
        double sum = 0;

        for (int rank = 0; rank < world_ranks; rank++) {
            entered = entered || has_nan(rank, i);
        }
        memcpy(&sum, sums + (size_t) i * sizeof sum, sizeof sum);
        tap_check(entered == (isnan(sum) != 0), "element %d is %g", i, sum);
    }
}

static void check_nan_call(const type_row_t *type, const nan_row_t *row, op_id_t op, int count,
                           int mode)
{
    const size_t bytes = (size_t) count * type->extent_bytes;
    SCOPED unsigned char *send = must_alloc(bytes);
    SCOPED unsigned char *receive = must_alloc(bytes);
    const draw_t draw = draw_of(op, 17);

    memset(send, 0, bytes);
    type->draw(send, &draw, (size_t) count);
    fill_with_nan(send, type, row, world_rank, count);
    memcpy(receive, send, bytes);
    const bool in_place = mode == IN_PLACE_ALL || (mode == IN_PLACE_RANK_0 && world_rank == 0);

    MPI_Allreduce(in_place ? MPI_IN_PLACE : send, receive, count, type->handle, op_table[op].handle,
                  MPI_COMM_WORLD);
    if (op == OP_SUM && MPI_DOUBLE == type->handle) {
        check_entered(receive, count);
    }
    copy_values(send, receive, type, count);
    tap_check_same(send, bytes, MPI_COMM_WORLD);
}

static const type_row_t *type_by_name(const char *name)
{
    for (size_t row = 0; row < type_table_rows; row++) {
        if (strcmp(type_table[row].name, name) == 0) {
            return &type_table[row];
        }
    }
    return NULL;
}

void matrix_check_nan(void)
{
    for (size_t r = 0; r < sizeof nan_rows / sizeof nan_rows[0]; r++) {
        const type_row_t *type = type_by_name(nan_rows[r].name);

        if (type == NULL || !type_present(type)) {
            tap_skip(nan_rows[r].name, "this Open MPI was built without the type");
            continue;
        }
        for (unsigned op = 0; op < OP_COUNT; op++) {
            for (size_t c = 0; type->ops & (1u << op) && c < sizeof nan_counts / sizeof(int); c++) {
                for (int mode = 0; mode < IN_PLACE_MODES; mode++) {
                    check_nan_call(type, &nan_rows[r], (op_id_t) op, nan_counts[c], mode);
                }
            }
        }
        tap_case("NaN in %s: same bits on all ranks, in place on none, one and all", type->name);
    }
}
