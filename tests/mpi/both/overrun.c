/*
 * A program that is wrong: it hands over memory of so many floats and says that there is one more.
 * Sanitizers in the components must notice who reads it (test_few.sh).
 *
 *   overrun [-n floats]
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"

int main(int argc, char **argv)
{
    int floats = 1;

    MPI_Init(&argc, &argv);
    TAKE_OPTIONS(OPTION('n', floats));
    SCOPED float *in = must_alloc((size_t) floats * sizeof *in);
    SCOPED float *out = must_alloc(((size_t) floats + 1) * sizeof *out);

    for (int i = 0; i < floats; i++) {
        in[i] = 1;
    }
    MPI_Allreduce(in, out, floats + 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
