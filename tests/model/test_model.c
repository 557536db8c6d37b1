/*
 * The model of a node: right sums, lines as counted by hand, the time of two ranks as measured, and
 * a defect that it notices.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <unistd.h>

#include "unit.h"
#include "lowlat.h"
#include "model_job.h"

/*
 * Model and measurement differ by less than a fifth, up to 32 KiB.  Of 512 bytes in one packet,
 * nine lines, the model takes less than was measured, and above 32 KiB more: it knows nothing of
 * prefetching.
 */
static double band_of(size_t bytes)
{
    return 512 == bytes || bytes > 32768 ? 1.4 : 1.2;
}

static model_machine_t read_machine(const char *name)
{
    char path[1024];
    model_machine_t machine;

    (void) snprintf(path, sizeof path, "%s/%s.txt", MODEL_MACHINES, name);
    assert_true(model_machine_read(path, &machine));
    return machine;
}

static model_result_t run(const model_machine_t *machine, const char *algorithm, unsigned ranks,
                          size_t bytes)
{
    const model_case_t what = {
        .machine = machine, .algorithm = algorithm, .ranks = ranks, .bytes = bytes};
    model_result_t result;

    if (!model_job_run(&what, &result)) {
        fail_msg("%s, %u ranks, %zu bytes", algorithm, ranks, bytes);
    }
    return result;
}

TEST(every_algorithm_and_rival_sums_right)
{
    static const unsigned ranks[] = {2, 3, 6, 13, 33};
    static const size_t bytes[] = {4, 60, 1000, 4100, 20000};
    const model_machine_t machine = read_machine("epyc-7763");
    const char *name = NULL;

    for (unsigned i = 0; NULL != (name = model_job_name(i)); ++i) {
        for (unsigned r = 0; r < sizeof ranks / sizeof ranks[0]; ++r) {
            for (unsigned b = 0; b < sizeof bytes / sizeof bytes[0]; ++b) {
                assert_true(run(&machine, name, ranks[r], bytes[b]).us > 0);
            }
        }
    }
    /* From 128 ranks on coll_tuned has other rules. */
    assert_true(run(&machine, "tuned", 128, 64).us > 0);
}

/* Of a vector of L lines, with P ranks. */
TEST(lines_read_are_those_of_the_formulas)
{
    const model_machine_t machine = read_machine("xeon-8480");

    for (unsigned ranks = 4; ranks <= 64; ranks *= 4) {
        const double others = ranks - 1;
        /* Shares too long for a packet: all levels share out. */
        const size_t lines = 16;
        const size_t bytes = ranks * lines * MODEL_LINE_BYTES;
        double steps = 0;
        for (unsigned left = ranks; left > 1; left /= 2) {
            steps += 1;
        }
        assert_true(others == run(&machine, "oneshot_flat", ranks, 8).lines_read);
        assert_true(steps == run(&machine, "half_butterfly", ranks, 8).lines_read);
        /* A share of each other one's part, then what it has made of it. */
        const double shares = 2 * others * (double) lines;
        assert_true(shares == run(&machine, "twoshot_flat", ranks, bytes).lines_read);
        assert_true(shares == run(&machine, "butterfly", ranks, bytes).lines_read);
    }
}

TEST(levels_keep_lines_in_the_socket)
{
    const model_machine_t machine = read_machine("epyc-7763");
    const model_result_t flat = run(&machine, "twoshot_flat", 128, 4096);
    const model_result_t levels = run(&machine, "twoshot", 128, 4096);

    assert_true(levels.lines_across < flat.lines_across / 2);
    assert_true(levels.us < flat.us);
}

/* One row for each rule by levels; on some other machines they lose (docs/scale.md). */
TEST(rules_take_the_faster_of_equal_bits)
{
    static const struct {
        const char *machine;
        unsigned ranks;
        size_t bytes;
    } rows[] = {
        {"graviton3", 16, 512}, {"xeon-8480", 48, 256}, {"grace", 64, 128},
        {"epyc-7763", 16, 8},   {"epyc-9654", 16, 64},  {"epyc-9755", 16, 256},
        {"epyc-9654", 48, 8},   {"epyc-9654", 64, 256}, {"epyc-7763", 128, 64},
        {"epyc-9654", 192, 8},  {"epyc-9654", 32, 64},  {"epyc-9755", 128, 8},
    };

    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const model_machine_t machine = read_machine(rows[i].machine);
        const double us = run(&machine, "auto", rows[i].ranks, rows[i].bytes).us;
        assert_true(us <= run(&machine, "oneshot", rows[i].ranks, rows[i].bytes).us);
        assert_true(us <= run(&machine, "twoshot", rows[i].ranks, rows[i].bytes).us);
    }
}

