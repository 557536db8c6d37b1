/*
 * Open MPI's functions as reducers (mca_bridge.h): where their operands lie.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <string.h>

#include "unit.h"
#include "mca_bridge.h"
#if OMPI_MAJOR_VERSION >= 5
#include "opal/mca/accelerator/accelerator.h"
#endif

enum { ELEMS = 400, PARTS = 3, STRICTEST_BYTES = 16 };

/* For MPI_LONG_DOUBLE, which has no kernel: as strict as a compiler may be. */
static void add(const void *left, void *right, const int *count)
{
    const long double *from = left;
    long double *to = right;

    assert_true(0 == (uintptr_t) left % STRICTEST_BYTES);
    assert_true(0 == (uintptr_t) right % STRICTEST_BYTES);
    for (int i = 0; i < *count; ++i) {
        to[i] += from[i];
    }
}

/* The parts lie so many bytes behind a multiple of the strictest alignment. */
static void check_sum(size_t off_bytes)
{
    struct ompi_op_t op = {.op_type = OMPI_OP_SUM, .o_flags = OMPI_OP_FLAGS_INTRINSIC};
    SCOPED unsigned char *memory = test_alloc(PARTS * (ELEMS + 1) * sizeof(long double));
    long double sum[ELEMS];
    const void *parts[PARTS];
    arc_reduction_t reduction;
    mca_bridge_t bridge;

    for (size_t i = 0; i < sizeof op.o_func.intrinsic.fns / sizeof op.o_func.intrinsic.fns[0];
         ++i) {
        op.o_func.intrinsic.fns[i] = (ompi_op_base_handler_fn_t) (void (*)(void)) add;
    }
    for (unsigned part = 0; part < PARTS; ++part) {
        unsigned char *at = memory + part * (ELEMS + 1) * sizeof(long double) + off_bytes;
        for (int i = 0; i < ELEMS; ++i) {
            const long double value = (long double) part * ELEMS + i;
            memcpy(at + (size_t) i * sizeof value, &value, sizeof value);
        }
        parts[part] = at;
    }
    mca_bridge_init(&bridge, arc_reduce_table(ARC_ISA_SCALAR), ARC_TYPE_UINT16);
    assert_int_equal(ARC_REASON_NONE,
                     mca_bridge_reduction(&bridge, &op, &ompi_mpi_long_double.dt, &reduction));
    reduction.reducer.reduce(parts, PARTS, sum, ELEMS, reduction.reducer.context);
    assert_int_equal(MPI_SUCCESS, reduction.error);
    for (int i = 0; i < ELEMS; ++i) {
        assert_true((long double) (PARTS * (PARTS - 1) / 2 * ELEMS + PARTS * i) == sum[i]);
    }
}

#if OMPI_MAJOR_VERSION >= 5
static int on_no_device(const void *address, int *device, uint64_t *flags)
{
    return 0;
}
#endif

TEST(operands_are_aligned_for_any_type)
{
#if OMPI_MAJOR_VERSION >= 5
    /* Copies of a type ask this, which MPI_Init sets. */
    opal_accelerator.check_addr = on_no_device;
#endif
    check_sum(0);
    check_sum(sizeof(uint64_t));
}
