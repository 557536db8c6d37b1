/*
 * Command line of arc_allreduce: what to run, with the datatypes and operations
 * that can be chosen by name.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_BENCH_OPTIONS_H
#define ARC_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#include "bench_values.h"

enum { DATA_PERIOD = 5 }; /* values 1 .. 5 keep sums of bf16 exact up to 51 ranks */

typedef void fill_fn_t(void *out, size_t count, unsigned shift);
typedef double get_fn_t(const void *in, size_t at);

typedef struct bench_type {
    const char *name;
    MPI_Datatype handle;
    size_t elem_bytes;
    fill_fn_t *fill;
    get_fn_t *get;
} bench_type_t;

typedef struct bench_op {
    const char *name;
    MPI_Op handle;
    double (*combine)(double a, double b);
} bench_op_t;

/* What is called; MPI_Reduce_scatter_block and MPI_Allgather with a block for each rank. */
typedef enum collective {
    ALLREDUCE,
    REDUCE_SCATTER_BLOCK,
    ALLGATHER,
} collective_t;

typedef struct options {
    collective_t collective;
    bench_run_t run;
    const bench_type_t *type;
    const bench_op_t *op;
    double skew_us;
    double compute_us;
    bool validate;
    bool alternate_buffers;
    bool alter;
    bool in_place;
    bool barrier;
    bool greet;
    bool shuffle;
    bool speaks; /* this is the rank that talks to the user */
} options_t;

/** Defaults of everything; `speaks`: this rank prints the messages. */
options_t options_default(bool speaks);

/** The name of what is called. */
const char *options_collective(const options_t *options);

/** False when the command line is wrong or asks for help; then it has been said. Local. */
bool options_parse(options_t *options, int argc, char **argv);

#endif
