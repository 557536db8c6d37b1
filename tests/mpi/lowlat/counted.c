/*
 * Sums of integers, each element compared, of the lengths at which lines are counted
 * (test_lines.sh).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"
#include "sums.h"

int main(int argc, char **argv)
{
    enum { CALLS = 6 };
    static const int counts[] = {2, 16, 256, 1024, 4096, 16384};

    tap_begin(&argc, &argv);
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        for (int call = 0; call < CALLS; call++) {
            (void) sums_of(MPI_COMM_WORLD, MPI_INT, counts[c], call, false);
        }
    }
    tap_case("sums of which lines are counted");
    return tap_end();
}
