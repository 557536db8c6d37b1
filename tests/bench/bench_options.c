/*
 * Names and values on the command line; bench_options.h has the contract. Every
 * value is checked: a benchmark that takes nonsense for a zero prints numbers
 * that mean something else.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <getopt.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_options.h"
#include "bench_values.h"

enum { LIMIT_US = 1000000 }; /* a wait of seconds before each call is a typing error */

/* What -T takes: name, MPI datatype, C type. */
/* clang-format off */
#define BENCH_TYPES(_macro)                \
    _macro(char, MPI_SIGNED_CHAR, int8_t)  \
    _macro(short, MPI_SHORT, short)        \
    _macro(int, MPI_INT, int)              \
    _macro(long, MPI_LONG, long)           \
    _macro(int8, MPI_INT8_T, int8_t)       \
    _macro(int16, MPI_INT16_T, int16_t)    \
    _macro(int32, MPI_INT32_T, int32_t)    \
    _macro(int64, MPI_INT64_T, int64_t)    \
    _macro(uint8, MPI_UINT8_T, uint8_t)    \
    _macro(uint16, MPI_UINT16_T, uint16_t) \
    _macro(uint32, MPI_UINT32_T, uint32_t) \
    _macro(uint64, MPI_UINT64_T, uint64_t) \
    _macro(float, MPI_FLOAT, float)        \
    _macro(double, MPI_DOUBLE, double)
/* clang-format on */

#define DEFINE_TYPE(_name, _handle, _type)                            \
    static void fill_##_name(void *out, size_t count, unsigned shift) \
    {                                                                 \
        _type *v = out;                                               \
        for (size_t i = 0; i < count; i++) {                          \
            v[i] = (_type) ((i + shift) % DATA_PERIOD + 1);           \
        }                                                             \
    }                                                                 \
    static double get_##_name(const void *in, size_t at)              \
    {                                                                 \
        return (double) ((const _type *) in)[at];                     \
    }
BENCH_TYPES(DEFINE_TYPE)

/* The upper halves of floats: to be added as such with coll_quant_types bf16 and the like. */
enum { BF16_SHIFT = 16 };

static void fill_bf16(void *out, size_t count, unsigned shift)
{
    uint16_t *v = out;
    for (size_t i = 0; i < count; i++) {
        const float number = (float) ((i + shift) % DATA_PERIOD + 1);
        uint32_t bits = 0;
        memcpy(&bits, &number, sizeof bits);
        v[i] = (uint16_t) (bits >> BF16_SHIFT);
    }
}

static double get_bf16(const void *in, size_t at)
{
    const uint32_t bits = (uint32_t) ((const uint16_t *) in)[at] << BF16_SHIFT;
    float number = 0;
    memcpy(&number, &bits, sizeof number);
    return (double) number;
}

/*
 * IEEE 754's binary16: a bit of sign, 5 of the exponent, FP16_BIAS more than it is, and the
 * fraction behind a 1 that is not there.  Again to be added as such.
 */
enum { FP16_FRACTION_BITS = 10, FP16_BIAS = 15, FP16_EXPONENTS = 31 };

static void fill_fp16(void *out, size_t count, unsigned shift)
{
    uint16_t *v = out;
    for (size_t i = 0; i < count; i++) {
        const unsigned number = (unsigned) ((i + shift) % DATA_PERIOD + 1);
        unsigned exponent = 0;
        while (number >> exponent > 1) {
            exponent++;
        }
        const unsigned fraction =
            (number << FP16_FRACTION_BITS >> exponent) & ((1U << FP16_FRACTION_BITS) - 1);
        v[i] = (uint16_t) ((exponent + FP16_BIAS) << FP16_FRACTION_BITS | fraction);
    }
}

static double get_fp16(const void *in, size_t at)
{
    const unsigned bits = ((const uint16_t *) in)[at];
    const unsigned one = 1U << FP16_FRACTION_BITS;
    const unsigned fraction = bits & (one - 1);
    const unsigned exponent = bits >> FP16_FRACTION_BITS & FP16_EXPONENTS;

    if (exponent == 0 || exponent == FP16_EXPONENTS || bits >> FP16_BIAS != 0) {
        return NAN; /* no sum of ours */
    }
    return (double) ((uint64_t) (one + fraction) << exponent) /
           (double) (UINT64_C(1) << (FP16_BIAS + FP16_FRACTION_BITS));
}

