/*
 * The specification: no vector instructions beyond what every build has.
 *
 * Two parts at a time, in blocks that stay in the first-level cache:
 *
 *   total = parts[0] op parts[1];  total = total op parts[2];  ...
 *   out = total op parts[n - 1]
 *
 * `out` may be a part because a block of it is written last, when that block of
 * every other part has been read, and of the last part element by element.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "reduce_kernels.h"
#include "sizes.h"

/* Long enough to hide the calls, and a small part of any first-level cache. */
enum { BLOCK_BYTES = 2048, BLOCK_FLOATS = BLOCK_BYTES / sizeof(float) };

#define LARGER(_a, _b) ((_a) > (_b) ? (_a) : (_b))
#define SMALLER(_a, _b) ((_a) < (_b) ? (_a) : (_b))

/* out[i] = left[i] op right[i]; `out` may be either of them. */
typedef void (*combine_fn_t)(const void *left, const void *right, void *out, size_t count);

static void fold_parts(const void *const *parts, unsigned n, void *out, size_t count,
                       size_t element_bytes, combine_fn_t combine)
{
    _Alignas(64) unsigned char total[BLOCK_BYTES];

    if (1 == n) {
        arc_reduce_copy(parts[0], out, count * element_bytes);
        return;
    }
    for (size_t done = 0; done < count; done += BLOCK_BYTES / element_bytes) {
        const size_t elems = arc_min(count - done, BLOCK_BYTES / element_bytes);
        const size_t at = done * element_bytes;
        const unsigned char *left = (const unsigned char *) parts[0] + at;

        for (unsigned k = 1; k < n; ++k) {
            unsigned char *to = k < n - 1 ? total : (unsigned char *) out + at;
            combine(left, (const unsigned char *) parts[k] + at, to, elems);
            left = to;
        }
    }
}

/* clang-format off */
#define CONVERSIONS(_id, _type, _format)                                                        \
    static void widen_##_format(const void *halves, float *floats, size_t count)                \
    {                                                                                           \
        const _type *half = halves;                                                             \
        for (size_t i = 0; i < count; ++i) {                                                    \
            floats[i] = arc_##_format##_widen(half[i]);                                         \
        }                                                                                       \
    }                                                                                           \
    static void narrow_##_format(const float *floats, void *halves, size_t count)               \
    {                                                                                           \
        _type *half = halves;                                                                   \
        for (size_t i = 0; i < count; ++i) {                                                    \
            half[i] = arc_##_format##_narrow(floats[i]);                                        \
        }                                                                                       \
    }
/* clang-format on */

ARC_HALF_TABLE(CONVERSIONS)

/* total[i] = total[i] op part[i] */
typedef void (*accumulate_fn_t)(float *total, const uint16_t *part, size_t count);

/* The same for halves: the total is in floats, with a conversion before and one after. */
static void fold_halves(const void *const *parts, unsigned n, void *out, size_t count,
                        const arc_half_t *format, accumulate_fn_t accumulate)
{
    _Alignas(64) float total[BLOCK_FLOATS];

    if (1 == n) {
        arc_reduce_copy(parts[0], out, count * sizeof(uint16_t));
        return;
    }
    for (size_t done = 0; done < count; done += BLOCK_FLOATS) {
        const size_t elems = arc_min(count - done, BLOCK_FLOATS);

        format->widen((const uint16_t *) parts[0] + done, total, elems);
        for (unsigned k = 1; k < n; ++k) {
            accumulate(total, (const uint16_t *) parts[k] + done, elems);
        }
        format->narrow(total, (uint16_t *) out + done, elems);
    }
}

/* clang-format off */
#define KERNEL(_op, _expression, _id, _type, _wrap, ...)                                        \
    static void combine_##_op##_##_id(const void *left, const void *right, void *out,           \
                                      size_t count)                                             \
    {                                                                                           \
        typedef _type T;                                                                        \
        typedef _wrap W __attribute__((unused));                                                \
        const T *l = left;                                                                      \
        const T *r = right;                                                                     \
        T *o = out;                                                                             \
        ARC_INDEPENDENT                                                                         \
        for (size_t i = 0; i < count; ++i) {                                                    \
            const T a = l[i];                                                                   \
            const T b = r[i];                                                                   \
            o[i] = _expression;                                                                 \
        }                                                                                       \
    }                                                                                           \
    static void reduce_##_op##_##_id(const void *const *parts, unsigned n, void *out,           \
                                     size_t count, const void *context)                         \
    {                                                                                           \
        (void) context;                                                                         \
        fold_parts(parts, n, out, count, sizeof(_type), combine_##_op##_##_id);                 \
    }

#define HALF_KERNEL(_op, _expression, _id, _type, _format)                                      \
    static void accumulate_##_op##_##_id(float *total, const _type *part, size_t count)         \
    {                                                                                           \
        typedef float T;                                                                        \
        typedef float W __attribute__((unused));                                                \
        for (size_t i = 0; i < count; ++i) {                                                    \
            const T a = total[i];                                                               \
            const T b = arc_##_format##_widen(part[i]);                                         \
            total[i] = _expression;                                                             \
        }                                                                                       \
    }                                                                                           \
    static void reduce_##_op##_##_id(const void *const *parts, unsigned n, void *out,           \
                                     size_t count, const void *context)                         \
    {                                                                                           \
        (void) context;                                                                         \
        static const arc_half_t half = {widen_##_format, narrow_##_format};                     \
        fold_halves(parts, n, out, count, &half, accumulate_##_op##_##_id);                     \
    }
/* clang-format on */

ARC_KERNELS

/*
 * One pair after the other, with the best so far in registers: value and index
 * lie side by side in memory, and vectors would have to take them apart.
 * Members are stored one by one, because padding belongs to the program.
 */

/* clang-format off */
#define PAIR_KERNEL(_op, _wins, _id, _type, _value, _index)                                      \
    static void reduce_##_op##_##_id(const void *const *parts, unsigned n, void *out,            \
                                     size_t count, const void *context)                         \
    {                                                                                            \
        _type *pairs = out;                                                                      \
        (void) context;                                                                          \
        for (size_t i = 0; i < count; ++i) {                                                     \
            _value value = ((const _type *) parts[0])[i].value;                                  \
            _index index = ((const _type *) parts[0])[i].index;                                  \
            for (unsigned k = 1; k < n; ++k) {                                                   \
                const _type *b = (const _type *) parts[k] + i;                                   \
                const bool stays = value _wins b->value;                                         \
                const bool first = value == b->value && index < b->index;                        \
                index = stays || first ? index : b->index;                                       \
                value = stays ? value : b->value;                                                \
            }                                                                                    \
            pairs[i].value = value;                                                              \
            pairs[i].index = index;                                                              \
        }                                                                                        \
    }
#define PAIR_KERNELS(...) ARC_PAIR_OP_TABLE(PAIR_KERNEL, __VA_ARGS__)
/* clang-format on */

ARC_PAIR_TABLE(PAIR_KERNELS)

#define PAIR_ENTRIES(...) ARC_PAIR_OP_TABLE(ARC_ENTRY, __VA_ARGS__)
const arc_reduce_table_t arc_reduce_table_scalar = {
    .reduce = {ARC_KERNEL_ENTRIES ARC_PAIR_TABLE(PAIR_ENTRIES)},
    .half = {ARC_HALF_TABLE(ARC_HALF_ENTRY)},
};
