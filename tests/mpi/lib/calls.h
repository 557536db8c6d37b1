/*
 * One call of a collective that coll_quant may take, on numbers that every rank can draw for any
 * other, and how far its result is from the exact one.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_TESTS_MPI_CALLS_H
#define ARC_TESTS_MPI_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

#include "numbers.h"

/** What is called; the two stages with a block for each rank. */
typedef enum collective { ALLREDUCE, REDUCE_SCATTER_BLOCK, ALLGATHER, COLLECTIVES } collective_t;

/** Their names, without MPI_. */
extern const char *const collective_names[COLLECTIVES];

/** The one of this name.  Ends the job if there is none. */
collective_t collective_named(const char *name);

/** Numbers first .. first + count - 1 of what a rank of the communicator has. */
typedef void (*draw_t)(int rank, size_t first, size_t count, float *out);

typedef struct call {
    MPI_Comm comm;
    collective_t collective;
    numbers_t numbers;
    MPI_Op op; /* MPI_SUM or MPI_MAX */
    draw_t draw;
    size_t elems; /* of the vector, or of a block */
    bool in_place;
    bool persistent;  /* an allreduce by a request that is started once */
    bool other_types; /* of an allgather: types of the same signature, with gaps, on some ranks */
    bool is_short;    /* the last rank has SHORTAGE_BYTES of memory for it */
} call_t;

/** A sum of floats on MPI_COMM_WORLD. */
call_t call_of(collective_t collective, draw_t draw, size_t elems);

/** Of the results of all ranks together, each element of an allreduce or an allgather once. */
typedef struct errors {
    double elems;
    double off;         /* how many are not exact */
    double mean_square; /* of the errors */
    double mean_exact;  /* the mean square of the exact result */
    double worst;
    double largest; /* of the exact result */
    double nmse;    /* normalized mean square error, the largest of any block; or of the vector */
    double here;    /* the worst of this rank's result */
} errors_t;

/**
 * Make the call; collective over its communicator. Checks that nothing else was written, that what
 * is sent has not changed, and that an allreduce or an allgather has the same bytes on all ranks.
 * `kept`: gets the result, unless NULL.
 */
errors_t call_run(const call_t *call, void *kept);

/** FNV-1a, 64 bits, of words of 8 bytes.  Another value of one word is another hash. */
uint64_t hash_of(const void *data, size_t bytes);

/** Normally distributed numbers of variance 1. */
void draw_normals(int rank, size_t first, size_t count, float *out);

/** The first ones. */
void draw_normal(float *out, int rank, size_t elems);

/**
 * Whole numbers below WHOLE_RANGE: sums over 16 ranks are exact in floats, and far too fine for 8
 * bits, so that what was quantized shows.
 */
enum { WHOLE_RANGE = 1 << 20 };
void draw_wholes(int rank, size_t first, size_t count, float *out);

#endif