#define TYPE_ROW(_name, _handle, _type) {#_name, _handle, sizeof(_type), fill_##_name, get_##_name},
static const bench_type_t bench_types[] = {
    BENCH_TYPES(TYPE_ROW){"bf16", MPI_UINT16_T, sizeof(uint16_t), fill_bf16, get_bf16},
    {"fp16", MPI_UINT16_T, sizeof(uint16_t), fill_fp16, get_fp16},
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
    {"collective", required_argument, NULL, 'L'},
    {"validation", no_argument, NULL, 'c'},
    {"full", no_argument, NULL, 'f'},
    {"alternate-buffers", no_argument, NULL, 'A'},
    {"alter", no_argument, NULL, 'a'},
    {"skew", required_argument, NULL, 's'},
    {"compute", required_argument, NULL, 'C'},
    {"in-place", no_argument, NULL, 'I'},
    {"back-to-back", no_argument, NULL, 'b'},
    {"shuffle", no_argument, NULL, 'S'},
    {"barrier", no_argument, NULL, 'B'},
    {"windows", required_argument, NULL, 'w'},
    {"ping-pong", no_argument, NULL, 'p'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* Options without a value: where they are noted. */
static const struct flag {
    int letter;
    size_t offset;
} flags[] = {
    {'c', offsetof(options_t, validate)},          {'f', offsetof(options_t, full)},
    {'A', offsetof(options_t, alternate_buffers)}, {'a', offsetof(options_t, alter)},
    {'I', offsetof(options_t, in_place)},          {'b', offsetof(options_t, back_to_back)},
    {'S', offsetof(options_t, shuffle)},           {'p', offsetof(options_t, ping_pong)},
    {'B', offsetof(options_t, barrier)},
};

static const char allowed_types[] =
    "char, short, int, long, int8 to int64, uint8 to uint64, float, double, bf16 or fp16";

static const char usage_text[] =
    "usage: arc_allreduce [options]\n"
    "  -m, --message-size [MIN:]MAX  bytes; doubled from MIN on (default 4:1048576);\n"
    "                                k, M and G behind a number are powers of 1024\n"
    "  -i, --iterations N            default 1000 up to 8192 bytes, 100 above\n"
    "  -x, --warmup N                default 200 up to 8192 bytes, 10 above\n"
    "  -T, --type TYPE               char short int long int8 int16 int32 int64 uint8 uint16\n"
    "                                uint32 uint64 float double (default float), also with\n"
    "                                OSU's mpi_ in front; bf16 and fp16, in MPI_UINT16_T\n"
    "  -o, --op OP                   sum max min (default sum)\n"
    "      --collective NAME         allreduce (default), reduce_scatter_block or allgather;\n"
    "                                the size is that of the blocks of all ranks together\n"
    "  -c, --validation              check every result\n"
    "  -f, --full                    minimum and maximum over the ranks, and iterations\n"
    "      --alternate-buffers       use two pairs of buffers in turn\n"
    "      --alter                   change the data before every call\n"
    "      --skew US                 each rank waits 0 .. US microseconds before every call\n"
    "      --compute US              spin US microseconds before every call; only the time\n"
    "                                inside MPI_Allreduce counts, with --back-to-back too\n"
    "      --in-place                MPI_IN_PLACE\n"
    "      --back-to-back            no barriers: total time of the slowest rank / iterations\n"
    "      --barrier                 MPI_Barrier before every call, in its time\n"
    "      --shuffle                 the calls of all sizes in one random order, the same on\n"
    "                                all ranks and every time; time per call, no barriers\n"
    "      --windows N               measure each size N times, a line each (default 1)\n"
    "      --ping-pong               add how many ns a cache line takes between the cores of\n"
    "                                ranks 0 and 1: the slower of before and after; - if\n"
    "                                there is one rank only, or several nodes\n";

/* The only words about a wrong command line; rank 0 alone has a stream for them. */
static bool refuse_option(const options_t *options, const char *option, const char *text,
                          const char *allowed)
{
    if (options->speaks) {
        fprintf(stderr, "arc_allreduce: %s %s: must be %s\n", option, text, allowed);
    }
    return false;
}

static bool parse_sizes(options_t *options, const char *text)
{
    return bench_parse_sizes(text, &options->min_bytes, &options->max_bytes) ||
           refuse_option(options, "-m", text, BENCH_SIZES_ALLOWED);
}

static bool parse_number(const options_t *options, const char *option, const char *text, int min,
                         int *number)
{
    return bench_parse_number(text, min, number) ||
           refuse_option(options, option, text, bench_number_allowed(min));
}

static bool parse_microseconds(const options_t *options, const char *option, const char *text,
                               double *us)
{
    char *end = NULL;
    double value = strtod(text, &end);

    /* Written so that it refuses NaN. */
    if (end == text || *end != '\0' || !(value >= 0 && value < LIMIT_US)) {
        return refuse_option(options, option, text, "microseconds, from 0 to below a second");
    }
    *us = value;
    return true;
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

/* The names in the order of collective_t. */
static const char *const collective_names[] = {"allreduce", "reduce_scatter_block", "allgather"};

const char *options_collective(const options_t *options)
{
    return collective_names[options->collective];
}

static bool parse_collective(options_t *options, const char *text)
{
    for (size_t i = 0; i < sizeof collective_names / sizeof collective_names[0]; i++) {
        if (strcmp(collective_names[i], text) == 0) {
            options->collective = (collective_t) i;
            return true;
        }
    }
    return refuse_option(options, "--collective", text,
                         "allreduce, reduce_scatter_block or allgather");
}

/* One option that has a value. */
static bool parse_value(options_t *options, int letter, const char *text)
{
    switch (letter) {
    case 'm':
        return parse_sizes(options, text);
    case 'i':
        return parse_number(options, "-i", text, 1, &options->iterations);
    case 'x':
        return parse_number(options, "-x", text, 0, &options->warmup);
    case 'w':
        return parse_number(options, "--windows", text, 1, &options->windows);
    case 's':
        return parse_microseconds(options, "--skew", text, &options->skew_us);
    case 'C':
        return parse_microseconds(options, "--compute", text, &options->compute_us);
    case 'L':
        return parse_collective(options, text);
    case 'T':
        options->type = find_type(text);
        return options->type != NULL || refuse_option(options, "-T", text, allowed_types);
    default:
        options->op = find_op(text);
        return options->op != NULL || refuse_option(options, "-o", text, "sum, max or min");
    }
}

/* One option without a value; false when there is none of that letter. */
static bool set_flag(options_t *options, int letter)
{
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (flags[i].letter == letter) {
            *(bool *) ((char *) options + flags[i].offset) = true;
            return true;
        }
    }
    return false;
}

bool options_parse(options_t *options, int argc, char **argv)
{
    bool good = true;
    int letter;

    opterr = options->speaks;
    while (good && (letter = getopt_long(argc, argv, "m:i:x:T:o:cfh", long_options, NULL)) != -1) {
        if (letter == 'h' || letter == '?') {
            if (options->speaks) {
                fputs(usage_text, letter == 'h' ? stdout : stderr);
            }
            options->help = letter == 'h';
            return false;
        }
        good = set_flag(options, letter) || parse_value(options, letter, optarg);
    }
    if (good && optind < argc) {
        good = refuse_option(options, "argument", argv[optind], "an option; --help lists them");
    }
    if (good && options->max_bytes < options->type->elem_bytes) {
        good = refuse_option(options, "-T", options->type->name,
                             "a type that fits into the largest size");
    }
    if (good && options->shuffle && options->back_to_back) {
        good = refuse_option(options, "--shuffle", "--back-to-back", "one of the two");
    }
    return good;
}

options_t options_default(bool speaks)
{
    return (options_t){.min_bytes = sizeof(float),
                       .max_bytes = BENCH_DEFAULT_MAX_BYTES,
                       .warmup = -1,
                       .windows = 1,
                       .type = find_type("float"),
                       .op = find_op("sum"),
                       .speaks = speaks};
}
