/*
 * The file of what was learned: what is written is read again, and wrong lines are told apart.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "select_file.h"
#include "testlib.h"

static const char *const candidates[] = {"below", "doubling", "halving", NULL};
static const char *const transports[] = {"messages", "puts", NULL};
static const arc_learned_words_t words = {candidates, transports};

enum { COMPLAINTS = 4, SEED = 20261122 };

typedef struct complaints {
    unsigned count;
    unsigned number[COMPLAINTS];
} complaints_t;

static void complain(void *context, unsigned number, const char *what)
{
    complaints_t *complaints = context;

    assert_non_null(what);
    if (complaints->count < COMPLAINTS) {
        complaints->number[complaints->count] = number;
    }
    complaints->count += 1;
}

static complaints_t read_bytes(arc_learned_t *learned, const char *text, size_t bytes)
{
    complaints_t complaints = {.count = 0};
    FILE *file = tmpfile();

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    rewind(file);
    arc_learned_read(learned, file, &words, complain, &complaints);
    assert_int_equal(fclose(file), 0);
    return complaints;
}

static complaints_t read_text(arc_learned_t *learned, const char *text)
{
    return read_bytes(learned, text, strlen(text));
}

static void what_is_written_is_read_again(void **state)
{
    static const arc_learned_line_t lines[] = {
        {4, 1, 1, 0, 10, 1, {63100, 45200, 0}},
        {3, 1, 2, 1, 24, 0, {12345600, 0, 99900}},
        {2, 8, 8, 0, 0, 2, {0, 0, 100}},
        /* 17 s, two weeks, and as long as there are nanoseconds for, but for one microsecond */
        {2, 1, 1, 1, 24, 1, {17000000000, 1209600000000000, UINT64_MAX / 1000 * 1000 - 1000}},
    };
    enum { LINES = sizeof lines / sizeof lines[0] };
    arc_learned_t learned;
    complaints_t complaints = {.count = 0};
    static const arc_learned_text_t origin[ARC_LEARNED_ORIGINS] = {"here, 2", "this 1.2, that 3"};
    FILE *file = tmpfile();

    (void) state;
    assert_non_null(file);
    arc_learned_write_origin(file, origin);
    for (unsigned i = 0; i < LINES; ++i) {
        arc_learned_write(file, &words, &lines[i]);
    }
    rewind(file);
    arc_learned_read(&learned, file, &words, complain, &complaints);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(complaints.count, 0);
    assert_int_equal(learned.count, LINES);
    assert_memory_equal(learned.origin, origin, sizeof origin);
    for (unsigned i = 0; i < LINES; ++i) {
        assert_memory_equal(&learned.lines[i], &lines[i], sizeof lines[i]);
        assert_ptr_equal(arc_learned_find(&learned, &lines[i]), &learned.lines[i]);
    }
    arc_learned_free(&learned);
}

static void wrong_lines_are_named_and_the_others_count(void **state)
{
    static const char *const wrong[] = {
        "nodes=4 ranks=1 over=messages bytes=1024",
        "nodes=4 ranks=1 over=messages bytes=1024 use=ring",
        "nodes=4 ranks=1 over=pigeons bytes=1024 use=below",
        "nodes=4 ranks=1 over=messages bytes=1000 use=below",
        "nodes=4 ranks=1 over=messages bytes=33554432 use=below",
        "nodes=1 ranks=1 over=messages bytes=1024 use=below",
        "nodes=-4 ranks=1 over=messages bytes=1024 use=below",
        "nodes=99999999999999999999 ranks=1 over=messages bytes=1024 use=below",
        "nodes=4 ranks=2-1 over=messages bytes=1024 use=below",
        "nodes=4 ranks=1- over=messages bytes=1024 use=below",
        "nodes=4 ranks=1 over=messages bytes=1024 use=below doubling=fast",
        "nodes=4 ranks=1 over=messages bytes=1024 use=below doubling=18446744073709551.0",
        "nodes=4 ranks=1 over=messages bytes=1024 use=below tripling=1",
        "nodes=4 ranks=1 over=messages bytes=1024 use=below and",
        "machin=x",
        "below",
    };
    char text[1024];

    (void) state;
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        arc_learned_t learned;
        (void) snprintf(text, sizeof text,
                        "# comment\nmachine=here, 2\n%s\n\n"
                        "nodes=2 ranks=1 over=puts bytes=8 use=halving below=1.5\n",
                        wrong[i]);
        const complaints_t complaints = read_text(&learned, text);
        assert_int_equal(complaints.count, 1);
        assert_int_equal(complaints.number[0], 3);
        assert_int_equal(learned.count, 1);
        assert_int_equal(learned.lines[0].chosen, 2);
        assert_string_equal(learned.origin[ARC_LEARNED_MACHINE], "here, 2");
        assert_string_equal(learned.origin[ARC_LEARNED_RELEASES], "");
        arc_learned_free(&learned);
    }
}

