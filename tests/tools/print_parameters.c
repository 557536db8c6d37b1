/*
 * Prints docs/parameters.md from the components' parameter tables.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>

#include "lowlat_select.h"
#include "quant_settings.h"

enum { TEXT_BYTES = 256 };

static void print_table(const char *component, const arc_param_t *params, size_t count)
{
    printf("\n## coll_%s\n\n| parameter | default | allowed | level | what it does |\n"
           "|---|---|---|---|---|\n",
           component);
    for (size_t i = 0; i < count; ++i) {
        char value[TEXT_BYTES];
        char allowed[TEXT_BYTES];
        arc_param_print(&params[i], params[i].default_value, value, sizeof value);
        arc_param_describe(&params[i], allowed, sizeof allowed);
        printf("| `coll_%s_%s` | %s | %s | %d | %s |\n", component, params[i].name, value, allowed,
               params[i].level, params[i].help);
    }
}

int main(void)
{
    puts("# Parameters\n\n"
         "Generated from `coll_lowlat/lowlat_params.def` and `coll_quant/quant_params.def`;\n"
         "`make docs` writes this file anew. `ompi_info --param coll lowlat --level 9` prints the\n"
         "same. Set them as any Open MPI parameter: `mpirun --mca NAME VALUE`, the environment\n"
         "variable `OMPI_MCA_NAME`, or a line in `~/.openmpi/mca-params.conf`; the same on all\n"
         "ranks. A value that is not allowed is reported once and the default is used.");
    print_table("lowlat", lowlat_params, lowlat_params_count);
    print_table("quant", quant_params, quant_params_count);
    puts("\n## Communicator info keys\n\n"
         "| key | values | what it does |\n"
         "|---|---|---|\n"
         "| `arc_quant` | off, on, or a format name | Whether, and with which format, `coll_quant` "
         "may serve this communicator; overrides `coll_quant_enable`. Taken from the info of "
         "`MPI_Comm_dup_with_info` and its like, or from `MPI_Comm_set_info`, equal on all ranks. "
         "A duplicate made by `MPI_Comm_dup` does not inherit it. |");
    return 0;
}
