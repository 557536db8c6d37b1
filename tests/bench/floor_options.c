/*
 * Command line of floor, and which cores it takes.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "bench_values.h"
#include "floor_options.h"

enum { PATH_BYTES = 80, LIST_BYTES = 256 };

static const struct option long_options[] = {
    {"message-size", required_argument, NULL, 'm'},
    {"iterations", required_argument, NULL, 'i'},
    {"warmup", required_argument, NULL, 'x'},
    {"windows", required_argument, NULL, 'w'},
    {"cores", required_argument, NULL, 'C'},
    {"ways", no_argument, NULL, 'a'},
    {"ping-pong", no_argument, NULL, 'p'},
    {"back-to-back", no_argument, NULL, 'b'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

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

static bool refuse_option(const char *option, const char *text, const char *allowed)
{
    fprintf(stderr, "floor: %s %s: must be %s\n", option, text, allowed);
    return false;
}

static bool parse_number(const char *option, const char *text, int min, int *number)
{
    return bench_parse_number(text, min, number) ||
           refuse_option(option, text, bench_number_allowed(min));
}

static bool parse_cores(floor_options_t *options, const char *text)
{
    char rest = '\0';

    if (sscanf(text, "%u,%u%c", &options->core[0], &options->core[1], &rest) != FLOOR_SIDES ||
        options->core[0] == options->core[1] || options->core[0] >= CPU_SETSIZE ||
        options->core[1] >= CPU_SETSIZE) {
        return refuse_option("--cores", text, "two different numbers of cores, A,B");
    }
    options->cores_told = true;
    return true;
}

static bool take_option(floor_options_t *options, int letter)
{
    switch (letter) {
    case 'm':
        return bench_parse_sizes(optarg, &options->min_bytes, &options->max_bytes) ||
               refuse_option("-m", optarg, BENCH_SIZES_ALLOWED);
    case 'i':
        return parse_number("-i", optarg, 1, &options->iterations);
    case 'x':
        return parse_number("-x", optarg, 0, &options->warmup);
    case 'w':
        return parse_number("--windows", optarg, 1, &options->windows);
    case 'C':
        return parse_cores(options, optarg);
    case 'a':
        options->ways = true;
        return true;
    case 'p':
        options->ping_pong = true;
        return true;
    case 'b':
        return true;
    default:
        options->help = letter == 'h';
        fputs(usage_text, options->help ? stdout : stderr);
        return false;
    }
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
    int letter;

    *options = (floor_options_t){.min_bytes = sizeof(float),
                                 .max_bytes = BENCH_DEFAULT_MAX_BYTES,
                                 .warmup = -1,
                                 .windows = 1};
    while ((letter = getopt_long(argc, argv, "m:i:x:h", long_options, NULL)) != -1) {
        if (!take_option(options, letter)) {
            return false;
        }
    }
    if (optind < argc) {
        return refuse_option("argument", argv[optind], "an option; --help lists them");
    }
    if (options->max_bytes < sizeof(float)) {
        return refuse_option("-m", "below 4", "at least one float");
    }
    if (!options->cores_told && !choose_cores(options->core)) {
        fprintf(stderr, "floor: two cores are needed, and this process may use only one\n");
        return false;
    }
    return true;
}
