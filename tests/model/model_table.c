/*
 * model_table MACHINE_FILE [RANKS [BYTES [ALGORITHM [NS]]]]: what calls take on a machine, as rows
 * of docs/data/model_node.csv.  NS: what an exchange between nodes takes, of a chunk (`between`).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model_between.h"
#include "model_job.h"

static const unsigned all_ranks[] = {2, 8, 16, 32, 64, 96, 128, 192, 256};
static const size_t all_bytes[] = {8, 64, 1024, 4096, 16384, 65536, 262144};
enum {
    RANKS = sizeof all_ranks / sizeof all_ranks[0],
    BYTES = sizeof all_bytes / sizeof all_bytes[0],
    NAME_BYTES = 64
};
/*
 * What reads far more than others do is left out where nobody would take it: its simulation would
 * take most of the time of the table.  `between` has a table of its own.
 */
static bool is_worth(const char *algorithm, unsigned ranks, size_t bytes)
{
    enum { MOST_BYTES = 16 << 10, MOST_BYTES_READ = 16 << 20, MOST_BYTES_OF_ALL = 32 << 20 };

    if (ranks * bytes > MOST_BYTES_OF_ALL) {
        return false;
    }
    if (NULL != strstr(algorithm, "oneshot")) {
        return (size_t) ranks * ranks * bytes <= MOST_BYTES_READ;
    }
    return NULL == strstr(algorithm, "between") &&
           (ranks <= 8 || bytes <= MOST_BYTES || NULL == strstr(algorithm, "half"));
}

/* "machines/epyc-9654.txt": "epyc-9654" */
static void name_machine(const char *path, char name[NAME_BYTES])
{
    const char *slash = strrchr(path, '/');

    (void) snprintf(name, NAME_BYTES, "%s", NULL == slash ? path : slash + 1);
    name[strcspn(name, ".")] = '\0';
}

static bool print_case(const char *path, const model_case_t *what)
{
    model_result_t result;
    char machine[NAME_BYTES];

    name_machine(path, machine);
    if (!model_job_run(what, &result)) {
        fprintf(stderr, "model_table: %s on %s fails: %u ranks, %zu bytes\n", what->algorithm,
                machine, what->ranks, what->bytes);
        return false;
    }
    const char *taken = model_job_auto(what);
    (void) printf("%s,%u,%zu,%s,%s,%.3f,%.1f,%.1f,%.1f\n", machine, what->ranks, what->bytes,
                  what->algorithm,
                  NULL != taken && 0 == strcmp(taken, what->algorithm) ? "yes" : "", result.us,
                  result.lines_read, result.lines_fetched, result.lines_across);
    return 0 == fflush(stdout);
}

static unsigned long number(int argc, char **argv, int index)
{
    return argc > index ? strtoul(argv[index], NULL, 10) : 0;
}

int main(int argc, char **argv)
{
    model_machine_t machine;
    const unsigned only_ranks = (unsigned) number(argc, argv, 2);
    const size_t only_bytes = number(argc, argv, 3);
    bool good = true;

    model_between_ns = (double) number(argc, argv, 5);
    if (argc < 2 || !model_machine_read(argv[1], &machine)) {
        fprintf(stderr, "usage: model_table MACHINE_FILE [RANKS [BYTES [ALGORITHM [NS]]]]\n");
        return 2;
    }
    for (unsigned r = 0; r < (0 == only_ranks ? RANKS : 1); ++r) {
        const unsigned ranks = 0 == only_ranks ? all_ranks[r] : only_ranks;
        for (unsigned b = 0; b < (0 == only_bytes ? BYTES : 1) && ranks <= machine.cores; ++b) {
            const size_t bytes = 0 == only_bytes ? all_bytes[b] : only_bytes;
            for (unsigned i = 0; NULL != model_job_name(i) && (0 == i || argc <= 4); ++i) {
                const model_case_t what = {.machine = &machine,
                                           .algorithm = argc > 4 ? argv[4] : model_job_name(i),
                                           .ranks = ranks,
                                           .bytes = bytes};
                if (argc > 4 || is_worth(what.algorithm, ranks, bytes)) {
                    good = print_case(argv[1], &what) && good;
                }
            }
        }
    }
    return good ? 0 : 1;
}