/* The rows of docs/data/model_choice.csv in which they lose most: too little to learn a choice. */
TEST(rules_lose_less_than_a_fifth)
{
    static const struct {
        const char *machine;
        unsigned ranks;
        size_t bytes;
        const char *other;
    } rows[] = {
        {"xeon-8480", 64, 128, "oneshot"}, {"xeon-8375c", 64, 256, "oneshot"},
        {"epyc-7763", 12, 128, "twoshot"}, {"epyc-9654", 16, 512, "oneshot"},
        {"epyc-7763", 128, 8, "oneshot"},
    };

    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const model_machine_t machine = read_machine(rows[i].machine);
        const double us = run(&machine, "auto", rows[i].ranks, rows[i].bytes).us;
        assert_true(us < 1.2 * run(&machine, rows[i].other, rows[i].ranks, rows[i].bytes).us);
    }
}

/* What is promised of nodes with two sockets of 64 cores and of 128 (docs/scale.md). */
TEST(big_nodes_take_a_third_of_what_tuned_takes)
{
    static const struct {
        const char *machine;
        unsigned ranks;
    } rows[] = {{"epyc-7763", 128}, {"epyc-9755", 256}};

    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const model_machine_t machine = read_machine(rows[i].machine);
        for (size_t bytes = 8; bytes <= 4096; bytes *= 8) {
            const double us = run(&machine, "auto", rows[i].ranks, bytes).us;
            assert_true(3 * us <= run(&machine, "tuned", rows[i].ranks, bytes).us);
            assert_true(1.2 * us <= run(&machine, "xhc", rows[i].ranks, bytes).us);
            assert_true(1.2 * us <= run(&machine, "xhc_l3", rows[i].ranks, bytes).us);
        }
    }
}

TEST(two_ranks_take_what_they_took)
{
    const model_machine_t machine = read_machine("here");
    FILE *file = fopen(MODEL_MEASURED, "r");
    char line[1024];
    unsigned rows = 0;

    assert_non_null(file);
    while (NULL != fgets(line, sizeof line, file)) {
        size_t bytes = 0;
        double arc_us = 0;
        double tuned_us = 0;
        if (3 == sscanf(line, "%zu,%lf,%lf", &bytes, &arc_us, &tuned_us)) {
            const double arc = run(&machine, "auto", 2, bytes).us / arc_us;
            const double tuned = run(&machine, "tuned", 2, bytes).us / tuned_us;
            print_message("# %zu bytes: model / measured %.2f, of tuned %.2f\n", bytes, arc, tuned);
            assert_true(arc < band_of(bytes) && arc > 1 / band_of(bytes));
            rows += 1;
        }
    }
    (void) fclose(file);
    assert_true(rows >= 16);
}

TEST(flags_that_share_a_line_cost_time)
{
    const model_machine_t machine = read_machine("epyc-7763");
    model_case_t what = {
        .machine = &machine, .algorithm = "twoshot_flat", .ranks = 16, .bytes = 1024};
    model_result_t apart;
    model_result_t together;

    assert_true(model_job_run(&what, &apart));
    what.flags_in_one_line = true;
    assert_true(model_job_run(&what, &together));
    print_message("# %.3f us, %.3f us with all flags in one line\n", apart.us, together.us);
    assert_true(together.us > 2 * apart.us);
}

TEST(a_run_can_be_repeated)
{
    const model_machine_t machine = read_machine("graviton4");
    const model_result_t first = run(&machine, "auto", 100, 1024);
    const model_result_t second = run(&machine, "auto", 100, 1024);

    assert_true(first.us == second.us && first.lines_fetched == second.lines_fetched);
}

TEST(what_is_no_machine_is_refused)
{
    static const char *const texts[] = {"", "cores 4\n", "cores 4\ncores 4\n", "pigeons 3\n"};
    model_machine_t machine;

    for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
        char path[] = "machine_??????";
        (void) memset(strchr(path, '?'), 'X', 6); /* as mkstemp() wants it */
        const int file = mkstemp(path);
        assert_true(file >= 0);
        assert_int_equal(strlen(texts[i]), write(file, texts[i], strlen(texts[i])));
        assert_int_equal(0, close(file));
        assert_false(model_machine_read(path, &machine));
        assert_int_equal(0, unlink(path));
    }
}
