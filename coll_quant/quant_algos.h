/*
 * What an allreduce algorithm is: one row of a table.
 *
 * To add one: a file quant_<name>.c (and in Makefile.am) with these functions,
 * and a row in QUANT_ALGO_TABLE.  An algorithm allocates nothing: init() places its state and
 * buffers in memory of the caller, once per communicator; start() and the
 * progress of the task are the path of a call.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_ALGOS_H
#define QUANT_ALGOS_H

#include "quant_format.h"
#include "stream.h"
#include "task.h"

enum {
    /* A tile of 8 rows already pays 10 bits per element; one of 256 rows fills 64 KiB of cache. */
    QUANT_BLOCK_ROWS_MIN = 8,
    QUANT_BLOCK_ROWS_MAX = 256,

    /* 64 MiB of floats per message: far above what any network needs to be busy. */
    QUANT_SEGMENT_ELEMS_MAX = 1 << 24,

    /* See quant_ring.h for the smallest; more than 64 messages in flight hide nothing more. */
    QUANT_DEPTH_MIN = 3,
    QUANT_DEPTH_MAX = 64,

    /* Alignment of the memory of an algorithm: one cache line. */
    QUANT_MEMORY_ALIGN_BYTES = 64,
};

/*
 * Constant for the life of a communicator, equal on all its ranks; only the
 * kernels may differ, since all kernels give the same bits.
 *
 * The two formats make the four variants: int8 and int8 quantizes both stages,
 * int8 and fp32 only the reduce-scatter, fp32 and int8 only the allgather, fp32
 * and fp32 none.
 */
typedef struct quant_config {
    const quant_kernels_t *kernels;
    const quant_format_t *reduce_format; /* partial sums */
    const quant_format_t *gather_format; /* results */
    unsigned block_rows;                 /* rows of a tile */
    size_t segment_elems;                /* of a full message; a multiple of 64 * block_rows */
    unsigned depth;                      /* message buffers of one rank */
} quant_config_t;

/* ARC_ERR_INVALID if a value is outside the limits above. */
arc_status_t quant_config_check(const quant_config_t *config) ARC_MUST_CHECK;

/* One call.  `send` may be `recv` (in place); otherwise they do not overlap. */
typedef struct quant_operation {
    const float *send;
    float *recv;
    size_t count;      /* elements */
    uint32_t sequence; /* the same on all ranks, another one than that of the call before */
} quant_operation_t;

/* clang-format off */
/* X(prefix of its functions, name, description): the only list of algorithms. */
#define QUANT_ALGO_TABLE(X) \
    X(quant_ring, "full_loop", "one ring, partial sums quantized again at every rank")
/* clang-format on */

typedef struct quant_algo {
    const char *name;
    const char *description;

    /* Of one rank; the config is valid. */
    size_t (*memory_bytes)(const quant_config_t *config);

    /* `memory` is aligned to QUANT_MEMORY_ALIGN_BYTES; config's formats and kernels, the stream
     * and the memory outlive the task.  The task is part of the memory: nothing to free. */
    arc_task_t *(*init)(const quant_config_t *config, arc_stream_t *stream, void *memory);

    /* Make the task ready for a call; its progress does the work.  The task before is complete. */
    void (*start)(arc_task_t *task, const quant_operation_t *operation);

    /* Give all started messages up: after a time limit.  After an error it has been done. */
    void (*abort)(arc_task_t *task);

    /* Quantizations of the reduce-scatter, each weighted with its number of contributions. */
    double (*reduce_growth)(unsigned ranks);
} quant_algo_t;

/* NULL: there is no such algorithm. */
const quant_algo_t *quant_algo_by_name(const char *name);

/* The i-th algorithm, NULL after the last. */
const quant_algo_t *quant_algo_at(size_t index);

#endif
