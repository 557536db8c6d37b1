/*
 * The info keys arc_quant_<parameter>: each has an effect, "default" takes it back,
 * a value that is not allowed changes nothing, and the order does not matter.
 * coll_quant is off but for the key arc_quant.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "pvars.h"

enum {
    ELEMS = 70001, /* from 256 KiB on sums are quantized */
    FEW = 5000,
    RANGE = 1 << 20,
};

static int world_rank;
static int world_ranks;
static float *usual; /* what a communicator with arc_quant=on makes of the data */
static float *result;
static float *other;

static double value_of(int rank, int i)
{
    return (double) (draw_bits(91, (unsigned) rank, (uint64_t) i) % RANGE);
}

static void sum_values(MPI_Comm comm, int count)
{
    for (int i = 0; i < count; i++) {
        result[i] = (float) value_of(world_rank, i);
    }
    MPI_Allreduce(MPI_IN_PLACE, result, count, MPI_FLOAT, MPI_SUM, comm);
}

/* How many elements of the last result are not exact. */
static int count_inexact(int count)
{
    int off = 0;

    for (int i = 0; i < count; i++) {
        double exact = 0;

        for (int rank = 0; rank < world_ranks; rank++) {
            exact += value_of(rank, i);
        }
        off += (double) result[i] != exact;
    }
    return off;
}

static bool is_as_usual(void)
{
    return memcmp(usual, result, ELEMS * sizeof *usual) == 0;
}

static MPI_Info info_of(const char *const pairs[][2], size_t count)
{
    MPI_Info info;

    MPI_Info_create(&info);
    for (size_t i = 0; i < count; i++) {
        MPI_Info_set(info, pairs[i][0], pairs[i][1]);
    }
    return info;
}

static void set_key(MPI_Comm comm, const char *key, const char *value)
{
    const char *const pairs[][2] = {{key, value}};
    MPI_Info info = info_of(pairs, 1);

    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
}

static const struct {
    const char *key;
    const char *value;
    bool exact;
} effects[] = {
    {"arc_quant_format", "int4", false},      {"arc_quant_format", "int16", false},
    {"arc_quant_format", "fp32", true},       {"arc_quant_algorithm", "direct", false},
    {"arc_quant_stages", "ag", false},        {"arc_quant_stages", "none", true},
    {"arc_quant_block", "32", false},         {"arc_quant_minishards", "3", false},
    {"arc_quant_min_bytes", "1m", true},      {"arc_quant_target_nmse", "1e-6", false},
    {"arc_quant_target_nmse", "1e-30", true},
};

static void check_effects(MPI_Comm comm)
{
    for (size_t e = 0; e < sizeof effects / sizeof effects[0]; e++) {
        const char *key = effects[e].key;

        set_key(comm, key, effects[e].value);
        sum_values(comm, ELEMS);
        tap_check(!is_as_usual(), "%s=%s changes nothing", key, effects[e].value);
        tap_check((count_inexact(ELEMS) == 0) == effects[e].exact,
                  "%s=%s: %d elements are not exact", key, effects[e].value, count_inexact(ELEMS));
        set_key(comm, key, "default");
        sum_values(comm, ELEMS);
        tap_check(is_as_usual(), "%s=default does not undo %s", key, effects[e].value);
    }
    set_key(comm, "arc_quant_min_bytes", "4k");
    sum_values(comm, FEW);
    tap_check(count_inexact(FEW) > FEW / 2, "arc_quant_min_bytes=4k: %d elements are not exact",
              count_inexact(FEW));
    set_key(comm, "arc_quant_min_bytes", "default");
    tap_case("every key has its effect, and default undoes it");
}

/* A call with what `key` says beside the keys set before, and then without it. */
static void expect_with(MPI_Comm comm, const char *key, const char *value, bool exact)
{
    set_key(comm, key, value);
    sum_values(comm, ELEMS);
    tap_check((count_inexact(ELEMS) == 0) == exact, "%s=%s: %d elements are not exact", key, value,
              count_inexact(ELEMS));
    set_key(comm, key, "default");
}

