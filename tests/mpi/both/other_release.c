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

/* None of a component that is not used: what they read depends on the release. */
static void check_variables(void)
{
    enum { NAME_BYTES = 256 };
    int provided = 0;
    int count = 0;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_get_num(&count);
    for (int i = 0; i < count; i++) {
        char name[NAME_BYTES];
        int bytes = sizeof name;
        int ignored = 0;
        MPI_T_enum no_enum = MPI_T_ENUM_NULL;
        MPI_Datatype type = MPI_DATATYPE_NULL;

        if (MPI_SUCCESS == MPI_T_pvar_get_info(i, name, &bytes, &ignored, &ignored, &type, &no_enum,
                                               NULL, NULL, &ignored, &ignored, &ignored,
                                               &ignored)) {
            tap_check(NULL == strstr(name, "coll_lowlat") && NULL == strstr(name, "coll_quant"),
                      "there is %s", name);
        }
    }
    MPI_T_finalize();
}

int main(int argc, char **argv)
{
    enum { ELEMS = 1 << 17 };

    tap_begin(&argc, &argv);
    for (int elems = 1; elems <= ELEMS; elems *= 2) {
        (void) sums_of(MPI_COMM_WORLD, MPI_FLOAT, elems, elems, true);
    }
    check_variables();
    tap_check(!asked_tool, "a component asks a tool for the release");
    tap_case("sums are right under another release");
    return tap_end();
}
