/*
 * The mean squared error of an allreduce by every algorithm of coll_quant, for each
 * stage and for both, in the formats asked for:
 *
 *   bench_error [-n RANKS] [-e ELEMENTS] [-m MINISHARDS] FORMAT ...
 *   bench_error                             which formats there are
 *
 * Schedules, messages and codec are the component's; all ranks are in this process, on a
 * simulated network without delays. The inputs are standard normals. Every row is
 * measured twice.
 *
 *   exact      floats in, floats out, against the sum in double precision; the stage that is
 *              not quantized travels in fp32, as in the component
 *   baseline   as EQuARX was measured: inputs rounded to bf16, the result rounded to bf16,
 *              against a ring whose partial sums and totals are bf16; the stage that is not
 *              quantized travels in bf16
 *
 * Two more rows, both with inputs of bf16: bf16_baseline is that ring itself, exact: against
 * the sum of its inputs. e5m2_naive, with fp8_e5m2, is a ring of casts to that format, without
 * scales, whose inputs are rounded to it first.
 *
 * With levels, two ranks are on each node; their bytes are those between nodes.
 *
 * Prints tab-separated columns with a header; a theory of "-": there is none. bytes is what
 * an element takes on the wire, scales and headers included, the mean of both stages; block is how
 * many numbers share a scale.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "quant_algos.h"
#include "quant_mse.h"
#include "quant_job.h"
#include "exchange_layout.h"
#include "quant_settings.h"
#include "quant_wire.h"

enum {
    SEED = 20261120,
    BLOCK_ROWS = 64,
    SEGMENT_BYTES = 61440,                        /* the component's default */
    MINISHARDS_MAX = 1000000,                     /* the component's limit */
    SEGMENT_ELEMS = 4 * BLOCK_ROWS * QUANT_LANES, /* without minishards */
    DEPTH = 16,                                   /* the component's default */
    PER_NODE = 2, /* with levels; of an odd number of ranks each is a node */
    TILE_ELEMS = BLOCK_ROWS * QUANT_LANES,
    ELEMENTS_MAX = 1 << 28, /* 1 GiB of floats for each rank */
    FORMATS_MAX = 32,
};

static const struct stages {
    const char *name;
    bool reduce;
    bool gather;
    bool of_exact; /* a row of the exact format, else of the others */
} stages_of[] = {
    {"both", true, true, false},
    {"rs", true, false, false},
    {"ag", false, true, false},
    {"none", true, true, true},
};

enum { STAGES = sizeof(stages_of) / sizeof(stages_of[0]) };

typedef struct row {
    const quant_algo_t *algo;
    const struct stages *stages;
    const quant_format_t *format;
    double exact;
    double baseline;
} row_t;

typedef struct work {
    quant_job_t job;
    quant_kernels_t kernels;
    float **inputs;
    double *sum;     /* of the inputs as they are now */
    float *result;   /* of the last run */
    float *baseline; /* the ring in bf16 */
    row_t rows[JOB_ALGOS * STAGES * FORMATS_MAX];
    size_t row_count;
} work_t;

/* What `format` leaves of the values, by the codec itself. */
static void round_to(const work_t *work, const quant_format_t *format, float *values)
{
    static uint8_t payload[TILE_ELEMS * sizeof(float)];
    quant_coding_t coding = {.payload = payload};

    for (size_t first = 0; first < work->job.count; first += TILE_ELEMS) {
        const size_t left = work->job.count - first;
        const size_t elems = left < TILE_ELEMS ? left : TILE_ELEMS;
        const quant_codec_t codec = {
            .kernels = &work->kernels, .format = format, .block_rows = BLOCK_ROWS, .elems = elems};
        coding.room = quant_payload_bytes(format, elems, BLOCK_ROWS);
        if (!quant_payload_encode(&codec, values + first, &coding)) {
            fprintf(stderr, "bench_error: an input does not fit into %s\n", format->name);
            exit(EXIT_FAILURE);
        }
        quant_payload_decode(&codec, payload, values + first);
    }
}

static void round_inputs(work_t *work, const quant_format_t *format)
{
    for (unsigned rank = 0; rank < work->job.ranks; ++rank) {
        round_to(work, format, work->inputs[rank]);
    }
}

static void run_algorithm(work_t *work, const quant_algo_t *algo, const quant_format_t *reduce,
                          const quant_format_t *gather)
{
    work->job.config.algo = algo;
    quant_job_group(&work->job, 0 == work->job.ranks % PER_NODE ? PER_NODE : 1);
    work->job.config.reduce_format = reduce;
    work->job.config.gather_format = gather;
    quant_outcome_t outcome = quant_job_run(&work->job, 1, work->result);
    if (!quant_outcome_is_clean(&outcome)) {
        fprintf(stderr, "bench_error: the allreduce by %s in %s failed\n", algo->name,
                reduce->name);
        exit(EXIT_FAILURE);
    }
}

