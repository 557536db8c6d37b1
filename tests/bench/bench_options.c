/*
 * Names and values on the command line; bench_options.h has the contract. Every
 * value is checked: a benchmark that takes nonsense for a zero prints numbers
 * that mean something else.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_options.h"

enum { DEFAULT_MAX_BYTES = 1 << 20 };

#define DEFINE_TYPE(_tag, _type)                                     \
    static void fill_##_tag(void *out, size_t count, unsigned shift) \
    {                                                                \
        _type *v = out;                                              \
        for (size_t i = 0; i < count; i++) {                         \
            v[i] = (_type) ((i + shift) % DATA_PERIOD + 1);          \
        }                                                            \
    }                                                                \
    static double get_##_tag(const void *in, size_t at)              \
    {                                                                \
        return (double) ((const _type *) in)[at];                    \
    }

DEFINE_TYPE(char, int8_t)
DEFINE_TYPE(short, short)
DEFINE_TYPE(int, int)
DEFINE_TYPE(long, long)
DEFINE_TYPE(float, float)
DEFINE_TYPE(double, double)

static const bench_type_t bench_types[] = {
    {"char", MPI_SIGNED_CHAR, sizeof(int8_t), fill_char, get_char},
    {"short", MPI_SHORT, sizeof(short), fill_short, get_short},
    {"int", MPI_INT, sizeof(int), fill_int, get_int},
    {"long", MPI_LONG, sizeof(long), fill_long, get_long},
    {"float", MPI_FLOAT, sizeof(float), fill_float, get_float},
    {"double", MPI_DOUBLE, sizeof(double), fill_double, get_double},
};

static double combine_sum(double a, double b)
{
    return a + b;
}

static double combine_max(double a, double b)
{
    return a > b ? a : b;
}

static double combine_min(double a, double b)
{
    return a < b ? a : b;
}

static const bench_op_t bench_ops[] = {
    {"sum", MPI_SUM, combine_sum},
    {"max", MPI_MAX, combine_max},
    {"min", MPI_MIN, combine_min},
};

static const struct option long_options[] = {
    {"message-size", required_argument, NULL, 'm'},
    {"iterations", required_argument, NULL, 'i'},
    {"warmup", required_argument, NULL, 'x'},
    {"type", required_argument, NULL, 'T'},
    {"op", required_argument, NULL, 'o'},
    {"validation", no_argument, NULL, 'c'},
    {"full", no_argument, NULL, 'f'},
    {"alternate-buffers", no_argument, NULL, 'A'},
    {"alter", no_argument, NULL, 'a'},
    {"skew", required_argument, NULL, 's'},
    {"in-place", no_argument, NULL, 'I'},
    {"back-to-back", no_argument, NULL, 'b'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static const char usage_text[] =
    "usage: arc_allreduce [options]\n"
    "  -m, --message-size [MIN:]MAX  bytes; doubled from MIN on (default 4:1048576);\n"
    "                                k, M and G behind a number are powers of 1024\n"
    "  -i, --iterations N            default 1000 up to 8192 bytes, 100 above\n"
    "  -x, --warmup N                default 200 up to 8192 bytes, 10 above\n"
    "  -T, --type TYPE               char short int long float double (default float), also\n"
    "                                with OSU's mpi_ in front\n"
    "  -o, --op OP                   sum max min (default sum)\n"
    "  -c, --validation              check every result\n"
    "  -f, --full                    minimum and maximum over the ranks, and iterations\n"
    "      --alternate-buffers       use two pairs of buffers in turn\n"
    "      --alter                   change the data before every call\n"
    "      --skew US                 each rank waits 0 .. US microseconds before every call\n"
    "      --in-place                MPI_IN_PLACE\n"
    "      --back-to-back            no barriers: total time of the slowest rank / iterations\n";

/* The only words about a wrong command line; rank 0 alone has a stream for them. */
static bool refuse(const options_t *options, const char *option, const char *text,
                   const char *allowed)
{
    if (options->speaks) {
        fprintf(stderr, "arc_allreduce: %s %s: must be %s\n", option, text, allowed);
    }
    return false;
}

