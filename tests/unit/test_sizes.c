/*
 * Sizes divided and rounded up; and those that are no sizes: products and sums that overflow, or
 * are more than memory can have.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "unit.h"
#include "sizes.h"

enum { UNTOUCHED = 77 };

TEST(units_cover_any_size)
{
    static const struct {
        size_t size;
        size_t unit;
        size_t units;
    } rows[] = {
        {0, 64, 0},
        {1, 64, 1},
        {63, 64, 1},
        {64, 64, 1},
        {65, 64, 2},
        {7, 1, 7},
        {SIZE_MAX, 1, SIZE_MAX},
        {SIZE_MAX, 2, SIZE_MAX / 2 + 1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        assert_true(rows[i].units == arc_divide_up(rows[i].size, rows[i].unit));
    }
    assert_true(0 == arc_round_up(0, 64) && 64 == arc_round_up(1, 64) &&
                64 == arc_round_up(64, 64));
    /* The last multiple that is a size. */
    assert_true(SIZE_MAX - 63 == arc_round_up(SIZE_MAX - 126, 64));
}

TEST(bytes_are_a_product_and_a_sum_that_memory_can_have)
{
    static const struct {
        size_t count;
        size_t each_bytes;
        size_t more_bytes;
        size_t bytes; /* UNTOUCHED: refused */
    } rows[] = {
        {0, SIZE_MAX, 5, 5},
        {1000, 12, 7, 12007},
        {1, PTRDIFF_MAX, 0, PTRDIFF_MAX},
        {SIZE_MAX / 8 + 1, 8, 0, UNTOUCHED},  /* the product is 0 once it has overflown */
        {SIZE_MAX / 8 + 2, 8, 64, UNTOUCHED}, /* ... or small */
        {1, SIZE_MAX, 2, UNTOUCHED},          /* so is this sum */
        {1, PTRDIFF_MAX, 1, UNTOUCHED},
        {2, (size_t) PTRDIFF_MAX, 0, UNTOUCHED},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        size_t bytes = UNTOUCHED;
        assert_int_equal(
            UNTOUCHED != rows[i].bytes,
            arc_checked_bytes(rows[i].count, rows[i].each_bytes, rows[i].more_bytes, &bytes));
        assert_true(rows[i].bytes == bytes);
    }
}

TEST(parts_of_a_room_are_aligned_and_counted_alike)
{
    enum { PARTS = 4 };
    static const size_t bytes[PARTS] = {1, 0, 64, 65};
    static const size_t expected[PARTS] = {0, 64, 64, 128};
    unsigned char memory[5 * ARC_ALIGN_BYTES];
    arc_room_t room = {.memory = arc_align(memory)};
    arc_room_t counted = {.memory = NULL};

    assert_true((unsigned char *) room.memory - memory < ARC_ALIGN_BYTES);
    for (size_t i = 0; i < PARTS; ++i) {
        assert_ptr_equal((unsigned char *) room.memory + expected[i],
                         arc_room_take(&room, bytes[i]));
        assert_null(arc_room_take(&counted, bytes[i]));
    }
    assert_int_equal(4 * ARC_ALIGN_BYTES, room.used);
    assert_int_equal(room.used, counted.used);
}
