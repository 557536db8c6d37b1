/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <limits.h>
#include <malloc.h>

#include "unit.h"

enum { MAPPED_BYTES = 32 << 20 }; /* the most that glibc allows */

static struct CMUnitTest *tests;
static size_t used;

static struct CMUnitTest *add(const struct CMUnitTest *test)
{
    struct CMUnitTest *more = realloc(tests, (used + 1) * sizeof(*more));

    if (NULL == more) {
        abort();
    }
    tests = more;
    tests[used] = *test;
    return &tests[used++];
}

void unit_add(const struct CMUnitTest *more, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        (void) add(&more[i]);
    }
}

/* The first rows, and one of so many others: drawn, as those of a kind may be at equal distances.
 */
static bool is_drawn(void)
{
    enum { FIRST = 10, SEED = 20261126 };
    static test_random_t random;
    static size_t rows;
    const char *text = getenv("ARC_TEST_SHARE");
    const uint64_t share = NULL == text ? 1 : strtoul(text, NULL, 10);

    random = 0 == rows ? test_random_start(SEED) : random;
    return ++rows <= FIRST || share < 2 || 0 == test_random_below(&random, share);
}

void unit_add_of(const char *of, const void *state, const struct CMUnitTest *more, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        if (!is_drawn()) {
            continue;
        }
        struct CMUnitTest *test = add(&more[i]);
        const size_t bytes = strlen(of) + strlen(more[i].name) + sizeof(": ");
        char *name = test_alloc(bytes);
        (void) snprintf(name, bytes, "%s: %s", of, more[i].name);
        test->name = name;
        test->initial_state = (void *) (uintptr_t) state;
    }
}

void unit_add_row(CMUnitTestFunction function, const void *row, size_t bytes, const char *format,
                  ...)
{
    enum { NAME_BYTES = 192 };
    void *state = (void *) (uintptr_t) row;
    va_list arguments;

    if (!is_drawn()) {
        return;
    }
    char *name = test_alloc(NAME_BYTES);
    if (bytes > 0) {
        state = memcpy(test_alloc(bytes), row, bytes);
    }
    va_start(arguments, format);
    (void) vsnprintf(name, NAME_BYTES, format, arguments);
    va_end(arguments);
    (void) add(&(struct CMUnitTest){.name = name, .test_func = function, .initial_state = state});
}

int unit_run(const char *group)
{
    /* Memory that a test frees is the next one's: a new mapping is one more page fault a page. */
    (void) mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
    (void) mallopt(M_TRIM_THRESHOLD, INT_MAX);
    return _cmocka_run_group_tests(group, tests, used, NULL, NULL);
}
