/*
 * The communicators of the correctness matrix. Every rank's place in the
 * communicator, not in world, decides what it contributes: a result computed
 * over the wrong group or in the wrong rank order cannot pass.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "matrix.h"

enum { COMM_COUNT_LARGEST = 20000 };

static const size_t comm_counts[] = {0, 1, 2, 7, 14, 15, 1024, 2049, COMM_COUNT_LARGEST};

/* Every broad type with its first operation, on an intra- or inter-communicator. */
static void check_comm(MPI_Comm comm, uint64_t seed, bool inter, bool low_group)
{
    check_buffers_t buffers;
    oracle_t oracle;
    int rank;
    int ranks;
    int remote_ranks;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    remote_ranks = ranks;
    if (inter) {
        MPI_Comm_remote_size(comm, &remote_ranks);
    }
    for (size_t row = 0; row < type_table_rows; row++) {
        const type_row_t *type = &type_table[row];
        op_id_t op = type->ops & (1u << OP_SUM) ? OP_SUM : OP_MINLOC;
        draw_t mine = {op, seed, (unsigned) rank, (unsigned) ranks};
        draw_t remote = {op, seed, 0, (unsigned) remote_ranks};

        if (!type->broad) {
            continue;
        }
        if (inter) {
            mine.seed += low_group ? 1 : 2;
            remote.seed += low_group ? 2 : 1;
        }
        oracle_init_inter(&oracle, type, &mine, &remote, COMM_COUNT_LARGEST);
        check_buffers_init(&buffers, COMM_COUNT_LARGEST * type->extent_bytes);
        for (size_t i = 0; i < sizeof comm_counts / sizeof comm_counts[0]; i++) {
            for (int in_place = 0; in_place < (inter ? 1 : 2); in_place++) {
                call_t call = {comm, 0, comm_counts[i], in_place != 0};

                (void) check_allreduce(&oracle, &buffers, &call);
            }
        }
        check_buffers_fini(&buffers);
        oracle_fini(&oracle);
    }
}

static void check_inter(void)
{
    const char *description = "inter-communicator of the low and the high ranks";
    int low_ranks = (world_ranks + 1) / 2;
    bool low_group = world_rank < low_ranks;
    MPI_Comm local;
    MPI_Comm inter;

    if (world_ranks < 2) {
        tap_skip(description, "needs two ranks");
        return;
    }
    MPI_Comm_split(MPI_COMM_WORLD, low_group ? 0 : 1, world_rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, low_group ? low_ranks : 0, 1, &inter);
    check_comm(inter, 500, true, low_group);
    tap_case("%s", description);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
}

void matrix_check_communicators(void)
{
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    check_comm(comm, 100, false, false);
    tap_case("duplicate of world");
    MPI_Comm_free(&comm);

    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &comm);
    check_comm(comm, 200 + (uint64_t) (world_rank % 2), false, false);
    tap_case("even and odd ranks, at the same time");
    MPI_Comm_free(&comm);

    MPI_Comm_split(MPI_COMM_WORLD, 0, world_ranks - world_rank, &comm);
    check_comm(comm, 300, false, false);
    tap_case("world in reversed order");
    MPI_Comm_free(&comm);

    check_comm(MPI_COMM_SELF, 400 + (uint64_t) world_rank, false, false);
    tap_case("MPI_COMM_SELF");

    check_inter();
}
