/*
 * An ordinary MPI program, for demo.sh: it knows nothing of ARC.
 *
 *   solver     conjugate gradients on a 1-D Poisson equation, the rows divided
 *              among the ranks: two 8-byte sums in every iteration
 *   sums       the time of MPI_Allreduce at three sizes
 *   gradients  the sum of a million random floats, as data-parallel training
 *              does it, compared with the exact one
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 256, /* of a rank */
    MAX_ITERATIONS = 20000,
    GRADIENTS = 1 << 20,
    ROUNDS = 15,
};

static int rank, ranks;

static double dot(const double *a, const double *b)
{
    double part = 0;
    double sum = 0;
    for (int i = 0; i < ROWS; ++i) {
        part += a[i] * b[i];
    }
    MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/* y = A x for the matrix with 2 on the diagonal and -1 beside it. */
static void multiply(double *x, double *y)
{
    const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    const int right = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;

    x[-1] = 0;
    x[ROWS] = 0;
    MPI_Sendrecv(&x[0], 1, MPI_DOUBLE, left, 0, &x[ROWS], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&x[ROWS - 1], 1, MPI_DOUBLE, right, 1, &x[-1], 1, MPI_DOUBLE, left, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < ROWS; ++i) {
        y[i] = 2 * x[i] - x[i - 1] - x[i + 1];
    }
}

static void solve(void)
{
    static double x[ROWS], r[ROWS], q[ROWS], with_halo[ROWS + 2];
    double *p = with_halo + 1;
    int iterations = 0;

    for (int i = 0; i < ROWS; ++i) {
        r[i] = 1 + (rank * ROWS + i) % 7;
        p[i] = r[i];
    }
    double rr = dot(r, r);
    const double goal = rr * 1e-20;
    while (rr > goal && iterations < MAX_ITERATIONS) {
        multiply(p, q);
        const double alpha = rr / dot(p, q);
        for (int i = 0; i < ROWS; ++i) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        const double next = dot(r, r);
        for (int i = 0; i < ROWS; ++i) {
            p[i] = r[i] + next / rr * p[i];
        }
        rr = next;
        ++iterations;
    }
    if (0 == rank) {
        printf("solver_iterations %d\nsolver_residual %.2e\n", iterations, sqrt(rr));
    }
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *) a;
    const double y = *(const double *) b;
    return (x > y) - (x < y);
}

/* Median over rounds of the time of a call, in microseconds. */
static void measure(const char *name, int bytes, int calls)
{
    double times[ROUNDS];
    double *in = calloc(1, (size_t) bytes);
    double *out = calloc(1, (size_t) bytes);

    for (int round = 0; round < ROUNDS; ++round) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        for (int call = 0; call < calls; ++call) {
            MPI_Allreduce(in, out, bytes / (int) sizeof(double), MPI_DOUBLE, MPI_SUM,
                          MPI_COMM_WORLD);
        }
        times[round] = (MPI_Wtime() - start) / calls * 1e6;
    }
    qsort(times, ROUNDS, sizeof times[0], compare);
    if (0 == rank) {
        printf("us_per_%s_sum %.2f\n", name, times[ROUNDS / 2]);
    }
    free(in);
    free(out);
}

static float gradient(int of_rank, int i)
{
    unsigned x = (unsigned) i * 2654435761u ^ (unsigned) (of_rank + 1) * 2246822519u;
    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    return (float) x / 4294967296.0f - 0.5f;
}

static void sum_gradients(void)
{
    double times[ROUNDS];
    double squares = 0;
    float *mine = malloc(GRADIENTS * sizeof *mine);
    float *sum = malloc(GRADIENTS * sizeof *sum);

    for (int i = 0; i < GRADIENTS; ++i) {
        mine[i] = gradient(rank, i);
    }
    for (int round = 0; round < ROUNDS; ++round) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        MPI_Allreduce(mine, sum, GRADIENTS, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        times[round] = (MPI_Wtime() - start) * 1e6;
    }
    for (int i = 0; i < GRADIENTS; ++i) {
        double exact = 0;
        for (int other = 0; other < ranks; ++other) {
            exact += gradient(other, i);
        }
        squares += (sum[i] - exact) * (sum[i] - exact);
    }
    qsort(times, ROUNDS, sizeof times[0], compare);
    if (0 == rank) {
        printf("us_per_4_MiB_gradient_sum %.0f\ngradient_rms_error %.1e\n", times[ROUNDS / 2],
               sqrt(squares / GRADIENTS));
    }
    free(mine);
    free(sum);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    solve();
    measure("8_byte", 8, 5000);
    measure("4_KiB", 4096, 1000);
    measure("16_KiB", 16384, 500);
    sum_gradients();
    MPI_Finalize();
    return 0;
}
