/*
 * The hierarchical algorithm of coll_quant, wherever the ranks of a communicator are:
 *
 *   -p P   ranks on each node, of MPI_COMM_WORLD in their order (coll_arc_ranks_per_node);
 *          at least 2
 *
 * A message between nodes is rounded with what all P ranks of a node have, nothing is rounded on
 * a node: for data of variance v, with 8 bits and blocks of 64, the mean squared error is
 *
 *   c v (P R(n) + n P),   c = 3.56e-5
 *
 * for n nodes, with R(n) = n (n - 1)/2 for a chain of up to 4, (n^2 - n % 2)/4 for more.
 * Communicators without nodes of equally many ranks, more than one, are served by a loop of N
 * ranks: c v (R(N) + N).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "calls.h"
#include "growth.h"
#include "harness.h"

enum { ELEMS = 262144 };

static const double step_error = 3.56e-5;
static const double tolerance = 0.05;
static int per_node;

/* Numbers of a rank of the world: which communicator it is in, or where. */
typedef enum number { ALL, NODE, PLACE, LAST, RANK, DEALT, BACKWARDS, SHUFFLED } number_t;

/* What a communicator has of the world's ranks, and in which order. */
typedef struct shape {
    const char *name;
    bool levels;
    number_t color;
    number_t key;
} shape_t;

static int number_of(number_t number, int rank)
{
    switch (number) {
    case ALL:
        return 0;
    case NODE:
        return rank / per_node;
    case PLACE:
        return rank % per_node;
    case LAST:
        return rank == world_ranks - 1;
    case DEALT:
        return rank % per_node * world_ranks + rank / per_node;
    case BACKWARDS:
        return -rank;
    case SHUFFLED:
        return (int) (draw_bits(7, (unsigned) rank, 0) % 100000);
    default:
        return rank;
    }
}

static void check_error(MPI_Comm comm, int ranks, bool levels)
{
    const double rounded = levels ? per_node * growth_of_nodes((unsigned) (ranks / per_node))
                                  : growth_of_nodes((unsigned) ranks);
    const double expected = step_error * (rounded + ranks);
    SCOPED float *result = must_alloc(ELEMS * sizeof *result);
    SCOPED float *again = must_alloc(ELEMS * sizeof *again);
    call_t call = call_of(ALLREDUCE, draw_normals, ELEMS);

    call.comm = comm;
    const double mse = call_run(&call, result).mean_square;
    tap_check(fabs(mse / expected - 1) <= tolerance, "%d ranks: error %.4e instead of %.4e", ranks,
              mse, expected);
    call.in_place = true;
    (void) call_run(&call, again);
    tap_check(0 == memcmp(again, result, ELEMS * sizeof *again), "in place: other bytes");
}

static void check_shape(const shape_t *shape)
{
    MPI_Comm comm;
    int ranks;

    MPI_Comm_split(MPI_COMM_WORLD, number_of(shape->color, world_rank),
                   number_of(shape->key, world_rank), &comm);
    MPI_Comm_size(comm, &ranks);
    if (ranks > 1) {
        check_error(comm, ranks, shape->levels);
    }
    tap_case("%s", shape->name);
    MPI_Comm_free(&comm);
}

/* What was called before, with longer vectors, too, does not matter. */
static void check_again(void)
{
    static const int counts[] = {3000, 9000, 20000, 70001};
    SCOPED float *data = must_alloc(ELEMS * sizeof *data);
    SCOPED float *result = must_alloc(ELEMS * sizeof *result);
    SCOPED float *before = must_alloc(ELEMS * sizeof *before);

    draw_normal(data, world_rank, ELEMS);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        /* What the one before it had makes it no larger. */
        MPI_Comm comm = dup_of(MPI_COMM_WORLD);
        MPI_Allreduce(data, before, counts[i], MPI_FLOAT, MPI_SUM, comm);
        MPI_Allreduce(data, result, ELEMS, MPI_FLOAT, MPI_SUM, comm);
        MPI_Allreduce(data, result, counts[i], MPI_FLOAT, MPI_SUM, comm);
        tap_check(0 == memcmp(before, result, (size_t) counts[i] * sizeof *result),
                  "%d elements: other bytes after a longer call", counts[i]);
        MPI_Comm_free(&comm);
    }
    tap_case("the same bytes again after a longer call");
}

static const shape_t shapes[] = {
    {"node by node", true, ALL, RANK},
    {"dealt to the nodes in turn", true, ALL, DEALT},
    {"backwards", true, ALL, BACKWARDS},
    {"anywhere", true, ALL, SHUFFLED},
    {"one rank of each node: no levels", false, PLACE, RANK},
    {"one node: no levels", false, NODE, RANK},
    {"uneven nodes: no levels", false, LAST, RANK},
};

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('p', per_node));
    if (per_node < 2 || 0 != world_ranks % per_node) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        check_shape(&shapes[i]);
    }
    check_again();
    return tap_end();
}
