/*
 * The reference result of an allreduce of one predefined type and operation,
 * computed on each rank by drawing the vectors of all ranks again: no message is
 * sent and no code under test is used.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_TESTS_MPI_ORACLE_H
#define ARC_TESTS_MPI_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

#include "harness.h"
#include "types.h"

/** What this rank draws for an operation, of all ranks of MPI_COMM_WORLD. */
draw_t draw_of(op_id_t op, uint64_t seed);

/** Input of this rank and expected result for `count` elements. */
typedef struct oracle {
    const type_row_t *type;
    op_id_t op;
    size_t count;
    void *mine;
    void *expected;
} oracle_t;

/**
 * Draw the input of `draw->rank` and reduce the inputs of ranks 0 .. draw->ranks - 1, all with
 * draw->seed. Free with oracle_fini().
 */
void oracle_init(oracle_t *oracle, const type_row_t *type, const draw_t *draw, size_t count);

/** Release both vectors. */
void oracle_fini(oracle_t *oracle);

/**
 * Compare `result` with elements first .. first + count - 1, byte by byte without padding.
 * Returns the position of the first difference, or `count` when there is none.
 */
size_t oracle_mismatch(const oracle_t *oracle, size_t first, size_t count, const void *result);

/** Buffers that live through many calls of check_allreduce(). */
typedef struct check_buffers {
    guarded_t send;
    guarded_t receive;
} check_buffers_t;

/** Allocate for vectors of up to `capacity_bytes`. Free with check_buffers_fini(). */
void check_buffers_init(check_buffers_t *buffers, size_t capacity_bytes);

/** Release the buffers. */
void check_buffers_fini(check_buffers_t *buffers);

/** How one allreduce is called. */
typedef struct call {
    size_t first; /* elements first .. first + count - 1 of the oracle's vectors are reduced */
    size_t count;
    bool in_place;
} call_t;

/**
 * One MPI_Allreduce against the oracle; canaries, send buffer and return code included. Buffers are
 * aligned differently from rank to rank. Collective over MPI_COMM_WORLD. Returns false, with the
 * failure recorded, when anything is not as it must be.
 */
bool check_allreduce(const oracle_t *oracle, check_buffers_t *buffers, const call_t *call);

/**
 * NaN of several ranks (matrix_nan.c): the same bits on all ranks, which plain Open MPI does not
 * promise.  Collective over MPI_COMM_WORLD; prints its own cases.
 */
void matrix_check_nan(void);

#endif
