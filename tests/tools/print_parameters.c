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

/* Those of coll_<component>, or those of both components that it has, too. */
static void print_table(const char *component, const arc_param_t *params, size_t count,
                        bool of_both)
{
    printf("\n## %s%s\n\n| parameter | default | allowed | ranks | level | what it does |\n"
           "|---|---|---|---|---|---|\n",
           of_both ? "Both components" : "coll_", of_both ? "" : component);
    for (size_t i = 0; i < count; ++i) {
        char value[TEXT_BYTES];
        char allowed[TEXT_BYTES];
        char name[TEXT_BYTES];

        if (arc_param_of_both(params[i].name) != of_both) {
            continue;
        }
        arc_param_name(component, params[i].name, name, sizeof name);
        arc_param_print(&params[i], params[i].default_value, value, sizeof value);
        arc_param_describe(&params[i], allowed, sizeof allowed);
        printf("| `%s` | %s | %s | %s | %d | %s |\n", name, value, allowed,
               ARC_PARAM_SCOPE_LOCAL == params[i].scope ? "each" : "all", params[i].level,
               params[i].help);
    }
}

int main(void)
{
    puts("# Parameters\n\n"
         "Made by `make docs` of `common/core/common_params.def`, `coll_lowlat/lowlat_params.def` "
         "and\n"
         "`coll_quant/policy/quant_params.def`. `ompi_info --param coll lowlat --level 9` prints "
         "the "
         "same, with arc in place of\n"
         "lowlat those of both components. Set them as any Open MPI parameter: `mpirun --mca NAME "
         "VALUE`, the environment\n"
         "variable `OMPI_MCA_NAME`, or a line in `~/.openmpi/mca-params.conf`. \"ranks\": whether "
         "all "
         "must have the same value, or\n"
         "each may have its own; where values differ that must not, the component stays out of the "
         "communicator and says so (but\n"
         "see tuning.md about priorities). A value that is not allowed on rank 0 is reported once; "
         "the default is used.");
    print_table("lowlat", lowlat_params, lowlat_params_count, true);
    print_table("lowlat", lowlat_params, lowlat_params_count, false);
    print_table("quant", quant_params, quant_params_count, false);
    puts("\n## Algorithms\n\n| component | algorithm | what it is |\n|---|---|---|");
    for (size_t i = 0; i < LOWLAT_ALGORITHMS; ++i) {
        printf("| coll_lowlat | `%s` | %s |\n", lowlat_algorithms[i].name,
               lowlat_algorithms[i].description);
    }
    for (size_t i = 0; NULL != quant_algo_at(i); ++i) {
        printf("| coll_quant | `%s` | %s |\n", quant_algo_at(i)->name,
               quant_algo_at(i)->description);
    }
    puts("\n## Performance variables of MPI_T\n\n"
         "Each is bound to a communicator. Counters count from the allocation of the handle.\n\n"
         "| variable | what it is |\n|---|---|");
#define QUANT_PVAR_CALLS(_name, _field, _help) puts("| `coll_quant_comm_" #_name "` | " _help " |");
#define QUANT_PVAR_NUMBER(_name, _field, _help) QUANT_PVAR_CALLS(_name, _field, _help)
#define QUANT_PVAR_STATE(_name, _help) puts("| `coll_quant_comm_" #_name "` | " _help " |");
#include "quant_pvars.def"
    puts("\n## Communicator info keys\n\n"
         "| key | values | what it does |\n"
         "|---|---|---|\n"
         "| `arc_quant` | off, on, a format, an error, or default | off: sums on this communicator "
         "stay exact. on: `coll_quant` may serve it, as its parameters say. A format: with it in "
         "place of `coll_quant_format`. A number between 0 and 1: with the cheapest format and "
         "algorithm below this error, in place of `coll_quant_target_nmse` and "
         "`coll_quant_format`. default: as `coll_quant_enable` says. Taken from the info of "
         "`MPI_Comm_dup_with_info` and its like, or from `MPI_Comm_set_info`, equal on all ranks. "
         "A duplicate made by `MPI_Comm_dup` does not inherit it. A value that is not allowed "
         "changes nothing and is reported. |\n"
         "| `arc_lowlat_choice`, `arc_quant_choice` | | Not to be set: what the component does on "
         "this communicator, and why, as a line of text. `MPI_Comm_get_info` has it once the "
         "component is set up there, and `coll_quant` only where it is switched on. |\n\n"
         "`MPI_Comm_get_info` shows `arc_quant` as the program has set it, and from the set-up "
         "of\n`coll_quant` on as it is in effect.");
    return 0;
}
