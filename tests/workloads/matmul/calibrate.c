/*
 * The rates of sgemm, memory, gets, accumulates and allreduce.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate.h"

enum {
    SIDE = 256, /* of a square matrix: 256 KiB, large enough that the rate has levelled off */
    ELEMENTS = SIDE * SIDE,
    CALLS = 10,
    ATTEMPTS = 3,
    FEW_ELEMENTS = 16, /* a message whose time is latency */
};

typedef struct bench {
    world_t *world;
    matrix_t shared; /* [ranks * SIDE][SIDE], one block of SIDE rows on each rank */
    float *own;      /* three matrices of SIDE x SIDE */
    size_t rows;     /* of the operation that is timed */
} bench_t;

typedef void (*operation_fn_t)(bench_t *bench);

static void run_gemm(bench_t *bench)
{
    float *a = bench->own;

    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SIDE, SIDE, SIDE, 1, a, SIDE,
                a + ELEMENTS, SIDE, 0, a + 2 * ELEMENTS, SIDE);
}

static void run_copy(bench_t *bench)
{
    memcpy(bench->own, bench->own + ELEMENTS, ELEMENTS * sizeof(float));
}

/* The first rows, or elements of a row, of the tile of the rank half-way around. */
static box_t find_neighbour(const bench_t *bench, tile_t *tile)
{
    const size_t ranks = (size_t) bench->world->ranks;

    *tile = (tile_t){{((size_t) bench->world->rank + (ranks + 1) / 2) % ranks, 0}};
    box_t part = layout_tile_bounds(&bench->shared.layout, *tile);
    part.side[ROW].end = part.side[ROW].begin + (bench->rows > 0 ? bench->rows : 1);
    part.side[COLUMN].end = bench->rows > 0 ? SIDE : FEW_ELEMENTS;
    return part;
}

static void run_get(bench_t *bench)
{
    MPI_Request request;
    tile_t tile;
    const box_t part = find_neighbour(bench, &tile);

    matrix_get_tile(&bench->shared, tile, part, bench->own, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void run_accumulate(bench_t *bench)
{
    MPI_Request request;
    tile_t tile;
    const box_t part = find_neighbour(bench, &tile);

    matrix_accumulate_tile(&bench->shared, tile, part, bench->own, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    matrix_flush(&bench->shared);
}

static void run_allreduce(bench_t *bench)
{
    const int count = (int) (bench->rows > 0 ? bench->rows * SIDE : FEW_ELEMENTS);

    MPI_Allreduce(MPI_IN_PLACE, bench->own, count, MPI_FLOAT, MPI_SUM, bench->world->comm);
}

/* Seconds of one of several calls that follow each other, on all ranks at the same time: ranks may
 * be more than cores.  The least of some attempts; the same on all ranks. */
static double time_operation(bench_t *bench, operation_fn_t operation, size_t rows)
{
    double least = 0;

    bench->rows = rows;
    operation(bench); /* warm */
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        MPI_Barrier(bench->world->comm);
        const double begin = MPI_Wtime();
        for (int call = 0; call < CALLS; call++) {
            operation(bench);
        }
        MPI_Barrier(bench->world->comm);
        const double seconds = (MPI_Wtime() - begin) / CALLS;
        least = 0 == attempt || seconds < least ? seconds : least;
    }
    least = least > 0 ? least : MPI_Wtick();
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MAX, bench->world->comm);
    return least;
}

static rate_t measure_rate(bench_t *bench, operation_fn_t operation, double bytes)
{
    const double latency = time_operation(bench, operation, 0);
    const double seconds = time_operation(bench, operation, SIDE);

    /* A machine that was busy with something else must not make the rate infinite. */
    return (rate_t){latency, bytes / (seconds > 2 * latency ? seconds - latency : seconds / 2)};
}

/* Whether all ranks share memory; collective. */
static bool is_one_node(const world_t *world)
{
    MPI_Comm node;
    int ranks = 0;

    MPI_Comm_split_type(world->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &ranks);
    MPI_Comm_free(&node);
    MPI_Allreduce(MPI_IN_PLACE, &ranks, 1, MPI_INT, MPI_MIN, world->comm);
    return ranks == world->ranks;
}

void calibrate(world_t *world, machine_t *machine)
{
    const size_t ranks = (size_t) world->ranks;
    const double bytes = ELEMENTS * sizeof(float);
    const layout_t layout = {.shape = {ranks * SIDE, SIDE},
                             .tile_shape = {SIDE, SIDE},
                             .grid = {ranks, 1},
                             .replication = 1};
    bench_t bench = {.world = world};

    bench.own = calloc(3 * (size_t) ELEMENTS, sizeof(float));
    if (NULL == bench.own) {
        MPI_Abort(world->comm, EXIT_FAILURE);
    }
    matrix_new(&bench.shared, &layout, world);
    memset(bench.shared.local, 0, bench.shared.local_count * sizeof(float));
    matrix_synchronize(&bench.shared);
    machine->flops = 2.0 * SIDE * ELEMENTS / time_operation(&bench, run_gemm, SIDE);
    machine->memory = 2 * bytes / time_operation(&bench, run_copy, SIDE);
    machine->get = measure_rate(&bench, run_get, bytes);
    machine->accumulate = measure_rate(&bench, run_accumulate, bytes);
    machine->reduce =
        measure_rate(&bench, run_allreduce, 2 * bytes * (double) (ranks - 1) / (double) ranks);
    /* Within a node a get is a copy that the rank itself makes. */
    machine->overlaps = !is_one_node(world);
    if (ranks == 1) {
        machine->reduce.bytes_per_second = machine->memory;
    }
    matrix_free(&bench.shared);
    free(bench.own);
}
