/*
 * Operations of the program on types whose extent is negative, so that element 0 is the last in
 * memory, or huge. The operation is a sum of small integers; where the elements of a vector are
 * is a table.
 *
 *   -f   also an extent of 2^40 bytes, on all ranks or on one only, for which there is no memory:
 *        where the type has it the call returns MPI_ERR_NO_MEM, elsewhere the sums are right, and
 *        so are those of the next call. For coll_lowlat on one node.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#include "config.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include "harness.h"

enum { LARGEST = 1000, MARGIN_BYTES = 256, GAP_VALUE = 0x6B, FAR_COUNT = 10, NOBODY = -1 };

static const int counts[] = {1, 10, 100, LARGEST};
static const MPI_Aint far_extent = (MPI_Aint) 1 << 40;
/* What a process may map in all: the vector, but not two copies of it in addition. */
static const rlim_t far_limit = (rlim_t) 1 << 44;

#ifdef __SANITIZE_ADDRESS__
static const bool sanitized = true; /* the shadow of the memory alone is more than far_limit */
#else
static const bool sanitized = false;
#endif

/** A double of a type, in bytes from the address given to MPI. */
typedef struct row {
    const char *name;
    MPI_Aint at;
    MPI_Aint lower_bound;
    MPI_Aint extent;
} row_t;

static const row_t rows[] = {
    {"backwards", 0, 0, -8},
    {"backwards with gaps", 0, 0, -24},
    {"backwards, lower bound above 0", 0, 16, -16},
    {"backwards, lower bound below 0", 0, -8, -40},
    {"backwards, begins behind its address", 72, 0, -16},
    {"backwards, begins before its address", -104, -104, -8},
    {"forwards, lower bound above 0", 8, 4, 24},
};
static const row_t near_row = {"near", 0, 0, 8};

static const row_t *current_row;

static void sum_op(void *in, void *inout, int *count, MPI_Datatype *type)
{
    for (int i = 0; i < *count; i++) {
        const ptrdiff_t offset = i * current_row->extent + current_row->at;
        double a;
        double b;

        memcpy(&a, (char *) in + offset, sizeof a);
        memcpy(&b, (char *) inout + offset, sizeof b);
        b += a;
        memcpy((char *) inout + offset, &b, sizeof b);
    }
}

static MPI_Datatype make_type(const row_t *row)
{
    const int length = 1;
    const MPI_Datatype of = MPI_DOUBLE;
    MPI_Datatype at;
    MPI_Datatype type;

    MPI_Type_create_struct(1, &length, &row->at, &of, &at);
    MPI_Type_create_resized(at, row->lower_bound, row->extent, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&at);
    return type;
}

static void fill_element(unsigned char *element, int count)
{
    for (int i = 0; i < count; i++) {
        const double value = i + world_rank;
        memcpy(element + i * current_row->extent + current_row->at, &value, sizeof value);
    }
}

/* Sums in their places, which are then made gaps. */
static void check_sums(unsigned char *element, int count)
{
    for (int i = 0; i < count; i++) {
        const double expected = (double) i * world_ranks + world_ranks * (world_ranks - 1) / 2;
        unsigned char *at = element + i * current_row->extent + current_row->at;
        double got;

        memcpy(&got, at, sizeof got);
        memset(at, GAP_VALUE, sizeof got);
        tap_check(got == expected, "%s, count %d: element %d is %g instead of %g",
                  current_row->name, count, i, got, expected);
    }
}

static void check_row(const row_t *row, MPI_Op op, int count)
{
    const size_t step = (size_t) (row->extent < 0 ? -row->extent : row->extent);
    const size_t bytes = (size_t) count * step + 2 * MARGIN_BYTES;
    const size_t first = MARGIN_BYTES + (row->extent < 0 ? (size_t) (count - 1) * step : 0);
    MPI_Datatype type = make_type(row);
    unsigned char *send = must_alloc(bytes);
    unsigned char *receive = must_alloc(bytes);

    current_row = row;
    for (int in_place = 0; in_place < 2; in_place++) {
        memset(send, GAP_VALUE, bytes);
        memset(receive, GAP_VALUE, bytes);
        fill_element((in_place ? receive : send) + first, count);
        const int status = MPI_Allreduce(in_place ? MPI_IN_PLACE : send + first, receive + first,
                                         count, type, op, MPI_COMM_WORLD);
        tap_check(status == MPI_SUCCESS, "count %d: status %d", count, status);
        check_sums(receive + first, count);
        for (size_t i = 0; i < bytes; i++) {
            if (receive[i] != GAP_VALUE) {
                tap_fail("count %d: wrote into a gap, byte %zu", count, i);
                break;
            }
        }
    }
    MPI_Type_free(&type);
    free(send);
    free(receive);
}

/* `far_rank` has the type of huge extent; NOBODY: all have. */
static void check_far(MPI_Op op, int far_rank, int count, int expected)
{
    const row_t far_row = {"far", 0, 0, far_extent};
    const bool far = far_rank == NOBODY || far_rank == world_rank;
    const row_t *row = far ? &far_row : &near_row;
    const size_t bytes = (size_t) (count - 1) * (size_t) row->extent + sizeof(double);
    MPI_Datatype type = make_type(row);
    unsigned char *vector = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (vector == MAP_FAILED) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    current_row = row;
    fill_element(vector, count);
    const int status = MPI_Allreduce(MPI_IN_PLACE, vector, count, type, op, MPI_COMM_WORLD);
    const int wanted = far ? expected : MPI_SUCCESS;

    tap_check(status == wanted, "count %d: status %d instead of %d", count, status, wanted);
    if (status == MPI_SUCCESS) {
        check_sums(vector, count);
    }
    munmap(vector, bytes);
    MPI_Type_free(&type);
}

/* Malloc must fail here, also where the system promises more memory than it has. */
static void limit_memory(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_AS, &limit) != 0) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > far_limit) {
        limit.rlim_cur = far_limit;
        setrlimit(RLIMIT_AS, &limit);
    }
}

int main(int argc, char **argv)
{
    bool far = false;
    MPI_Op op;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('f', far));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Op_create(sum_op, 1, &op);
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            check_row(&rows[r], op, counts[c]);
        }
        tap_case("%s", rows[r].name);
    }
    if (far && !sanitized) {
        limit_memory();
        for (int far_rank = NOBODY; far_rank < world_ranks; far_rank++) {
            check_far(op, far_rank, 1, MPI_SUCCESS);
            check_far(op, far_rank, FAR_COUNT, MPI_ERR_NO_MEM);
            check_row(&rows[0], op, LARGEST);
        }
        tap_case("no memory for elements that are far from each other");
    }
    MPI_Op_free(&op);
    return tap_end();
}
