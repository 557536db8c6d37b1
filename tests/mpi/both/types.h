/*
 * The predefined types and operations of MPI reductions as tables: which pairs
 * MPI allows, how to draw input values for them, and how to fold two vectors
 * exactly. The test matrix and the oracle walk these tables; nothing else knows
 * the types.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_TESTS_MPI_TYPES_H
#define ARC_TESTS_MPI_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

typedef enum op_id {
    OP_SUM,
    OP_PROD,
    OP_MAX,
    OP_MIN,
    OP_LAND,
    OP_LOR,
    OP_LXOR,
    OP_BAND,
    OP_BOR,
    OP_BXOR,
    OP_MAXLOC,
    OP_MINLOC,
    OP_COUNT
} op_id_t;

/** One predefined operation. */
typedef struct op_row {
    const char *name;
    MPI_Op handle;
} op_row_t;

/** What the values of a vector depend on; all ranks can evaluate it for each other. */
typedef struct draw {
    op_id_t op;
    uint64_t seed;
    unsigned rank;
    unsigned ranks; /* bounds the values so that no result overflows */
} draw_t;

/** Write `count` elements of the vector of draw->rank, beginning at element 0. */
typedef void draw_fn_t(void *out, const draw_t *draw, size_t count);

/** acc[i] = acc[i] op in[i], exact for drawn values. */
typedef void fold_fn_t(void *acc, const void *in, op_id_t op, size_t count);

/** Bytes of an element that carry its value; the rest is padding. */
typedef struct part {
    size_t offset_bytes;
    size_t bytes;
} part_t;

enum { TYPE_PARTS = 2 };

/** One predefined type. */
typedef struct type_row {
    const char *name;
    MPI_Datatype handle;
    size_t extent_bytes;
    unsigned ops; /* bit 1u << op_id_t */
    bool broad;   /* also run with the largest counts */
    part_t parts[TYPE_PARTS];
    draw_fn_t *draw;
    fold_fn_t *fold;
} type_row_t;

extern const op_row_t op_table[OP_COUNT];
extern const type_row_t type_table[];
extern const size_t type_table_rows;

/** True when the build of Open MPI has this type (Fortran types may be missing). */
bool type_present(const type_row_t *type);

#endif
