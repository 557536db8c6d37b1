/*
 * All kernels for AVX-512; compiled with AVX512_CFLAGS, entered after a CPU check.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "vector_avx512.h"

#define WIDE_STREAM(_to, _x) _mm512_stream_si512((__m512i *) (_to), _x)

#define ARC_REDUCE_TABLE arc_reduce_table_avx512
#define ARC_COPIER arc_copier_avx512
#include "kernels_vector.h"
#include "copy_stream.h"
