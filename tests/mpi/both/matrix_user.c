/*
 * User-defined operations on predefined types. An implementation must call them
 * in rank order unless they were declared commutative, and must give them whole
 * vectors: an operation may treat its vector as one object.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "matrix.h"

enum {
    MODULUS = 1000003,
    LARGEST = 70000,
    OBJECT_MULTIPLIER_STEP = 30, /* multipliers 30k+1 are coprime to every length below */
};

static const int user_counts[] = {0, 1, 2, 7, 14, 15, 1023, 2049, 17000, LARGEST};

/* Lengths of the form 2^a 3^b 5^c, at which i -> (30k+1) i + b is a permutation. */
static const int object_lengths[] = {1, 2, 15, 16, 1024, 16384, 60000};

/* Set by whole_object() when it is called with a part of a vector. */
static int object_length;
static int object_splits;

static void add_modulo(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const int *a = in;
    int *b = inout;

    for (int i = 0; i < *count; i++) {
        b[i] = (a[i] + b[i]) % MODULUS;
    }
}

/* Associative, not commutative: the value of the lowest rank that has one. */
static void first_nonzero(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const int *a = in;
    int *b = inout;

    for (int i = 0; i < *count; i++) {
        b[i] = a[i] != 0 ? a[i] : b[i];
    }
}

/* The vector is one permutation p; the operation is composition: (a b)[i] = a[b[i]]. */
static void whole_object(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const int *a = in;
    int *b = inout;

    if (*count != object_length) {
        object_splits++;
        return;
    }
    for (int i = 0; i < *count; i++) {
        b[i] = a[b[i]];
    }
}

static int modulo_value(int rank, int i)
{
    return (int) (draw_bits(7, (unsigned) rank, (uint64_t) i) % MODULUS);
}

/* Zero on most ranks, so that the first one with a value differs from element to element. */
static int sparse_value(int rank, int i)
{
    uint64_t bits = draw_bits(11, (unsigned) rank, (uint64_t) i);

    return bits % 3 == 0 ? (int) (bits >> 40) + 1 : 0;
}

static int fold_modulo(int ranks, int i)
{
    int sum = 0;

    for (int rank = 0; rank < ranks; rank++) {
        sum = (sum + modulo_value(rank, i)) % MODULUS;
    }
    return sum;
}

static int fold_first(int ranks, int i)
{
    for (int rank = 0; rank < ranks; rank++) {
        if (sparse_value(rank, i) != 0) {
            return sparse_value(rank, i);
        }
    }
    return 0;
}

/** A user operation on MPI_INT, element by element. */
typedef struct user_op {
    const char *name;
    MPI_User_function *function;
    int commutes;
    int (*value)(int rank, int i);
    int (*expected)(int ranks, int i);
} user_op_t;

static const user_op_t user_ops[] = {
    {"sum modulo a prime, commutative", add_modulo, 1, modulo_value, fold_modulo},
    {"sum modulo a prime, declared non-commutative", add_modulo, 0, modulo_value, fold_modulo},
    {"first non-zero, non-commutative: rank order kept", first_nonzero, 0, sparse_value,
     fold_first},
};

static void check_elementwise(const user_op_t *user, int rank, int ranks)
{
    guarded_t send;
    guarded_t receive;
    MPI_Op op;

    guarded_init(&send, LARGEST * sizeof(int));
    guarded_init(&receive, LARGEST * sizeof(int));
    MPI_Op_create(user->function, user->commutes, &op);
    for (size_t c = 0; c < sizeof user_counts / sizeof user_counts[0]; c++) {
        for (int in_place = 0; in_place < 2; in_place++) {
            int count = user_counts[c];
            int *in = guarded_place(&send, (size_t) count * sizeof(int));
            int *out = guarded_place(&receive, (size_t) count * sizeof(int));

            for (int i = 0; i < count; i++) {
                in[i] = user->value(rank, i);
                out[i] = in_place ? in[i] : -1;
            }
            MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, count, MPI_INT, op, MPI_COMM_WORLD);
            for (int i = 0; i < count; i++) {
                tap_check(out[i] == user->expected(ranks, i), "count %d in_place %d element %d",
                          count, in_place, i);
                tap_check(in[i] == user->value(rank, i), "count %d: send buffer changed", count);
            }
            tap_check(guarded_intact(&send) && guarded_intact(&receive), "count %d: canary", count);
        }
    }
    MPI_Op_free(&op);
    guarded_fini(&send);
    guarded_fini(&receive);
    tap_case("user operation: %s", user->name);
}

static void check_whole_object(int rank, int ranks)
{
    MPI_Op op;

    MPI_Op_create(whole_object, 0, &op);
    for (size_t c = 0; c < sizeof object_lengths / sizeof object_lengths[0]; c++) {
        int length = object_lengths[c];
        SCOPED int *in = must_alloc((size_t) length * sizeof(int));
        SCOPED int *out = must_alloc((size_t) length * sizeof(int));
        int64_t multiplier = OBJECT_MULTIPLIER_STEP * (rank + 1) + 1;
        /* Composition of x -> m x + s in rank order, as one affine map. */
        int64_t all_multiplier = 1;
        int64_t all_shift = 0;

        object_length = length;
        for (int i = 0; i < length; i++) {
            in[i] = (int) ((multiplier * i + rank + 1) % length);
        }
        for (int r = 0; r < ranks; r++) {
            all_shift = (all_multiplier * (r + 1) + all_shift) % length;
            all_multiplier = all_multiplier * (OBJECT_MULTIPLIER_STEP * (r + 1) + 1) % length;
        }
        MPI_Allreduce(in, out, length, MPI_INT, op, MPI_COMM_WORLD);
        for (int i = 0; i < length; i++) {
            tap_check(out[i] == (all_multiplier * i + all_shift) % length, "length %d element %d",
                      length, i);
        }
        tap_check(object_splits == 0, "length %d: called %d times with a part of the vector",
                  length, object_splits);
        object_splits = 0;
    }
    MPI_Op_free(&op);
    tap_case("user operation: composes whole vectors, which are never split");
}

void matrix_check_user_ops(void)
{
    for (size_t i = 0; i < sizeof user_ops / sizeof user_ops[0]; i++) {
        check_elementwise(&user_ops[i], world_rank, world_ranks);
    }
    check_whole_object(world_rank, world_ranks);
}
