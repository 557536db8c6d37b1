/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#define ARC_COPIER arc_copier_avx2
#define VECTOR __m256i
#define LOAD(_from) _mm256_loadu_si256((const __m256i *) (_from))
#define STREAM(_to, _vector) _mm256_stream_si256((__m256i *) (_to), _vector)
#include "copy_stream.h"
