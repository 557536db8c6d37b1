/*
 * One pair after the other, with the best so far in registers: value and index
 * lie side by side in memory, and vectors would have to take them apart.
 *
 * Members are stored one by one, because padding belongs to the program.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "reduce_pair.h"

/* clang-format off */
#define PAIR_KERNEL(_op, _wins, _id, _type, _value, _index)                                      \
    void arc_reduce_##_op##_##_id(const void *const *parts, unsigned n, void *out, size_t count, \
                                  const void *context)                                           \
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
