# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause

# ARC_CHECK_ISA
# Which vector instruction sets there are kernels for, as far as the compiler can build them and
# --with-isa allows them: HAVE_ISA_x, x_CFLAGS.
# Which one runs is decided at run time (common/core/cpu.c).
AC_DEFUN([ARC_CHECK_ISA], [
    AC_ARG_WITH([isa],
        [AS_HELP_STRING([--with-isa=scalar|avx2|avx512|avx512_bf16],
            [best instruction set to build kernels for (default: avx512_bf16; on 64-bit Arm all but scalar
             are NEON). Lower it for processors that run slower while they execute AVX-512 (Intel
             before Ice Lake), to compare, or to work around a fault])],
        [], [with_isa=avx512_bf16])
    AS_CASE([$with_isa],
        [scalar], [arc_isas_allowed=],
        [avx2], [arc_isas_allowed="neon avx2"],
        [avx512], [arc_isas_allowed="neon avx2 avx512"],
        [avx512_bf16], [arc_isas_allowed="neon avx2 avx512 avx512_bf16"],
        [AC_MSG_ERROR([--with-isa=$with_isa: scalar, avx2, avx512 or avx512_bf16])])
    ARC_ISAS=scalar
    _ARC_TRY_ISA([NEON], [neon], [], [float32x4_t], [vcvt_f32_f16(vcvt_f16_f32(vdupq_n_f32(0)))])
    _ARC_TRY_ISA([AVX2], [avx2], [-mavx2 -mf16c],
        [__m256i], [_mm256_abs_epi8(_mm256_castps_si256(_mm256_cvtph_ps(_mm_setzero_si128())))])
    _ARC_TRY_ISA([AVX512], [avx512], [-mavx512f -mavx512bw -mavx512dq -mavx512vl -mf16c],
        [__m512i], [_mm512_max_epu32(_mm512_setzero_si512(), _mm512_abs_epi8(_mm512_setzero_si512()))])
    _ARC_TRY_ISA([AVX512_BF16], [avx512_bf16],
        [-mavx512f -mavx512bw -mavx512dq -mavx512vl -mf16c -mavx512bf16],
        [__m512bh], [_mm512_cvtne2ps_pbh(_mm512_setzero_ps(), _mm512_setzero_ps())])
])

# _ARC_TRY_ISA(NAME, name, FLAGS, TYPE, EXPRESSION)
AC_DEFUN([_ARC_TRY_ISA], [
    AC_CACHE_CHECK([whether $CC builds $2], [arc_cv_isa_$2], [
        arc_save_CFLAGS=$CFLAGS
        CFLAGS="$CFLAGS $3"
        AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
#ifdef __aarch64__
#include <arm_neon.h>
#else
#include <immintrin.h>
#endif]], [[$4 x = $5; (void) x;]])],
            [arc_cv_isa_$2=yes], [arc_cv_isa_$2=no])
        CFLAGS=$arc_save_CFLAGS
    ])
    AS_CASE([" $arc_isas_allowed "], [*" $2 "*], [arc_isa=$arc_cv_isa_$2], [arc_isa=no])
    AS_IF([test $arc_isa = yes], [
        ARC_ISAS="$ARC_ISAS $2"
        $1_CFLAGS="$3"
        AC_DEFINE([HAVE_ISA_$1], [1], [Define to 1 if there are kernels for $2.])
    ], [
        AC_DEFINE([HAVE_ISA_$1], [0])
    ])
    AC_SUBST([$1_CFLAGS])
    AM_CONDITIONAL([HAVE_ISA_$1], [test $arc_isa = yes])
])