static void check_guards(MPI_Comm comm)
{
    const double before = pvar_read_once("coll_quant_worst_nmse", NULL);

    expect_with(comm, "arc_quant_max_nmse", "1e-12", false);
    tap_check(before == 0 && pvar_read_once("coll_quant_worst_nmse", NULL) == 0,
              "a call is verified that should not be");
    set_key(comm, "arc_quant_verify_every", "1");
    expect_with(comm, "arc_quant_max_nmse", "1e-12", true);
    const double nmse = pvar_read_once("coll_quant_worst_nmse", NULL);
    const double block_nmse = pvar_read_once("coll_quant_worst_block_nmse", NULL);
    tap_check(nmse > 0 && block_nmse > nmse, "NMSE %g, in a block %g", nmse, block_nmse);
    /* A limit between the two. */
    char limit[sizeof "1.2345678e-12"];
    snprintf(limit, sizeof limit, "%.7e", (nmse + block_nmse) / 2);
    set_key(comm, "arc_quant_max_nmse", limit);
    expect_with(comm, "arc_quant_max_nmse_of", "vector", false);
    expect_with(comm, "arc_quant_max_nmse_of", "block", true);
    set_key(comm, "arc_quant_max_nmse", "default");
    set_key(comm, "arc_quant_verify_every", "default");
    sum_values(comm, ELEMS);
    tap_check(is_as_usual(), "default does not undo the guards");
    tap_case("a communicator has guards of its own");
    /* The first call of a length is exact where it is to be learned what pays. */
    expect_with(comm, "arc_quant_explore_percent", "1", true);
    sum_values(comm, ELEMS);
    tap_check(is_as_usual(), "default does not undo exploring");
    tap_case("a communicator learns, or does not, as its key says");
}

static void check_refused(MPI_Comm comm)
{
    static const char *const refused[][2] = {
        {"arc_quant_format", "int3"},        {"arc_quant_algorithm", "ring"},
        {"arc_quant_stages", "most"},        {"arc_quant_block", "7"},
        {"arc_quant_min_bytes", "much"},     {"arc_quant_target_nmse", "2"},
        {"arc_quant_minishards", "-1"},      {"arc_quant_microshards", "few"},
        {"arc_quant_max_nmse", "low"},       {"arc_quant_max_nmse_of", "tensor"},
        {"arc_quant_verify_every", "often"},
    };

    for (size_t r = 0; r < sizeof refused / sizeof refused[0]; r++) {
        set_key(comm, refused[r][0], refused[r][1]);
        sum_values(comm, ELEMS);
        tap_check(is_as_usual(), "%s=%s changes something", refused[r][0], refused[r][1]);
    }
    tap_case("values that are not allowed change nothing");
}

static void check_order(void)
{
    static const char *const pairs[][2] = {
        {"arc_quant_format", "int4"}, {"arc_quant", "on"}, {"arc_quant_algorithm", "direct"}};
    static const char *const turned[][2] = {
        {"arc_quant_algorithm", "direct"}, {"arc_quant", "on"}, {"arc_quant_format", "int4"}};
    float *first = must_alloc(ELEMS * sizeof *first);
    MPI_Info info = info_of(pairs, 3);
    MPI_Comm comm;

    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    sum_values(comm, ELEMS);
    tap_check(count_inexact(ELEMS) > ELEMS / 2, "keys at MPI_Comm_dup_with_info have no effect");
    memcpy(first, result, ELEMS * sizeof *first);
    MPI_Comm_free(&comm);

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    info = info_of(turned, 3);
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
    sum_values(comm, ELEMS);
    tap_check(memcmp(first, result, ELEMS * sizeof *first) == 0, "bytes differ");
    MPI_Comm_free(&comm);
    free(first);
    tap_case("keys in any order, at MPI_Comm_dup_with_info or later, give the same");
}

/* The sum on a fresh communicator with these keys, `count` of them, into `other`. */
static void sum_with(const char *const pairs[][2], size_t count)
{
    MPI_Info info = info_of(pairs, count);
    MPI_Comm comm;

    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    sum_values(comm, ELEMS);
    memcpy(other, result, ELEMS * sizeof *other);
    MPI_Comm_free(&comm);
}

