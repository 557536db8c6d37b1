/*
 * Prints documents from the components' parameter tables:
 *
 *   print_parameters              docs/parameters.md
 *   print_parameters PAGE.7.in    a man page: the text of docs/man, in which a line "@NAME@" stands
 * for the table of that name
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lowlat_select.h"
#include "quant_settings.h"

enum { TEXT_BYTES = 256, MAX_COLUMNS = 6 };

typedef struct table {
    const char *name;
    const char *title; /* in parameters.md; NULL: more rows of the table before */
    const char *heads[MAX_COLUMNS + 1];
    void (*print_rows)(const struct table *table);
    /* Of parameters: those of coll_<component>, or those of both components that it has, too. */
    const char *component;
    const arc_param_t *params;
    bool of_both;
} table_t;

static bool as_man;

/* In a man page what is between backticks is bold. */
static void print_text(const char *text)
{
    bool bold = false;

    for (; '\0' != *text; ++text) {
        if (as_man && '`' == *text) {
            bold = !bold;
            fputs(bold ? "\\fB" : "\\fP", stdout);
        } else if (as_man && ('-' == *text || '\\' == *text)) {
            fputs('-' == *text ? "\\-" : "\\e", stdout);
        } else {
            putchar(*text);
        }
    }
}

/*
 * One with as many cells as the table has heads; in a man page the name, the text, and what is
 * between them and not empty.
 */
static void print_row(const table_t *table, const char *const *cells)
{
    size_t last = 0;

    while (NULL != table->heads[last + 1]) {
        ++last;
    }
    for (size_t cell = 0; !as_man && cell <= last; ++cell) {
        printf("%s %s |", 0 == cell ? "|" : "", cells[cell]);
    }
    if (as_man) {
        puts(".TP");
        print_text(cells[0]);
        putchar('\n');
        print_text(cells[last]);
        const char *before = "\n.br\n";
        for (size_t cell = 1; cell < last; ++cell) {
            if ('\0' != *cells[cell]) {
                printf("%s\\fI%s\\fP: ", before, table->heads[cell]);
                print_text(cells[cell]);
                before = "; ";
            }
        }
    }
    putchar('\n');
}

static void print_params(const table_t *table)
{
    for (const arc_param_t *param = table->params; NULL != param->name; ++param) {
        char value[TEXT_BYTES];
        char allowed[TEXT_BYTES];
        char name[TEXT_BYTES];
        char quoted[TEXT_BYTES + 2];
        const char level[] = {(char) ('0' + param->level), '\0'};

        if (arc_param_of_both(param->name) != table->of_both) {
            continue;
        }
        arc_param_name(table->component, param->name, name, sizeof name);
        snprintf(quoted, sizeof quoted, "`%s`", name);
        arc_param_print(param, param->default_value, value, sizeof value);
        arc_param_describe(param, allowed, sizeof allowed);
        print_row(table, (const char *[]){quoted, value, allowed,
                                          ARC_PARAM_SCOPE_LOCAL == param->scope ? "each" : "all",
                                          level, param->help});
    }
}

static void print_algorithm(const table_t *table, const char *component, const char *name,
                            const char *description)
{
    char quoted[TEXT_BYTES];

    snprintf(quoted, sizeof quoted, "`%s`", name);
    /* A man page is about one component. */
    print_row(table, (const char *[]){quoted, as_man ? "" : component, description});
}

static void print_lowlat_algorithms(const table_t *table)
{
    for (size_t i = 0; i < LOWLAT_ALGORITHMS; ++i) {
        print_algorithm(table, "coll_lowlat", lowlat_algorithms[i].name,
                        lowlat_algorithms[i].description);
    }
}

static void print_quant_algorithms(const table_t *table)
{
    for (size_t i = 0; NULL != quant_algo_at(i); ++i) {
        print_algorithm(table, "coll_quant", quant_algo_at(i)->name, quant_algo_at(i)->description);
    }
}

#define ARC_PVAR_CALLS(_name, _field, _help) ARC_PVAR_STATE(_name, _field, _help)
#define ARC_PVAR_NUMBER(_name, _field, _help) ARC_PVAR_STATE(_name, _field, _help)

