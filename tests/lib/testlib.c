/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fence.h"
#include "testlib.h"

enum { CANARY_BYTES = 128, CANARY = 0xc5, ALIGN_BYTES = 64 };

test_random_t test_random_start(uint64_t seed)
{
    const char *text = getenv("ARC_TEST_SEED");

    if (NULL != text) {
        seed = strtoull(text, NULL, 0);
    }
    printf("# seed %" PRIu64 "\n", seed);
    return (test_random_t){.state = seed};
}

test_random_t test_random_of(uint64_t seed, uint64_t stream)
{
    test_random_t random = {.state = seed};
    random.state = test_random_bits(&random) + stream;
    random.state = test_random_bits(&random);
    return random;
}

uint64_t test_random_bits(test_random_t *random)
{
    /* The constants of splitmix64: an odd step near 2^64 over the golden ratio, two mixers. */
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t test_random_below(test_random_t *random, uint64_t bound)
{
    return (uint64_t) ((unsigned __int128) test_random_bits(random) * bound >> 64);
}

double test_random_unit(test_random_t *random)
{
    return (double) (test_random_bits(random) >> 11) * 0x1p-53;
}

double test_random_normal(test_random_t *random)
{
    const double two_pi = 6.283185307179586;
    double radius = sqrt(-2 * log(1 - test_random_unit(random)));
    return radius * cos(two_pi * test_random_unit(random));
}

void test_random_fill(test_random_t *random, void *data, size_t bytes)
{
    unsigned char *at = data;

    while (bytes > 0) {
        const uint64_t bits = test_random_bits(random);
        const size_t some = bytes < sizeof bits ? bytes : sizeof bits;
        memcpy(at, &bits, some);
        at += some;
        bytes -= some;
    }
}

void *test_alloc(size_t bytes)
{
    void *memory = malloc(0 == bytes ? 1 : bytes);

    if (NULL == memory) {
        fprintf(stderr, "test: no memory for %zu bytes\n", bytes);
        abort();
    }
    return memory;
}

void *test_zeros(size_t bytes)
{
    return memset(test_alloc(bytes), 0, bytes);
}

void test_free_at(void *pointer)
{
    free(*(void **) pointer);
}

test_buffer_t test_buffer_new(size_t bytes, size_t misaligned)
{
    const size_t total = ALIGN_BYTES + CANARY_BYTES + misaligned + bytes + CANARY_BYTES;
    unsigned char *allocation = test_alloc(total);
    uintptr_t unaligned = (uintptr_t) allocation + CANARY_BYTES;
    size_t skip = (ALIGN_BYTES - unaligned % ALIGN_BYTES) % ALIGN_BYTES;
    test_buffer_t buffer = {
        .data = allocation + CANARY_BYTES + skip + misaligned,
        .bytes = bytes,
        .allocation = allocation,
        .allocated_bytes = total,
    };

    memset(buffer.data - CANARY_BYTES, CANARY, CANARY_BYTES);
    memset(buffer.data + bytes, CANARY, CANARY_BYTES);
    fence(allocation, total, buffer.data, bytes);
    test_buffer_poison(&buffer);
    return buffer;
}

void test_buffer_free(test_buffer_t *buffer)
{
    free(buffer->allocation);
    *buffer = (test_buffer_t){0};
}

bool test_buffer_intact(const test_buffer_t *buffer)
{
    bool intact = true;

    fence_open(buffer->allocation, buffer->allocated_bytes);
    for (size_t i = 0; i < CANARY_BYTES; ++i) {
        intact = intact && CANARY == buffer->data[buffer->bytes + i] &&
                 CANARY == buffer->data[(ptrdiff_t) i - CANARY_BYTES];
    }
    fence(buffer->allocation, buffer->allocated_bytes, buffer->data, buffer->bytes);
    return intact;
}

void test_require(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "test: %s\n", what);
        abort();
    }
}

void test_buffer_poison(test_buffer_t *buffer)
{
    memset(buffer->data, TEST_POISON, buffer->bytes);
}