static double error_of_result(const work_t *work)
{
    double squares = 0;

    for (size_t i = 0; i < work->job.count; ++i) {
        double error = (double) work->result[i] - work->sum[i];
        squares += error * error;
    }
    return squares / (double) work->job.count;
}

static double distance_to_baseline(work_t *work)
{
    double squares = 0;

    round_to(work, &quant_format_bf16, work->result);
    for (size_t i = 0; i < work->job.count; ++i) {
        double error = (double) work->result[i] - (double) work->baseline[i];
        squares += error * error;
    }
    return squares / (double) work->job.count;
}

/* A pass over all rows; `rest` is the format of a stage that is not quantized, and of "none". */
static void run_row(work_t *work, const row_t *row, const quant_format_t *rest)
{
    const quant_format_t *format = row->stages->of_exact ? rest : row->format;

    run_algorithm(work, row->algo, row->stages->reduce ? format : rest,
                  row->stages->gather ? format : rest);
}

static void measure_rows(work_t *work)
{
    quant_oracle_exact(&work->job, work->sum);
    for (size_t i = 0; i < work->row_count; ++i) {
        run_row(work, &work->rows[i], &quant_format_fp32);
        work->rows[i].exact = error_of_result(work);
    }
    round_inputs(work, &quant_format_bf16);
    run_algorithm(work, quant_algo_at(QUANT_ALGO_full_loop), &quant_format_bf16,
                  &quant_format_bf16);
    memcpy(work->baseline, work->result, work->job.count * sizeof(float));
    for (size_t i = 0; i < work->row_count; ++i) {
        run_row(work, &work->rows[i], &quant_format_bf16);
        work->rows[i].baseline = distance_to_baseline(work);
    }
}

/* Of an allreduce with the formats of `config`. */
static quant_cut_t cut_of(const work_t *work, const quant_config_t *config)
{
    const exchange_layout_t layout = {
        .count = work->job.count, .shards = work->job.ranks, .row_elems = QUANT_LANES};
    return quant_cut(config, exchange_layout_shard(&layout, 0).elems);
}

static double wire_bytes(const quant_format_t *format, const quant_cut_t *cut)
{
    return (double) (sizeof(quant_wire_header_t) +
                     quant_payload_bytes(format, cut->segment_elems, cut->block_rows)) /
           (double) cut->segment_elems;
}

static void print_row(const work_t *work, const row_t *row)
{
    quant_config_t config = work->job.config;
    char theory[32] = "-";

    config.algo = row->algo;
    config.reduce_format = row->stages->reduce ? row->format : &quant_format_fp32;
    config.gather_format = row->stages->gather ? row->format : &quant_format_fp32;
    const quant_cut_t cut = cut_of(work, &config);
    config.block_rows = cut.block_rows;
    double expected = quant_error_mse(&config, work->job.ranks, 1);
    if (expected > 0) {
        (void) snprintf(theory, sizeof(theory), "%.6e", expected);
    }
    const double bytes =
        (wire_bytes(config.reduce_format, &cut) + wire_bytes(config.gather_format, &cut)) / 2;
    printf("%s\t%s\t%s\t%zu\t%.4f\t%s\t%.6e\t%.6e\t%u\n", row->algo->name, row->format->name,
           row->stages->name, work->job.count, bytes, theory, row->exact, row->baseline,
           cut.block_rows);
}

/*
 * The result of a ring of casts to fp8_e5m2 without scales, of inputs that are such casts. No
 * schedule: without blocks it does not matter which rank adds which element.
 */
static void run_naive(work_t *work, const quant_format_t *naive)
{
    round_inputs(work, naive);
    memcpy(work->result, work->inputs[0], work->job.count * sizeof(float));
    for (unsigned rank = 1; rank < work->job.ranks; ++rank) {
        for (size_t i = 0; i < work->job.count; ++i) {
            work->result[i] += work->inputs[rank][i];
        }
        round_to(work, naive, work->result);
    }
}

static void print_other_row(work_t *work, const char *name, const quant_format_t *format)
{
    const double exact = error_of_result(work);

    const quant_cut_t cut = cut_of(work, &work->job.config);
    printf("full_loop\t%s\tboth\t%zu\t%.4f\t-\t%.6e\t%.6e\t%u\n", name, work->job.count,
           wire_bytes(format, &cut), exact, distance_to_baseline(work), cut.block_rows);
}

