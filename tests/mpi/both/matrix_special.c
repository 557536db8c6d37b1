/*
 * Sums of arbitrary floats have no exact result that every order reaches. Two
 * things still hold: the error is below the bound of any order of summation,
 * (ranks - 1) * epsilon * sum |x|, against a long-double sum; and all ranks
 * return the same bits, infinities and NaN at exactly the places where they
 * entered.
 *
 * NaN of several ranks, each with bits of its own, and all ways to give the
 * buffers are a case apart: the result depends on the order of operands, and a
 * rank that keeps to another one returns another NaN.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <float.h>

#include "matrix.h"

enum { SPECIAL_STRIDE = 97, FLOAT_LARGEST = 70000 };

static const int float_counts[] = {1, 2, 14, 15, 1025, 5001, FLOAT_LARGEST};

/* Full 24-bit mantissas over 16 binary orders of magnitude, both signs. */
static double arbitrary_value(int rank, int i)
{
    uint64_t bits = draw_bits(31, (unsigned) rank, (uint64_t) i);
    double mantissa = (double) (int32_t) (bits >> 40 | 1) / (double) (1 << 24);

    return ldexp(bits & 1 ? mantissa : -mantissa, (int) (bits >> 1 & 15));
}

/* What rank `i % ranks` puts at every SPECIAL_STRIDE-th place; 0 for an ordinary number. */
static double special_value(int i)
{
    static const double specials[] = {INFINITY, -INFINITY, NAN};

    return i % SPECIAL_STRIDE == SPECIAL_STRIDE / 2 ? specials[i / SPECIAL_STRIDE % 3] : 0.0;
}

static double input_value(int rank, int ranks, int i, bool specials)
{
    if (specials && i % ranks == rank && special_value(i) != 0.0) {
        return special_value(i);
    }
    return arbitrary_value(rank, i);
}

static void check_element(double got, int i, int ranks, double epsilon, bool specials)
{
    long double sum = 0;
    long double magnitude = 0;
    double special = specials ? special_value(i) : 0.0;

    if (special != 0.0) {
        tap_check(isnan(special) ? isnan(got) : got == special, "element %d: %g is not %g", i, got,
                  special);
        return;
    }
    for (int rank = 0; rank < ranks; rank++) {
        sum += (long double) arbitrary_value(rank, i);
        magnitude += fabsl((long double) arbitrary_value(rank, i));
    }
    tap_check(fabsl((long double) got - sum) <= (ranks - 1) * epsilon * magnitude,
              "element %d: %.17g instead of %.17Lg", i, got, sum);
}

static void check_sums(bool single, bool specials)
{
    double epsilon = single ? FLT_EPSILON : DBL_EPSILON;
    size_t elem_bytes = single ? sizeof(float) : sizeof(double);
    float *singles = must_alloc(FLOAT_LARGEST * sizeof *singles);
    double *doubles = must_alloc(FLOAT_LARGEST * sizeof *doubles);
    void *buffer = single ? (void *) singles : (void *) doubles;

    for (size_t c = 0; c < sizeof float_counts / sizeof float_counts[0]; c++) {
        int count = float_counts[c];

        for (int i = 0; i < count; i++) {
            doubles[i] = input_value(world_rank, world_ranks, i, specials);
            singles[i] = (float) doubles[i];
        }
        MPI_Allreduce(MPI_IN_PLACE, buffer, count, single ? MPI_FLOAT : MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
        tap_check_same(buffer, (size_t) count * elem_bytes, MPI_COMM_WORLD);
        for (int i = 0; i < count; i++) {
            check_element(single ? (double) singles[i] : doubles[i], i, world_ranks, epsilon,
                          specials);
        }
    }
    free(singles);
    free(doubles);
    tap_case("arbitrary %s%s: within the rounding bound, same bits on all ranks",
             single ? "MPI_FLOAT" : "MPI_DOUBLE", specials ? " with Inf and NaN" : "");
}

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

static void check_nan_call(const type_row_t *type, const nan_row_t *row, op_id_t op, int count,
                           int mode)
{
    const size_t bytes = (size_t) count * type->extent_bytes;
    unsigned char *send = must_alloc(bytes);
    unsigned char *receive = must_alloc(bytes);
    draw_t draw = {.op = op, .seed = 17};
    int rank;
    int ranks;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    draw.rank = (unsigned) rank;
    draw.ranks = (unsigned) ranks;
    memset(send, 0, bytes);
    type->draw(send, &draw, (size_t) count);
    fill_with_nan(send, type, row, rank, count);
    memcpy(receive, send, bytes);
    const bool in_place = mode == IN_PLACE_ALL || (mode == IN_PLACE_RANK_0 && rank == 0);

    MPI_Allreduce(in_place ? MPI_IN_PLACE : send, receive, count, type->handle, op_table[op].handle,
                  MPI_COMM_WORLD);
    copy_values(send, receive, type, count);
    tap_check_same(send, bytes, MPI_COMM_WORLD);
    free(send);
    free(receive);
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

void matrix_check_random_floats(void)
{
    check_sums(true, false);
    check_sums(false, false);
    check_sums(true, true);
    check_sums(false, true);
}
