/*
 * The table of what was done with calls, the report, and files for monitoring.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdlib.h>

#include "unit.h"
#include "tally.h"

static const char *name_of(unsigned collective)
{
    return 0 == collective ? "MPI_Allgather" : "MPI_Allreduce";
}

/* The table of two algorithms and one collective; about a host that nobody should have. */
enum { TEXT_BYTES = 4096 };
static const arc_tally_about_t about = {
    .component = "x",
    .job = "7",
    .host = "a \"quoted\\host\n\xc3",
    .process = 12,
    .rank = 3,
    .collective = name_of,
    .algorithms = (const char *const[]){"first", "second"},
    .algorithm_count = 2,
};

static bool has_calls(const arc_tally_t *tally, unsigned collective)
{
    return arc_tally_print(NULL, &about, collective, tally);
}

static arc_tally_row_t *count(arc_tally_t *tally, uint32_t outcome, uint32_t ranks, size_t bytes)
{
    return arc_tally_count(tally, (uint32_t[]){0, outcome, arc_tally_class(bytes), ranks, 2},
                           bytes);
}

TEST(the_report_has_a_row_for_each_algorithm_and_each_reason_met)
{
    char text[TEXT_BYTES] = "";
    SCOPED arc_tally_t *tally = test_zeros(sizeof *tally);

    assert_false(has_calls(tally, 0));
    (void) count(tally, ARC_TALLY_PASSED + ARC_REASON_OFF, 4, 4);
    assert_false(has_calls(tally, 0));
    for (unsigned size = 0; size < 2; ++size) {
        (void) count(tally, 1, size, 600);
        assert_true(has_calls(tally, 0));
        (void) count(tally, 1, size, 424);
    }
    (void) count(tally, ARC_TALLY_PASSED + ARC_REASON_USER_OP, 4, 8);
    assert_false(has_calls(tally, 1));

    FILE *stream = fmemopen(text, sizeof text, "w");
    assert_non_null(stream);
    assert_true(arc_tally_print(stream, &about, 0, tally));
    (void) fclose(stream);
    unsigned long long calls = 99;
    unsigned long long bytes = 99;
    assert_non_null(strstr(text, "coll_x: MPI_Allgather calls of rank 0"));
    const char *row = strstr(text, "served  first");
    assert_non_null(row);
    assert_int_equal(2, sscanf(row, "served first %llu %llu", &calls, &bytes));
    assert_int_equal(0, calls);
    row = strstr(text, "served  second");
    assert_non_null(row);
    assert_int_equal(2, sscanf(row, "served second %llu %llu", &calls, &bytes));
    assert_int_equal(4, calls);
    assert_int_equal(2048, bytes);
    assert_non_null(strstr(text, arc_reason_text(ARC_REASON_USER_OP)));
    assert_null(strstr(text, arc_reason_text(ARC_REASON_TOO_LARGE)));
}

TEST(files_have_labels_in_quotes_and_times_in_seconds)
{
    static const char *const lines[] = {
        [false] =
            "arc_longest_wait_seconds{version=\"" PACKAGE_VERSION "\",slurm_job_id=\"7\","
            "node=\"a \\\"quoted\\\\host__\",pid=\"12\",rank=\"3\",component=\"x\","
            "collective=\"MPI_Allgather\",nranks=\"8\",n_nodes=\"2\",message_size=\"256KB-1MB\","
            "algo_proto=\"first\",peer=\"5\"} 0.000000012\n",
        [true] = "[{\"version\":\"" PACKAGE_VERSION "\",\"slurm_job_id\":\"7\","
                 "\"node\":\"a \\\"quoted\\\\host__\",\"pid\":12,\"rank\":3,\"component\":\"x\","
                 "\"collective\":\"MPI_Allgather\",\"nranks\":8,\"n_nodes\":2,"
                 "\"message_size\":\"256KB-1MB\",\"algo_proto\":\"first\",\"calls_total\":1,"
                 "\"call_bytes_total\":300000,\"call_seconds_total\":70.000000001,"
                 "\"message_seconds_total\":1.000000000,\"longest_wait_seconds\":0.000000012,"
                 "\"peer\":5}]\n",
    };
    SCOPED arc_tally_t *tally = test_zeros(sizeof *tally);

    arc_tally_row_t *row = count(tally, 0, 8, 300000);
    row->call_ns = UINT64_C(70000000001);
    row->messages_ns = 1000000000;
    row->wait_ns = 12;
    row->awaited = 5;
    for (unsigned json = 0; json < 2; ++json) {
        char text[TEXT_BYTES] = "";
        FILE *file = fmemopen(text, sizeof text, "w");
        assert_non_null(file);
        arc_tally_write(file, 0 != json, &about, tally);
        (void) fclose(file);
        if (NULL == strstr(text, lines[json])) {
            fail_msg("%s\nhas no\n%s", text, lines[json]);
        }
    }
}

/* More rows than there are: sums of calls stay what they are, and nobody looks for ever. */
TEST(a_table_that_is_full_counts_on)
{
    enum { SIZES = 2 * ARC_TALLY_ROWS, OUTCOMES = 2 };
    SCOPED arc_tally_t *tally = test_zeros(sizeof *tally);
    uint64_t calls = 0;

    for (uint32_t ranks = 0; ranks < SIZES; ++ranks) {
        for (uint32_t outcome = 0; outcome < OUTCOMES; ++outcome) {
            const arc_tally_row_t *row = count(tally, outcome, ranks, 1);
            assert_int_equal(outcome, row->fact[ARC_TALLY_OUTCOME]);
        }
    }
    for (size_t i = 0; i < ARC_TALLY_ROWS; ++i) {
        calls += tally->row[i].calls;
    }
    assert_int_equal(SIZES * OUTCOMES, calls);
    assert_int_equal(ARC_TALLY_OWN_ROWS + OUTCOMES, tally->used);
}

TEST(lengths_are_told_apart_by_powers_of_four)
{
    assert_int_equal(0, arc_tally_class(0));
    for (unsigned class = 1; class < 32; ++class) {
        const size_t first = (size_t) 1 << 2 * (class - 1);
        assert_int_equal(class, arc_tally_class(first));
        assert_int_equal(class, arc_tally_class(4 * first - 1));
    }
}