/* The rows without a theory; the inputs are bf16 numbers by now, and rounded to fp8 after it. */
static void print_other_rows(work_t *work, bool with_naive)
{
    quant_format_t naive = quant_format_fp8_e5m2;

    quant_oracle_exact(&work->job, work->sum);
    memcpy(work->result, work->baseline, work->job.count * sizeof(float));
    print_other_row(work, "bf16_baseline", &quant_format_bf16);
    if (with_naive) {
        naive.range.scale_min = 1.0f; /* sums of normals never need more: all scales are one */
        run_naive(work, &naive);
        naive.scaled = false; /* so nobody would send them */
        print_other_row(work, "e5m2_naive", &naive);
    }
}

/* Rows for a format, of all algorithms and stages that it has. */
static void add_format(work_t *work, const quant_format_t *format)
{
    const quant_algo_t *algo = NULL;

    for (size_t a = 0; NULL != (algo = quant_algo_at(a)); ++a) {
        for (size_t s = 0; s < STAGES; ++s) {
            if (stages_of[s].of_exact == format->exact) {
                work->rows[work->row_count++] =
                    (row_t){.algo = algo, .stages = &stages_of[s], .format = format};
            }
        }
    }
}

static void work_init(work_t *work, unsigned minishards, unsigned ranks, size_t count)
{
    work->inputs = quant_inputs_new(ranks, count, SEED);
    work->sum = test_alloc(count * sizeof(double));
    work->result = test_alloc(count * sizeof(float));
    work->baseline = test_alloc(count * sizeof(float));
    work->kernels = quant_kernels_select(arc_cpu_isa(ARC_ISA_AVX512));
    work->job = (quant_job_t){
        .ranks = ranks,
        .count = count,
        .config = quant_job_config(NULL),
        .isa = ARC_ISA_AVX512,
        .network = {.seed = SEED},
        .inputs = work->inputs,
    };
    work->job.config.block_rows = BLOCK_ROWS;
    work->job.config.segment_elems = SEGMENT_ELEMS;
    work->job.config.depth = DEPTH;
    work->job.config.minishards = minishards;
    work->job.config.segment_bytes = SEGMENT_BYTES;
    if (0 != minishards) {
        work->job.config.block_rows = QUANT_BLOCK_ROWS_MAX;
        work->job.config.segment_elems = quant_tile_elems(QUANT_BLOCK_ROWS_MAX);
    }
}

static void work_fini(work_t *work)
{
    free(work->inputs);
    free(work->sum);
    free(work->result);
    free(work->baseline);
}

static int list_formats(void)
{
    const quant_format_t *format = NULL;

    for (size_t i = 0; NULL != (format = quant_format_at(i)); ++i) {
        printf("%s\n", format->name);
    }
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    static work_t work;
    bool with_naive = false;
    unsigned minishards = 0;
    unsigned ranks = 8;
    unsigned count = 1 << 20;
    const char *wrong =
        options_take(argc, argv,
                     (const option_row_t[]){OPTION_FROM('n', NULL, ranks, 2, JOB_RANKS_MAX),
                                            OPTION_FROM('e', NULL, count, 1, ELEMENTS_MAX),
                                            OPTION_FROM('m', NULL, minishards, 1, MINISHARDS_MAX),
                                            {.letter = 0}});

    if (NULL != wrong || argc - optind > FORMATS_MAX) {
        fprintf(stderr, "bench_error: %s\n", NULL != wrong ? wrong : "too many formats");
        return EXIT_FAILURE;
    }
    if (optind == argc) {
        return list_formats();
    }
    for (int i = optind; i < argc; ++i) {
        const quant_format_t *format = NULL;
        for (size_t f = 0; NULL != (format = quant_format_at(f)); ++f) {
            if (0 == strcmp(argv[i], format->name)) {
                break;
            }
        }
        if (NULL == format) {
            fprintf(stderr, "bench_error: no format %s\n", argv[i]);
            return EXIT_FAILURE;
        }
        add_format(&work, format);
        with_naive |= &quant_format_fp8_e5m2 == format;
    }
    work_init(&work, minishards, ranks, count);
    measure_rows(&work);
    printf("algorithm\tformat\tstages\telements\tbytes\ttheory\texact\tbaseline\tblock\n");
    for (size_t i = 0; i < work.row_count; ++i) {
        print_row(&work, &work.rows[i]);
    }
    print_other_rows(&work, with_naive);
    work_fini(&work);
    return EXIT_SUCCESS;
}
