/*
 * A program in an Open MPI that says it is another release, that of $ARC_TEST_RELEASE: the function
 * that tells the release is replaced by one of the program's own, which the components find first.
 * They must decline, with one line each, and the program must run.  What a tool puts in front of
 * that function is not for them.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"
#include "sums.h"

static bool asked_tool;

int MPI_Get_library_version(char *version, int *length)
{
    asked_tool = true;
    return PMPI_Get_library_version(version, length);
}

int PMPI_Get_library_version(char *version, int *length)
{
    const char *release = getenv("ARC_TEST_RELEASE");

    *length = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING,
                       "Open MPI v%s, package: not the one the components were built for",
                       NULL == release ? "" : release);
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    enum { ELEMS = 1 << 17 };

    tap_begin(&argc, &argv);
    for (int elems = 1; elems <= ELEMS; elems *= 2) {
        (void) sums_of(MPI_COMM_WORLD, MPI_FLOAT, elems, elems, true);
    }
    tap_check(!asked_tool, "a component asks a tool for the release");
    tap_case("sums are right under another release");
    return tap_end();
}
