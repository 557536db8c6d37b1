/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"

numbers_t numbers_named(const char *name)
{
    const numbers_t all[] = {
        {"float", MPI_FLOAT, sizeof(float)},
        {"double", MPI_DOUBLE, sizeof(double)},
        {"bf16", MPI_UINT16_T, sizeof(uint16_t)},
        {"int", MPI_INT, sizeof(int)},
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (0 == strcmp(name, all[i].name)) {
            return all[i];
        }
    }
    fprintf(stderr, "no numbers are called %s\n", name);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    return all[0];
}
