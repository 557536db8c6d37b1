/*
 * What all tests need: a seeded random generator and buffers that notice a
 * write, or under a sanitizer also a read, outside their bounds.
 *
 * Knows no test framework: functions report, the test asserts.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef TESTLIB_H
#define TESTLIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A 64-bit generator (splitmix); copy it to fork a stream. */
typedef struct test_random {
    uint64_t state;
} test_random_t;

/* Seeds from the environment variable ARC_TEST_SEED if that is set, else from `seed`; prints it. */
test_random_t test_random_start(uint64_t seed);

/* A generator of its own for (seed, stream), silent. */
test_random_t test_random_of(uint64_t seed, uint64_t stream);

uint64_t test_random_bits(test_random_t *random);
void test_random_fill(test_random_t *random, void *data, size_t bytes);

/* Uniform in 0 .. bound - 1; bound > 0. */
uint64_t test_random_below(test_random_t *random, uint64_t bound);

/* Uniform in [0, 1). */
double test_random_unit(test_random_t *random);

/* Normal with mean 0 and variance 1. */
double test_random_normal(test_random_t *random);

/*
 * Memory of `bytes` bytes between two canaries, which a sanitizer lets nobody read
 * (fence.h).  The first byte is `misaligned` bytes behind a multiple of 64.
 */
typedef struct test_buffer {
    unsigned char *data;
    size_t bytes;
    void *allocation;
    size_t allocated_bytes;
} test_buffer_t;

/* Ends the program if there is no memory: a test set-up that fails must fail the test. */
test_buffer_t test_buffer_new(size_t bytes, size_t misaligned);
void test_buffer_free(test_buffer_t *buffer);

/* Are both canaries as they were? */
bool test_buffer_intact(const test_buffer_t *buffer);

/* A test, or a contract of its simulation, that is broken ends the program, in every build. */
void test_require(bool good, const char *what);

enum { TEST_POISON = 0xa7 };

/* Fill the data with TEST_POISON, which no test writes everywhere by chance. */
void test_buffer_poison(test_buffer_t *buffer);

/* malloc() that ends the program instead of returning NULL. */
void *test_alloc(size_t bytes);

/* Its bytes are zeros. */
void *test_zeros(size_t bytes);

/* Of a pointer variable, which clang thinks unused if only that: what it points to is freed where
 * its block ends. */
#define SCOPED __attribute__((unused, cleanup(test_free_at)))
void test_free_at(void *pointer);

#endif
