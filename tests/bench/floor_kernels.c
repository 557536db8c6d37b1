/*
 * The loops of floor_kernels.h: one template for each width of vectors.
 *
 * Written out, because the compiler makes a call of memcpy() of a plain loop. That
 * one is a manner of its own: for long copies it uses instructions that need not
 * read the lines that they write, and chooses by rules of its own.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "floor_kernels.h"

/* A compiler that must assume that memory changes here does not recognize memcpy(). */
#define KEEP_LOOP() __asm__ volatile("" ::: "memory")

#define ELEMS(_vector) (sizeof(_vector) / sizeof(float))

#define DEFINE_VECTOR(_isa, _bytes) \
    typedef float vector_##_isa     \
        __attribute__((vector_size(_bytes), aligned(sizeof(float)), may_alias));

/* copy_<name> and add_both_<name>; _store(to, vector) stores what the other side will read. */
#define DEFINE_STORES(_name, _isa, _target, _store, _fence)                                       \
    _target static void copy_##_name(float *to, const float *from, size_t count)                  \
    {                                                                                             \
        size_t i = 0;                                                                             \
        for (; i + ELEMS(vector_##_isa) <= count; i += ELEMS(vector_##_isa)) {                    \
            _store(vector_##_isa, to + i, *(const vector_##_isa *) (from + i));                   \
            KEEP_LOOP();                                                                          \
        }                                                                                         \
        for (; i < count; i++) {                                                                  \
            to[i] = from[i];                                                                      \
            KEEP_LOOP();                                                                          \
        }                                                                                         \
        _fence();                                                                                 \
    }                                                                                             \
    _target static void add_both_##_name(float *out, float *also, const float *a, const float *b, \
                                         size_t count)                                            \
    {                                                                                             \
        size_t i = 0;                                                                             \
        for (; i + ELEMS(vector_##_isa) <= count; i += ELEMS(vector_##_isa)) {                    \
            vector_##_isa sum =                                                                   \
                *(const vector_##_isa *) (a + i) + *(const vector_##_isa *) (b + i);              \
            *(vector_##_isa *) (out + i) = sum;                                                   \
            _store(vector_##_isa, also + i, sum);                                                 \
        }                                                                                         \
        for (; i < count; i++) {                                                                  \
            out[i] = also[i] = a[i] + b[i];                                                       \
        }                                                                                         \
        _fence();                                                                                 \
    }

#define DEFINE_ADD(_isa, _target)                                                            \
    _target static void add_##_isa(float *out, const float *a, const float *b, size_t count) \
    {                                                                                        \
        size_t i = 0;                                                                        \
        for (; i + ELEMS(vector_##_isa) <= count; i += ELEMS(vector_##_isa)) {               \
            *(vector_##_isa *) (out + i) =                                                   \
                *(const vector_##_isa *) (a + i) + *(const vector_##_isa *) (b + i);         \
        }                                                                                    \
        for (; i < count; i++) {                                                             \
            out[i] = a[i] + b[i];                                                            \
        }                                                                                    \
    }

#define STORE_ORDINARY(_vector, _to, _value) (*(_vector *) (_to) = (_value))
#define NO_FENCE() ((void) 0)
#define ANY_PROCESSOR /* no attribute */

DEFINE_VECTOR(any, 16)
DEFINE_ADD(any, ANY_PROCESSOR)
DEFINE_STORES(any, any, ANY_PROCESSOR, STORE_ORDINARY, NO_FENCE)

static void copy_library(float *to, const float *from, size_t count)
{
    memcpy(to, from, count * sizeof *to);
}

/* The sum is copied from `out`, where it is in the nearest cache. */
#define DEFINE_LIBRARY(_isa)                                                                       \
    static void add_both_##_isa##_library(float *out, float *also, const float *a, const float *b, \
                                          size_t count)                                            \
    {                                                                                              \
        add_##_isa(out, a, b, count);                                                              \
        copy_library(also, out, count);                                                            \
    }

DEFINE_LIBRARY(any)

static const floor_kernels_t kernels_any = {
    .add = add_any,
    .ordinary = {copy_any, add_both_any, copy_any},
    .library = {copy_library, add_both_any_library, copy_library},
};

#if defined(__x86_64__)

#define DEFINE_X86(_isa, _target, _bytes, _stream)                                        \
    DEFINE_VECTOR(_isa, _bytes)                                                           \
    DEFINE_ADD(_isa, _target)                                                             \
    DEFINE_STORES(_isa, _isa, _target, STORE_ORDINARY, NO_FENCE)                          \
    DEFINE_STORES(_isa##_streaming, _isa, _target, _stream, _mm_sfence)                   \
    DEFINE_LIBRARY(_isa)                                                                  \
    static const floor_kernels_t kernels_##_isa = {                                       \
        .add = add_##_isa,                                                                \
        .ordinary = {copy_##_isa, add_both_##_isa, copy_##_isa},                          \
        .library = {copy_library, add_both_##_isa##_library, copy_library},               \
        .streaming = {copy_##_isa##_streaming, add_both_##_isa##_streaming, copy_##_isa}, \
    };

#define STREAM_AVX2(_vector, _to, _value) _mm256_stream_ps(_to, (__m256) (_value))
#define STREAM_AVX512(_vector, _to, _value) _mm512_stream_ps(_to, (__m512) (_value))

DEFINE_X86(avx2, __attribute__((target("avx2"))), 32, STREAM_AVX2)
DEFINE_X86(avx512, __attribute__((target("avx512f"))), 64, STREAM_AVX512)

const floor_kernels_t *floor_kernels(void)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f")) {
        return &kernels_avx512;
    }
    return __builtin_cpu_supports("avx2") ? &kernels_avx2 : &kernels_any;
}

#else

const floor_kernels_t *floor_kernels(void)
{
    return &kernels_any;
}

#endif