static void print_lowlat_pvars(const table_t *table)
{
#define ARC_PVAR_STATE(_name, _field, _help) \
    print_row(table, (const char *[]){"`coll_lowlat_comm_" #_name "`", _help});
#include "lowlat_pvars.def"
#undef ARC_PVAR_STATE
}

static void print_quant_pvars(const table_t *table)
{
#define ARC_PVAR_STATE(_name, _field, _help) \
    print_row(table, (const char *[]){"`coll_quant_comm_" #_name "`", _help});
#include "quant_pvars.def"
}

static void print_keys(const table_t *table)
{
    print_row(
        table,
        (const char *[]){
            "`arc_quant`", "off, on, a format, an error, or default",
            "off: sums on this communicator stay exact. on: `coll_quant` may serve it, as its "
            "parameters say. A format: with it in place of `coll_quant_format`. A number between 0 "
            "and 1: with the cheapest format and algorithm below this error, in place of "
            "`coll_quant_target_nmse` and `coll_quant_format`. default: as `coll_quant_enable` "
            "says. Taken from the info of `MPI_Comm_dup_with_info` and its like, or from "
            "`MPI_Comm_set_info`, equal on all ranks. A duplicate made by `MPI_Comm_dup` does not "
            "inherit it. A value that is not allowed changes nothing and is reported. "
            "`MPI_Comm_get_info` has what is in effect after a blocking call that sets "
            "`coll_quant` up."});
    print_row(
        table,
        (const char *[]){
            "`arc_lowlat_choice`, `arc_quant_choice`", "",
            "Not to be set: what the component does on this communicator, and why, as a line of "
            "text. `MPI_Comm_get_info` has it once the component is set up there, and `coll_quant` "
            "only where it is switched on. With MPI_THREAD_MULTIPLE what a nonblocking call "
            "changes is not shown. In Open MPI 4.1 it is hidden when a program gives "
            "`MPI_Comm_set_info` what it got from `MPI_Comm_get_info`."});
}

/* clang-format off */
#define PARAMETERS "parameter", "default", "allowed", "ranks", "level", "what it does"
#define ALGORITHMS "algorithm", "component", "what it is"
#define VARIABLES "variable", "what it is"
static const table_t tables[] = {
    {"both", "Both components", {PARAMETERS}, print_params, "lowlat", lowlat_params, true},
    {"lowlat", "coll_lowlat", {PARAMETERS}, print_params, "lowlat", lowlat_params, false},
    {"quant", "coll_quant", {PARAMETERS}, print_params, "quant", quant_params, false},
    {"lowlat_algorithms", "Algorithms", {ALGORITHMS}, print_lowlat_algorithms, NULL, NULL, false},
    {"quant_algorithms", NULL, {ALGORITHMS}, print_quant_algorithms, NULL, NULL, false},
    {"lowlat_pvars", "Performance variables of MPI_T\n\n"
     "Each is bound to a communicator. Counters count from the allocation of the handle.",
     {VARIABLES}, print_lowlat_pvars, NULL, NULL, false},
    {"quant_pvars", NULL, {VARIABLES}, print_quant_pvars, NULL, NULL, false},
    {"keys", "Communicator info keys", {"key", "values", "what it does"}, print_keys,
     NULL, NULL, false},
};
/* clang-format on */
enum { TABLES = sizeof tables / sizeof tables[0] };

static void print_head(const table_t *table)
{
    printf("\n## %s\n\n|", table->title);
    for (size_t column = 0; NULL != table->heads[column]; ++column) {
        printf(" %s |", table->heads[column]);
    }
    fputs("\n|", stdout);
    for (size_t column = 0; NULL != table->heads[column]; ++column) {
        fputs("---|", stdout);
    }
    putchar('\n');
}

static int print_page(const char *path)
{
    char line[TEXT_BYTES];
    FILE *page = fopen(path, "r");

    as_man = true;
    if (NULL == page) {
        perror(path);
        return EXIT_FAILURE;
    }
    while (NULL != fgets(line, sizeof line, page)) {
        size_t table = 0;
        char name[TEXT_BYTES];

        if (1 != sscanf(line, "@%[^@]@", name)) {
            fputs(line, stdout);
            continue;
        }
        while (table < TABLES && 0 != strcmp(tables[table].name, name)) {
            ++table;
        }
        if (TABLES == table) {
            fprintf(stderr, "%s: there is no table %s\n", path, name);
            return EXIT_FAILURE;
        }
        tables[table].print_rows(&tables[table]);
    }
    fclose(page);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        return print_page(argv[1]);
    }
    puts("# Parameters\n\nMade by `make docs` of `common/core/common_params.def`, "
         "`coll_lowlat/lowlat_params.def` and\n`coll_quant/policy/quant_params.def`. `ompi_info "
         "--param coll lowlat --level 9` prints the same, with arc in place of\nlowlat those of "
         "both components. Set them as any Open MPI parameter: `mpirun --mca NAME VALUE`, the "
         "environment\nvariable `OMPI_MCA_NAME`, or a line in `~/.openmpi/mca-params.conf`. "
         "\"ranks\": whether all must have the same value, or\neach may have its own; where "
         "values differ that must not, the component stays out of the communicator and says so "
         "(but\nsee tuning.md about priorities). Each component reports a value that is not "
         "allowed on rank 0; the default is used.");
    for (size_t table = 0; table < TABLES; ++table) {
        if (NULL != tables[table].title) {
            print_head(&tables[table]);
        }
        tables[table].print_rows(&tables[table]);
    }
    puts("\n`MPI_Comm_get_info` shows `arc_quant` as the program has set it, and from the set-up "
         "of\n`coll_quant` on as it is in effect.");
    return EXIT_SUCCESS;
}
