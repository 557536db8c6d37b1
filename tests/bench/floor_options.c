/*
 * Command line of floor, and which cores it takes.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench_values.h"
#include "floor_options.h"
#include "options.h"

enum { PATH_BYTES = 80, LIST_BYTES = 256 };

static const char usage_text[] =
    "usage: floor [options]\n"
    "  -m, --message-size [MIN:]MAX  bytes; doubled from MIN on (default 4:1048576);\n"
    "                                k, M and G behind a number are powers of 1024\n"
    "  -i, --iterations N            default 1000 up to 8192 bytes, 100 above\n"
    "  -x, --warmup N                default 200 up to 8192 bytes, 10 above\n"
    "      --windows N               measure each size N times, a line each (default 1)\n"
    "      --cores A,B               where the threads run (default: the first two that\n"
    "                                this process may use, if possible not of one core)\n"
    "      --ways                    a line for each way, not for the fastest alone\n"
    "      --ping-pong               add how many ns a cache line takes between the cores:\n"
    "                                the slower of before and after\n"
    "      --back-to-back            accepted, as the time is always back to back\n";

static const char *parse_sizes(const char *text, void *of)
{
    floor_options_t *options = of;

    return bench_parse_sizes(text, &options->min_bytes, &options->max_bytes) ? NULL
                                                                             : BENCH_SIZES_ALLOWED;
}

static const char *parse_cores(const char *text, void *of)
{
    floor_options_t *options = of;
    char rest = '\0';

    options->cores_told = true;
    return sscanf(text, "%u,%u%c", &options->core[0], &options->core[1], &rest) == FLOOR_SIDES &&
                   options->core[0] != options->core[1] && options->core[0] < CPU_SETSIZE &&
                   options->core[1] < CPU_SETSIZE
               ? NULL
               : "two different numbers of cores, A,B";
}

/* ---- cores ---- */

/* The hardware threads of this one's core, as text; empty where that is not known. */
static void list_siblings(unsigned cpu, char list[LIST_BYTES])
{
    char path[PATH_BYTES];

    list[0] = '\0';
    (void) snprintf(path, sizeof path,
                    "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list", cpu);
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        if (fgets(list, LIST_BYTES, file) == NULL) {
            list[0] = '\0';
        }
        (void) fclose(file);
    }
}

/* The first hardware thread that we may use, and the first of another core, or else the second. */
static bool choose_cores(unsigned core[FLOOR_SIDES])
{
    cpu_set_t allowed;
    char first_list[LIST_BYTES];
    char list[LIST_BYTES];
    unsigned found = 0;

    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return false;
    }
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed)) {
            continue;
        }
        if (found < FLOOR_SIDES) {
            core[found++] = cpu;
        }
        list_siblings(cpu, list);
        if (cpu == core[0]) {
            memcpy(first_list, list, sizeof list);
        } else if (list[0] == '\0' || strcmp(list, first_list) != 0) {
            core[1] = cpu;
            break;
        }
    }
    return found == FLOOR_SIDES;
}

bool floor_options_parse(floor_options_t *options, int argc, char **argv)
{
    const option_row_t rows[] = {
        OPTION_BY('m', "message-size", parse_sizes, options),
        OPTION_FROM('i', "iterations", options->iterations, 1, INT_MAX),
        OPTION_FROM('x', "warmup", options->warmup, 0, INT_MAX),
        OPTION_FROM(0, "windows", options->windows, 1, INT_MAX),
        OPTION_BY(0, "cores", parse_cores, options),
        OPTION_NAMED("ways", options->ways),
        OPTION_NAMED("ping-pong", options->ping_pong),
        OPTION_NAMED("back-to-back", options->back_to_back),
        OPTION_FROM('h', "help", options->help, 0, 0),
        {.letter = 0},
    };

    *options = (floor_options_t){.min_bytes = sizeof(float),
                                 .max_bytes = BENCH_DEFAULT_MAX_BYTES,
                                 .warmup = -1,
                                 .windows = 1};
    const char *wrong = options_take(argc, argv, rows);
    if (wrong == NULL && options->help) {
        fputs(usage_text, stdout);
        return false;
    }
    wrong = wrong != NULL   ? wrong
            : optind < argc ? "an argument that is no option; --help lists these"
            : options->max_bytes < sizeof(float) ? "-m: must be at least one float"
            : !options->cores_told && !choose_cores(options->core)
                ? "two cores are needed, and this process may use only one"
                : NULL;
    if (wrong != NULL) {
        fprintf(stderr, "floor: %s\n", wrong);
    }
    return wrong == NULL;
}
