/*
 * Names and values on the command line; bench_options.h has the contract. Every
 * value is checked: a benchmark that takes nonsense for a zero prints numbers
 * that mean something else.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench_options.h"
#include "half_oracle.h"

enum { LIMIT_US = 1000000 }; /* a wait of more than a second before each call is a typing error */

/* What -T takes: name, MPI datatype, C type. */
/* clang-format off */
#define BENCH_TYPES(_macro)         \
    _macro(int, MPI_INT, int)       \
    _macro(float, MPI_FLOAT, float) \
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

/* 1 to 5 in 16-bit floats, to be added as such with coll_quant_types bf16 and the like. */
#define DEFINE_HALF(_name, ...)                                         \
    static void fill_##_name(void *out, size_t count, unsigned shift)   \
    {                                                                   \
        static const uint16_t data[DATA_PERIOD] = {__VA_ARGS__};        \
        uint16_t *v = out;                                              \
        for (size_t i = 0; i < count; i++) {                            \
            v[i] = data[(i + shift) % DATA_PERIOD];                     \
        }                                                               \
    }                                                                   \
    static double get_##_name(const void *in, size_t at)                \
    {                                                                   \
        return half_number(&half_##_name, ((const uint16_t *) in)[at]); \
    }
DEFINE_HALF(bf16, 0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0)
DEFINE_HALF(fp16, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500)

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

static const char usage_text[] =
    "usage: arc_allreduce [options]\n" BENCH_RUN_USAGE
    "  -T, --type TYPE               int float double (default float); bf16 and fp16, in\n"
    "                                MPI_UINT16_T\n"
    "  -o, --op OP                   sum max min (default sum)\n"
    "      --collective NAME         allreduce (default), reduce_scatter_block or allgather;\n"
    "                                the size is that of the blocks of all ranks together\n"
    "  -c, --validation              check every result\n"
    "      --alternate-buffers       use two pairs of buffers in turn\n"
    "      --alter                   change the data before every call\n"
    "      --skew US                 each rank waits 0 .. US microseconds before every call\n"
    "      --compute US              spin US microseconds before every call; only the time\n"
    "                                inside MPI_Allreduce counts, with --back-to-back too\n"
    "      --in-place                MPI_IN_PLACE\n"
    "      --back-to-back            no barriers: total time of the slowest rank / iterations\n"
    "      --barrier                 MPI_Barrier before every call, in its time\n"
    "      --greet                   exchange a byte with each other rank first, so that\n"
    "                                all connections are there\n"
    "      --shuffle                 the calls of all sizes in one random order, the same on\n"
    "                                all ranks and every time; time per call, no barriers\n";

static const char *parse_type(const char *name, void *type)
{
    for (size_t i = 0; i < sizeof bench_types / sizeof bench_types[0]; i++) {
        if (strcmp(bench_types[i].name, name) == 0) {
            *(const bench_type_t **) type = &bench_types[i];
            return NULL;
        }
    }
    return "int, float, double, bf16 or fp16";
}

static const char *parse_op(const char *name, void *op)
{
    for (size_t i = 0; i < sizeof bench_ops / sizeof bench_ops[0]; i++) {
        if (strcmp(bench_ops[i].name, name) == 0) {
            *(const bench_op_t **) op = &bench_ops[i];
            return NULL;
        }
    }
    return "sum, max or min";
}

/* The names in the order of collective_t. */
static const char *const collective_names[] = {"allreduce", "reduce_scatter_block", "allgather"};

const char *options_collective(const options_t *options)
{
    return collective_names[options->collective];
}

static const char *parse_collective(const char *text, void *collective)
{
    for (size_t i = 0; i < sizeof collective_names / sizeof collective_names[0]; i++) {
        if (strcmp(collective_names[i], text) == 0) {
            *(collective_t *) collective = (collective_t) i;
            return NULL;
        }
    }
    return "allreduce, reduce_scatter_block or allgather";
}

/* NULL, or what is wrong. */
static const char *find_fault(const options_t *options, int operands)
{
    return operands > 0 ? BENCH_NO_OPERANDS
           : options->run.max_bytes < options->type->elem_bytes
               ? "-T: must be a type that fits into the largest size"
           : options->shuffle && options->run.back_to_back
               ? "--shuffle, --back-to-back: must be one of the two"
               : NULL;
}

bool options_parse(options_t *options, int argc, char **argv)
{
    const option_row_t rows[] = {
        OPTION_BY('T', "type", parse_type, &options->type),
        OPTION_BY('o', "op", parse_op, &options->op),
        OPTION_BY(0, "collective", parse_collective, &options->collective),
        OPTION_FROM('c', "validation", options->validate, 0, 0),
        OPTION_NAMED("alternate-buffers", options->alternate_buffers),
        OPTION_NAMED("alter", options->alter),
        OPTION_FROM(0, "skew", options->skew_us, 0, LIMIT_US),
        OPTION_FROM(0, "compute", options->compute_us, 0, LIMIT_US),
        OPTION_NAMED("in-place", options->in_place),
        OPTION_NAMED("shuffle", options->shuffle),
        OPTION_NAMED("barrier", options->barrier),
        OPTION_NAMED("greet", options->greet),
        BENCH_RUN_ROWS(options->run),
        {.letter = 0},
    };
    const char *wrong = options_take(argc, argv, rows);

    wrong = wrong != NULL || options->run.help ? wrong : find_fault(options, argc - optind);
    if (wrong != NULL && options->speaks) {
        fprintf(stderr, "arc_allreduce: %s\n", wrong);
    } else if (options->run.help && options->speaks) {
        fputs(usage_text, stdout);
    }
    return wrong == NULL && !options->run.help;
}

options_t options_default(bool speaks)
{
    options_t options = {.run = BENCH_RUN_DEFAULT, .speaks = speaks};

    (void) parse_type("float", &options.type);
    (void) parse_op("sum", &options.op);
    return options;
}