/* Messages change no bit of a sum. */
static void check_messages(void)
{
    static const char *const sets[][2][2] = {
        {{"arc_quant", "on"}, {"arc_quant_microshards", "4"}},
        {{"arc_quant", "on"}, {"arc_quant_segment_bytes", "8k"}},
    };

    for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++) {
        sum_with(sets[s], 2);
        tap_check(memcmp(usual, other, ELEMS * sizeof *usual) == 0, "%s: bytes differ",
                  sets[s][1][0]);
    }
    tap_case("microshards and segment_bytes cut messages, and nothing else");
}

/* The mean square of the error of the sum of `calls` calls with `count` elements each. */
static double squared_error(MPI_Comm comm, int calls, int count)
{
    double *running = must_alloc((size_t) count * sizeof *running);
    double squares = 0;

    for (int i = 0; i < count; i++) {
        running[i] = 0;
    }
    for (int call = 0; call < calls; call++) {
        sum_values(comm, count);
        for (int i = 0; i < count; i++) {
            running[i] += (double) result[i];
        }
    }
    for (int i = 0; i < count; i++) {
        double error = running[i];

        for (int rank = 0; rank < world_ranks; rank++) {
            error -= calls * value_of(rank, i);
        }
        squares += error * error / count;
    }
    free(running);
    return squares;
}

static void check_feedback(MPI_Comm comm)
{
    enum { CALLS = 10 };
    const double without = squared_error(comm, CALLS, ELEMS);

    set_key(comm, "arc_quant_error_feedback", "1");
    const double with = squared_error(comm, CALLS, ELEMS);
    /* The errors of one call instead of the same ones CALLS times; doubled at most. */
    tap_check(with > 0 && with < 4 * without / (CALLS * CALLS), "%g instead of %g", with, without);

    sum_values(comm, ELEMS - 1);
    set_key(comm, "arc_quant_error_feedback", "default");
    sum_values(comm, ELEMS - 1);
    memcpy(other, result, (ELEMS - 1) * sizeof *other);
    set_key(comm, "arc_quant_error_feedback", "1");
    sum_values(comm, ELEMS);
    sum_values(comm, ELEMS - 1);
    tap_check(memcmp(other, result, (ELEMS - 1) * sizeof *other) == 0,
              "something of a call with another count is added");
    set_key(comm, "arc_quant_error_feedback", "default");
    tap_case("error feedback keeps the error of many calls that of one, per count");
}

static void check_without_wish(void)
{
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    set_key(comm, "arc_quant_format", "int4");
    sum_values(comm, ELEMS);
    tap_check(count_inexact(ELEMS) == 0, "%d elements are not exact", count_inexact(ELEMS));
    set_key(comm, "arc_quant", "on");
    sum_values(comm, ELEMS);
    tap_check(count_inexact(ELEMS) > ELEMS / 2 && !is_as_usual(), "the format is forgotten");
    MPI_Comm_free(&comm);
    tap_case("a key of a parameter alone switches nothing on");
}

int main(int argc, char **argv)
{
    MPI_Comm comm;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
    tap_start();
    pvars_begin();
    usual = must_alloc(ELEMS * sizeof *usual);
    result = must_alloc(ELEMS * sizeof *result);
    other = must_alloc(ELEMS * sizeof *other);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    set_key(comm, "arc_quant", "on");
    sum_values(comm, ELEMS);
    memcpy(usual, result, ELEMS * sizeof *usual);
    tap_check(count_inexact(ELEMS) > ELEMS / 2, "%d elements are not exact", count_inexact(ELEMS));
    tap_case("arc_quant=on quantizes");
    check_effects(comm);
    check_guards(comm);
    check_refused(comm);
    check_feedback(comm);
    check_order();
    check_messages();
    check_without_wish();
    MPI_Comm_free(&comm);
    free(usual);
    free(result);
    free(other);
    pvars_end();
    tap_finish();
    MPI_Finalize();
    return EXIT_SUCCESS;
}
