/*
 * Rates of links and of multiplications.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "rates.h"

#include <stdlib.h>

enum {
    TAG = 1,
    WARM_UP = 3, /* TCP's window has opened */
    SHIFTS = 9,  /* odd: has a median */
    SHORT_SHIFTS = 101,
    EXTENT = 512, /* of the matrices that are multiplied */
    PRODUCTS = 9,
};

static const double flops_per_product = 2.0 * EXTENT * EXTENT * EXTENT;

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *) a;
    const double y = *(const double *) b;
    return (x > y) - (x < y);
}

double shard_rates_median(double *seconds, unsigned count)
{
    qsort(seconds, count, sizeof seconds[0], compare_doubles);
    return seconds[count / 2];
}

double shard_rates_most(double seconds)
{
    double slowest = 0;

    MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

double shard_rates_shift(MPI_Comm ring, shard_block_t message[2], int floats)
{
    int rank = 0;
    int ranks = 0;

    MPI_Comm_rank(ring, &rank);
    MPI_Comm_size(ring, &ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    MPI_Sendrecv(message[0].value, floats, MPI_FLOAT, (rank + 1) % ranks, TAG, message[1].value,
                 floats, MPI_FLOAT, (rank + ranks - 1) % ranks, TAG, ring, MPI_STATUS_IGNORE);
    return shard_rates_most(MPI_Wtime() - begin);
}

shard_link_t shard_rates_link(double none_seconds, double all_seconds)
{
    const double bytes = SHARD_LONG_FLOATS * sizeof(float);
    const double seconds = all_seconds > none_seconds ? all_seconds - none_seconds : all_seconds;

    return (shard_link_t){.bytes_per_second = bytes / seconds, .message_seconds = none_seconds};
}

/* The median of some shifts. */
static double time_shifts(MPI_Comm ring, shard_block_t message[2], int floats, unsigned shifts)
{
    double seconds[SHORT_SHIFTS] = {0};

    for (unsigned i = 0; i < WARM_UP + shifts; ++i) {
        seconds[i < WARM_UP ? 0 : i - WARM_UP] = shard_rates_shift(ring, message, floats);
    }
    return shard_rates_median(seconds, shifts);
}

double shard_rates_message(MPI_Comm ring, shard_block_t message[2])
{
    return time_shifts(ring, message, 1, SHORT_SHIFTS);
}

void shard_rates_messages_new(shard_block_t message[2])
{
    for (unsigned i = 0; i < 2; ++i) {
        message[i] = shard_block_new(1, SHARD_LONG_FLOATS);
        shard_block_fill(&message[i], SHARD_A, 0, 0);
    }
}

void shard_rates_messages_free(shard_block_t message[2])
{
    shard_block_free(&message[0]);
    shard_block_free(&message[1]);
}

void shard_rates_measure_links(const shard_grid_t *grid, shard_network_t *network)
{
    shard_block_t message[2];

    shard_rates_messages_new(message);
    for (unsigned axis = 0; axis < grid->mesh->axes; ++axis) {
        const MPI_Comm ring = grid->group[1U << axis];
        const double none_seconds = shard_rates_message(ring, message);
        network->link[axis] =
            shard_rates_link(none_seconds, time_shifts(ring, message, SHARD_LONG_FLOATS, SHIFTS));
    }
    shard_rates_messages_free(message);
}

void shard_rates_measure_flops(shard_network_t *network)
{
    shard_block_t left = shard_block_new(EXTENT, EXTENT);
    shard_block_t right = shard_block_new(EXTENT, EXTENT);
    double seconds[PRODUCTS];

    shard_block_fill(&left, SHARD_A, 0, 0);
    shard_block_fill(&right, SHARD_B, 0, 0);
    for (unsigned i = 0; i < WARM_UP + PRODUCTS; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        shard_block_t product = shard_block_multiply(&left, &right);
        const double slowest = shard_rates_most(MPI_Wtime() - begin);
        seconds[i < WARM_UP ? 0 : i - WARM_UP] = slowest;
        shard_block_free(&product);
    }
    network->flops_per_second = flops_per_product / shard_rates_median(seconds, PRODUCTS);
    shard_block_free(&left);
    shard_block_free(&right);
}
