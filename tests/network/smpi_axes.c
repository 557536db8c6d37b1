/*
 * An allgather over one axis of a torus, and over both, by SimGrid's SMPI:
 *
 *     smpirun -np N*N ... smpi_axes BYTES...
 *
 * A ring sends half of each block in either direction.  Over one axis each row of the torus gathers
 * BYTES by itself.  Over both axes all nodes gather BYTES: one half of them along the rows and then
 * along the columns, the other half the other way round, at the same time, so that all links are
 * busy.  Prints for each length: bytes, microseconds over one axis and over both.  With up to
 * `CHECKED` bytes what was gathered is looked at; if it is wrong, nothing is printed.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { US = 1000000, CHECKED = 1 << 16, WAYS = 2 };

static int side;
static int place[2]; /* in the row, and in the column */
static MPI_Comm line[2];

/* Of both rings a step: the first half of a block goes on upwards, the second downwards. */
static int start_step(char *data, size_t block, int axis, int step, MPI_Request *requests)
{
    const int half = (int) (block / WAYS);

    for (int way = 0; way < WAYS; way++) {
        const int by = way == 0 ? 1 : side - 1;
        const int me = place[axis];
        const int to = (me + by) % side;
        const int from = (me + side - by) % side;
        char *sent = data + (size_t) ((me + side * side - by * step) % side) * block + way * half;
        char *got = data + (size_t) ((from + side * side - by * step) % side) * block + way * half;
        MPI_Irecv(got, half, MPI_BYTE, from, way, line[axis], requests++);
        MPI_Isend(sent, half, MPI_BYTE, to, way, line[axis], requests++);
    }
    return 2 * WAYS;
}

static void gather_one(char *data, size_t bytes)
{
    MPI_Request requests[2 * WAYS];

    for (int step = 0; step < side - 1; step++) {
        MPI_Waitall(start_step(data, bytes / side, 0, step, requests), requests,
                    MPI_STATUSES_IGNORE);
    }
}

/* Blocks of a half are ordered by the axis that comes last, and then by the one that comes first.
 */
static void gather_both(char *data, size_t bytes)
{
    const size_t part = bytes / 2 / side;
    MPI_Request requests[4 * WAYS];

    for (int phase = 0; phase < 2; phase++) {
        for (int step = 0; step < side - 1; step++) {
            int count = 0;
            for (int first = 0; first < 2; first++) {
                char *half = data + first * (bytes / 2);
                char *begin = phase == 0 ? half + place[!first] * part : half;
                count += start_step(begin, phase == 0 ? part / side : part, phase ? !first : first,
                                    step, requests + count);
            }
            MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        }
    }
}

/* A byte tells whose block it is of; only the own blocks are there. */
static void fill(char *data, size_t bytes, size_t block, size_t own, size_t blocks)
{
    for (size_t i = 0; i < bytes; i++) {
        const size_t number = i / block % blocks;
        data[i] = number == own ? (char) (number + 1) : 0;
    }
}

static int is_wrong(const char *data, size_t bytes, size_t block, size_t blocks)
{
    for (size_t i = 0; i < bytes; i++) {
        if (data[i] != (char) (i / block % blocks + 1)) {
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    int rank, ranks, wrong = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    while ((side + 1) * (side + 1) <= ranks) {
        side++;
    }
    place[0] = rank % side;
    place[1] = rank / side;
    MPI_Comm_split(MPI_COMM_WORLD, place[1], rank, &line[0]);
    MPI_Comm_split(MPI_COMM_WORLD, place[0], rank, &line[1]);
    for (int i = 1; i < argc; i++) {
        const size_t bytes = (size_t) atol(argv[i]);
        const size_t all = (size_t) side * side;
        char *data = bytes > CHECKED ? SMPI_SHARED_MALLOC(bytes) : malloc(bytes);
        double took[2];
        for (int both = 0; both < 2; both++) {
            const size_t block = bytes / (both ? 2 * all : side);
            const size_t blocks = both ? all : (size_t) side;
            if (bytes <= CHECKED) {
                fill(data, bytes, block, place[0], blocks);
            }
            if (both && bytes <= CHECKED) {
                fill(data, bytes / 2, block, place[1] * side + place[0], blocks);
                fill(data + bytes / 2, bytes / 2, block, place[0] * side + place[1], blocks);
            }
            MPI_Barrier(MPI_COMM_WORLD);
            took[both] = -MPI_Wtime();
            (both ? gather_both : gather_one)(data, bytes);
            took[both] += MPI_Wtime();
            wrong |= bytes <= CHECKED && is_wrong(data, bytes, block, blocks);
        }
        MPI_Allreduce(MPI_IN_PLACE, took, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (0 == rank && !wrong) {
            printf("%zu %.2f %.2f\n", bytes, took[0] * US, took[1] * US);
        }
    }
    MPI_Finalize();
    return wrong;
}