/* A whole number with an optional k, M or G behind it; *end is behind that. */
static bool parse_bytes(const char *text, char **end, size_t *bytes)
{
    static const char suffixes[] = "kmg";
    unsigned shift = 0;

    if (!isdigit((unsigned char) *text)) {
        return false;
    }
    errno = 0;
    unsigned long long value = strtoull(text, end, 10);
    const char *suffix = **end == '\0' ? NULL : strchr(suffixes, tolower((unsigned char) **end));

    if (suffix != NULL) {
        shift = 10 * (unsigned) (suffix - suffixes + 1);
        (*end)++;
    }
    if (errno != 0 || value == 0 || value > (unsigned long long) INT_MAX >> shift) {
        return false;
    }
    *bytes = (size_t) value << shift;
    return true;
}

static bool parse_sizes(options_t *options, const char *text)
{
    size_t first_bytes = 0;
    size_t last_bytes = 0;
    char *end = NULL;
    bool good = parse_bytes(text, &end, &first_bytes);

    last_bytes = first_bytes;
    if (good && *end == ':') {
        good = parse_bytes(end + 1, &end, &last_bytes);
        options->min_bytes = first_bytes;
    }
    if (!good || *end != '\0' || last_bytes < options->min_bytes) {
        return refuse(options, "-m", text, "MAX or MIN:MAX, from 1 to 2147483647, MIN <= MAX");
    }
    options->max_bytes = last_bytes;
    return true;
}

static bool parse_number(const options_t *options, const char *option, const char *text, int min,
                         int *number)
{
    char *end = NULL;
    long value = strtol(text, &end, 10);

    if (end == text || *end != '\0' || value < min || value > INT_MAX) {
        return refuse(options, option, text,
                      min > 0 ? "a whole number from 1" : "a whole number from 0");
    }
    *number = (int) value;
    return true;
}

static bool parse_skew(options_t *options, const char *text)
{
    char *end = NULL;

    options->skew_us = strtod(text, &end);
    return (end != text && *end == '\0' && options->skew_us >= 0 && options->skew_us < 1e9) ||
           refuse(options, "--skew", text, "microseconds, not negative");
}

/* By our name, or OSU's: mpi_float. */
static const bench_type_t *find_type(const char *name)
{
    static const char osu_prefix[] = "mpi_";

    if (strncmp(name, osu_prefix, sizeof osu_prefix - 1) == 0) {
        name += sizeof osu_prefix - 1;
    }
    for (size_t i = 0; i < sizeof bench_types / sizeof bench_types[0]; i++) {
        if (strcmp(bench_types[i].name, name) == 0) {
            return &bench_types[i];
        }
    }
    return NULL;
}

static const bench_op_t *find_op(const char *name)
{
    for (size_t i = 0; i < sizeof bench_ops / sizeof bench_ops[0]; i++) {
        if (strcmp(bench_ops[i].name, name) == 0) {
            return &bench_ops[i];
        }
    }
    return NULL;
}

bool options_parse(options_t *options, int argc, char **argv)
{
    bool good = true;
    int letter;

    opterr = options->speaks;
    while (good && (letter = getopt_long(argc, argv, "m:i:x:T:o:cfh", long_options, NULL)) != -1) {
        switch (letter) {
        case 'm':
            good = parse_sizes(options, optarg);
            break;
        case 'i':
            good = parse_number(options, "-i", optarg, 1, &options->iterations);
            break;
        case 'x':
            good = parse_number(options, "-x", optarg, 0, &options->warmup);
            break;
        case 'T':
            options->type = find_type(optarg);
            good = options->type != NULL ||
                   refuse(options, "-T", optarg, "char, short, int, long, float or double");
            break;
        case 'o':
            options->op = find_op(optarg);
            good = options->op != NULL || refuse(options, "-o", optarg, "sum, max or min");
            break;
        case 's':
            good = parse_skew(options, optarg);
            break;
        case 'c':
            options->validate = 1;
            break;
        case 'f':
            options->full = 1;
            break;
        case 'A':
            options->alternate_buffers = 1;
            break;
        case 'a':
            options->alter = 1;
            break;
        case 'I':
            options->in_place = 1;
            break;
        case 'b':
            options->back_to_back = 1;
            break;
        default:
            if (options->speaks) {
                fputs(usage_text, letter == 'h' ? stdout : stderr);
            }
            options->help = letter == 'h';
            return false;
        }
    }
    if (good && optind < argc) {
        good = refuse(options, "argument", argv[optind], "an option; --help lists them");
    }
    return good;
}

options_t options_default(bool speaks)
{
    return (options_t){.min_bytes = sizeof(float),
                       .max_bytes = DEFAULT_MAX_BYTES,
                       .warmup = -1,
                       .type = find_type("float"),
                       .op = find_op("sum"),
                       .speaks = speaks};
}