static void a_line_that_never_ends_is_one_wrong_line(void **state)
{
    enum { LONG = 5000 };
    static char text[LONG + 200];
    arc_learned_t learned;

    (void) state;
    memset(text, 'x', LONG);
    (void) snprintf(text + LONG, sizeof text - LONG,
                    "\nnodes=2 ranks=1 over=puts bytes=8 use=halving");
    const complaints_t complaints = read_text(&learned, text);
    assert_int_equal(complaints.count, 1);
    assert_int_equal(complaints.number[0], 1);
    assert_int_equal(learned.count, 1);
    arc_learned_free(&learned);
}

/* Not the end of anything: the line is wrong, and the next one counts. */
static void a_byte_zero_is_a_wrong_character(void **state)
{
    static const char text[] = "nodes=2 ranks=1 over=puts bytes=8 use=halving\0\n"
                               "nodes=3 ranks=1 over=puts bytes=8 use=halving\n";
    arc_learned_t learned;

    (void) state;
    const complaints_t complaints = read_bytes(&learned, text, sizeof text - 1);
    assert_int_equal(complaints.count, 1);
    assert_int_equal(complaints.number[0], 1);
    assert_int_equal(learned.count, 1);
    assert_int_equal(learned.lines[0].nodes, 3);
    arc_learned_free(&learned);
}

static void the_last_line_counts_and_times_do_not(void **state)
{
    static const char first[] = "nodes=2 ranks=1 over=puts bytes=8 use=halving below=3\n"
                                "nodes=2 ranks=1 over=puts bytes=8 use=below\n";
    static const char other_times[] = "nodes=2 ranks=1 over=puts bytes=8 use=halving below=4\n"
                                      "# comment\nnodes=2 ranks=1 over=puts bytes=8 use=below\n";
    static const char other_use[] = "nodes=2 ranks=1 over=puts bytes=8 use=halving below=3\n"
                                    "nodes=2 ranks=1 over=puts bytes=8 use=doubling\n";
    const arc_learned_line_t key = {2, 1, 1, 1, 3, 0, {0}};
    const arc_learned_line_t other_key = {2, 1, 1, 0, 3, 0, {0}};
    arc_learned_t a;
    arc_learned_t b;
    arc_learned_t c;

    (void) state;
    (void) read_text(&a, first);
    (void) read_text(&b, other_times);
    (void) read_text(&c, other_use);
    assert_int_equal(arc_learned_find(&a, &key)->chosen, 0);
    assert_null(arc_learned_find(&a, &other_key));
    assert_true(arc_learned_hash(&a) == arc_learned_hash(&b));
    assert_true(arc_learned_hash(&a) != arc_learned_hash(&c));
    arc_learned_free(&a);
    arc_learned_free(&b);
    arc_learned_free(&c);
}

static void more_lines_than_there_may_be_are_complained_of(void **state)
{
    static const char line[] = "nodes=2 ranks=1 over=puts bytes=8 use=halving\n";
    enum { MORE = 3 };
    const size_t bytes = (ARC_LEARNED_LINES_MAX + MORE) * strlen(line);
    SCOPED char *text = test_alloc(bytes + 1);
    arc_learned_t learned;

    (void) state;
    for (size_t at = 0; at < bytes; at += strlen(line)) {
        memcpy(text + at, line, strlen(line) + 1);
    }
    const complaints_t complaints = read_text(&learned, text);
    assert_int_equal(complaints.count, MORE);
    assert_int_equal(learned.count, ARC_LEARNED_LINES_MAX);
    arc_learned_free(&learned);
}

/* Whatever a line becomes when some of its bytes change: read or refused, and nothing else. */
static void damaged_files_do_no_harm(void **state)
{
    static const char good[] = "machine=m\nnodes=2 ranks=1-3 over=puts bytes=8 use=halving "
                               "below=1.25 halving=0.1\n# x\nnodes=9 ranks=1 over=messages "
                               "bytes=16777216 use=below\n";
    enum { TURNS = 3000, DAMAGES = 4 };
    test_random_t random = test_random_start(SEED);

    (void) state;
    for (unsigned turn = 0; turn < TURNS; ++turn) {
        char text[sizeof good];
        arc_learned_t learned;
        memcpy(text, good, sizeof good);
        for (unsigned i = 0; i < DAMAGES; ++i) {
            text[test_random_below(&random, sizeof good - 1)] =
                (char) test_random_below(&random, 256);
        }
        (void) read_bytes(&learned, text, sizeof good - 1);
        for (unsigned i = 0; i < learned.count; ++i) {
            assert_true(learned.lines[i].chosen < 3 && learned.lines[i].transport < 2 &&
                        learned.lines[i].class < ARC_SELECT_CLASSES && learned.lines[i].nodes > 1);
        }
        arc_learned_free(&learned);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(wrong_lines_are_named_and_the_others_count),
        cmocka_unit_test(a_line_that_never_ends_is_one_wrong_line),
        cmocka_unit_test(a_byte_zero_is_a_wrong_character),
        cmocka_unit_test(the_last_line_counts_and_times_do_not),
        cmocka_unit_test(more_lines_than_there_may_be_are_complained_of),
        cmocka_unit_test(damaged_files_do_no_harm),
    };
    return cmocka_run_group_tests_name("select_file", tests, NULL, NULL);
}
