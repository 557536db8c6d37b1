/*
 * What cmocka asks its users to include, and what most tests need.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "testlib.h"

/*
 * A test, which runs by itself: TEST(what_is_promised) { ... }, or between a set-up and a teardown
 * of cmocka.  Those of a file are run in its order, by unit_run() or the main() of libjobs.a, which
 * serves programs that have none of their own.
 */
#define TEST(_name) UNIT_TEST(unit_add, _name, NULL, NULL)
#define TEST_WITHIN(_name, _setup, _teardown) UNIT_TEST(unit_add, _name, _setup, _teardown)
#define UNIT_TEST(_add, _name, _setup, _teardown)                                                \
    static void _name(void **state);                                                             \
    __attribute__((constructor)) static void add_##_name(void)                                   \
    {                                                                                            \
        _add(&(struct CMUnitTest) cmocka_unit_test_setup_teardown(_name, _setup, _teardown), 1); \
    }                                                                                            \
    static void _name(void **state)

/*
 * Tests that are rows of tables: added one by one, and then run.  What these functions allocate
 * stays.
 */

/* A table of tests, and how many it has. */
#define UNIT_TESTS(_tests) (_tests), sizeof(_tests) / sizeof((_tests)[0])

/* Tests as they are; ... as rows, with `of` in front of their names, and `state` as what they get.
 */
void unit_add(const struct CMUnitTest *more, size_t count);
void unit_add_of(const char *of, const void *state, const struct CMUnitTest *more, size_t count);

/*
 * A test that gets a copy of the row: of its `bytes`, or with 0 the pointer.  With ARC_TEST_SHARE=N
 * only one of N rows behind the first ten is added.
 */
void unit_add_row(CMUnitTestFunction function, const void *row, size_t bytes, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));

/* All that were added; what main() returns. */
int unit_run(const char *group);

#endif
