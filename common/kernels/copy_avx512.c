/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#define ARC_COPIER arc_copier_avx512
#define VECTOR __m512i
#define LOAD(_from) _mm512_loadu_si512(_from)
#define STREAM(_to, _vector) _mm512_stream_si512((__m512i *) (_to), _vector)
#include "copy_stream.h"
