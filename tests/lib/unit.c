/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "unit.h"

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

void unit_add_of(const char *of, const void *state, const struct CMUnitTest *more, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
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
    char *name = test_alloc(NAME_BYTES);
    void *state = (void *) (uintptr_t) row;
    va_list arguments;

    if (bytes > 0) {
        state = memcpy(test_alloc(bytes), row, bytes);
    }
    va_start(arguments, format);
    (void) vsnprintf(name, NAME_BYTES, format, arguments);
    va_end(arguments);
    (void) add(&(struct CMUnitTest){.name = name, .test_func = function, .initial_state = state});
}

/* The first of so many, and so on; short tables stay whole. */
static void keep_share(size_t share)
{
    enum { SHORT = 30 };
    size_t kept = 0;

    for (size_t i = 0; i < used && share > 1 && used > SHORT; i += share) {
        tests[kept++] = tests[i];
    }
    used = kept > 0 ? kept : used;
}

int unit_run(const char *group)
{
    const char *share = getenv("ARC_TEST_SHARE");

    keep_share(NULL == share ? 1 : strtoul(share, NULL, 10));
    return _cmocka_run_group_tests(group, tests, used, NULL, NULL);
}
