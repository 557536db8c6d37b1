/*
 * All kernels for NEON, which has no wider vectors than 16 bytes: these are the wide ones of
 * vector.h, and those of 8 bytes the short ones.  BFCVT is not used: it rounds as FPCR says, which
 * is the program's.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <arm_neon.h>

#include "reduce_half.h"

enum { SHORT_BYTES = 8 };

#define WIDE_BYTES 16
#define WIDE_REGISTER(_kind) uint8x16_t
#define SHORT_REGISTER(_kind) uint8x8_t
#define WIDE_HALF_REGISTER uint8x8_t
#define WIDE_ODD(_even, _odd) vbslq_u8((uint8x16_t) vdupq_n_u32(0xffff), _even, _odd)
#define SHORT_ODD(_even, _odd) vbsl_u8((uint8x8_t) vdup_n_u32(0xffff), _even, _odd)
#define WIDE_WHERE_GREATER(_a, _b, _then, _else) \
    vbslq_u8((uint8x16_t) vcgtq_s16((int16x8_t) (_a), (int16x8_t) (_b)), _then, _else)
#define SHORT_WHERE_GREATER(_a, _b, _then, _else) \
    vbsl_u8((uint8x8_t) vcgt_s16((int16x4_t) (_a), (int16x4_t) (_b)), _then, _else)
#define WIDE_WHERE_NAN(_x, _then, _else) \
    vbslq_u8((uint8x16_t) vceqq_f32((float32x4_t) (_x), (float32x4_t) (_x)), _else, _then)
#define WIDE_EVENS(_a, _b) vuzp1q_f32((float32x4_t) (_a), (float32x4_t) (_b))
#define WIDE_ODDS(_a, _b) vuzp2q_f32((float32x4_t) (_a), (float32x4_t) (_b))
#define WIDE_UNZIP(_x) (_x)

/* By the names that x86 has for them. */
#define WIDE_NAME(_name) WIDE_##_name
#define WIDE_set1_epi16(_x) ((uint8x16_t) vdupq_n_s16(_x))
#define WIDE_set1_epi32(_x) ((uint8x16_t) vdupq_n_s32(_x))
#define WIDE_avg_epu16(_a, _b) ((uint8x16_t) vrhaddq_u16((uint16x8_t) (_a), (uint16x8_t) (_b)))
#define WIDE_cvtepu16_epi32(_x) vmovl_u16((uint16x4_t) (_x))
#define WIDE_cvtph_ps(_x) vcvt_f32_f16((float16x4_t) (_x))
#define WIDE_cvtps_ph(_x, _rounding) narrow_to_fp16(_x)
#define WIDE_JOIN(_a, _b) vcombine_u8(_a, _b)
#define SHORT_NAME(_name) SHORT_##_name
#define SHORT_set1_epi16(_x) ((uint8x8_t) vdup_n_s16(_x))
#define SHORT_avg_epu16(_a, _b) ((uint8x8_t) vrhadd_u16((uint16x4_t) (_a), (uint16x4_t) (_b)))
#define SHORT_cvtph_ps(_x) vget_low_f32(vcvt_f32_f16((float16x4_t) (_x)))
#define SHORT_UPPER(_x) ((uint8x8_t) vshr_n_u64((uint64x1_t) (_x), 32))
/* Joined before, as floats. */
#define SHORT_cvtps_ph(_x, _rounding) (_x)
#define SHORT_JOIN(_a, _b) narrow_to_fp16((uint8x16_t) vcombine_u8(_a, _b))

/* The instruction rounds as the program has asked for.  This is vectorized by the compiler. */
static inline __attribute__((always_inline)) uint8x8_t narrow_to_fp16(uint8x16_t floats)
{
    float from[4];
    uint16_t to[4];
    uint8x8_t halves;

    memcpy(from, &floats, sizeof from);
    for (unsigned i = 0; i < 4; ++i) {
        to[i] = arc_fp16_narrow(from[i]);
    }
    memcpy(&halves, to, sizeof halves);
    return halves;
}

#define ARC_REDUCE_TABLE arc_reduce_table_neon
#include "kernels_vector.h"
