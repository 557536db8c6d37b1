/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "unit.h"
#include "exchange_layout.h"

enum { ROW = 64 };

/* clang-format off */
static const size_t counts[] = {
    0, 1, 63, 64, 65, 127, 128, 4095, 4096, 4097, 10007, 64 * 17, 64 * 17 + 1, 1000003,
    SIZE_MAX / 4, SIZE_MAX - 64, SIZE_MAX - 63, SIZE_MAX - 1, SIZE_MAX,
};
/* clang-format on */
static const unsigned shards[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 1000};

#define EACH_LAYOUT(_layout, _segment)                                     \
    for (size_t _c = 0; _c < sizeof(counts) / sizeof(counts[0]); ++_c)     \
        for (size_t _s = 0; _s < sizeof(shards) / sizeof(shards[0]); ++_s) \
            for (exchange_layout_t _layout = {.count = counts[_c],         \
                                             .shards = shards[_s],         \
                                             .row_elems = ROW,             \
                                             .segment_elems = (_segment)}; \
                 0 != _layout.shards; _layout.shards = 0)

TEST(shards_cover_the_vector_in_rows_and_differ_by_one_at_most)
{
    EACH_LAYOUT(layout, 4096)
    {
        const size_t longest = exchange_layout_shard(&layout, 0).elems;
        size_t next = 0;
        for (unsigned shard = 0; shard < layout.shards; ++shard) {
            exchange_span_t span = exchange_layout_shard(&layout, shard);
            assert_true(span.begin == next);
            assert_true(0 == span.elems || 0 == span.begin % ROW);
            assert_true(span.elems <= longest);
            /* One row for the division, less than one because the vector may end in a row. */
            assert_true(longest - span.elems < 2 * ROW);
            next = span.begin + span.elems;
        }
        assert_true(layout.count == next);
    }
}

TEST(segments_cover_their_shard_and_are_empty_behind_it)
{
    const size_t limit = 300; /* of segments to walk: a vector of SIZE_MAX has many */

    EACH_LAYOUT(layout, 512)
    {
        const size_t segments = exchange_layout_segments(&layout);
        for (unsigned shard = 0; shard < layout.shards; ++shard) {
            exchange_span_t whole = exchange_layout_shard(&layout, shard);
            size_t left = whole.elems;
            for (size_t segment = 0; segment < limit && 0 != left; ++segment) {
                exchange_span_t span = exchange_layout_segment(&layout, shard, segment);
                assert_true(span.begin == whole.begin + (whole.elems - left));
                assert_true(span.elems == (left < 512 ? left : 512));
                left -= span.elems;
            }
            assert_int_equal(0, exchange_layout_segment(&layout, shard, segments).elems);
            assert_int_equal(0, exchange_layout_segment(&layout, shard, SIZE_MAX).elems);
        }
        if (0 != segments) {
            assert_int_not_equal(0, exchange_layout_segment(&layout, 0, segments - 1).elems);
        }
    }
}

TEST(the_documented_example_is_cut_as_documented)
{
    /* 1000 elements are 16 rows: shards of 6, 5 and 5 rows, the last one 24 elements short. */
    const exchange_layout_t layout = {
        .count = 1000, .shards = 3, .row_elems = ROW, .segment_elems = 128};
    static const size_t begins[] = {0, 384, 704};
    static const size_t lengths[] = {384, 320, 296};

    assert_int_equal(3, exchange_layout_segments(&layout));
    for (unsigned shard = 0; shard < 3; ++shard) {
        assert_int_equal(begins[shard], exchange_layout_shard(&layout, shard).begin);
        assert_int_equal(lengths[shard], exchange_layout_shard(&layout, shard).elems);
    }
    assert_int_equal(960, exchange_layout_segment(&layout, 2, 2).begin);
    assert_int_equal(40, exchange_layout_segment(&layout, 2, 2).elems);
}

/* Rank r owns shard r + 1 and has block r. */
TEST(shards_of_blocks_are_the_block_of_their_owner)
{
    static const size_t block_counts[] = {0, 1, 63, 64, 65, 127, 128, 129, 4097, 10007};

    for (size_t c = 0; c < sizeof(block_counts) / sizeof(block_counts[0]); ++c) {
        for (unsigned ranks = 2; ranks <= 9; ++ranks) {
            const exchange_layout_t layout = {.count = block_counts[c],
                                              .shards = ranks,
                                              .row_elems = ROW,
                                              .segment_elems = 512,
                                              .blocks = true};
            for (unsigned rank = 0; rank < ranks; ++rank) {
                const exchange_span_t span = exchange_layout_shard(&layout, (rank + 1) % ranks);
                assert_true(span.begin == rank * block_counts[c]);
                assert_true(span.elems == block_counts[c]);
            }
        }
    }
}

/* One chunk after the other, and in each the parts of the shards. */
TEST(chunks_follow_each_other_and_so_do_their_parts)
{
    static const size_t chunk_elems[] = {ROW, 3 * ROW, 100, 4096, 10007};

    for (size_t c = 0; c < sizeof(chunk_elems) / sizeof(chunk_elems[0]); ++c) {
        for (size_t count = 0; count < 30000; count += 1 + count / 3) {
            for (unsigned shards_of = 1; shards_of <= 9; ++shards_of) {
                const size_t chunks = 0 == count ? 1 : (count - 1) / chunk_elems[c] + 1;
                /* The last chunk has what is left: here up to a chunk and a half. */
                const exchange_layout_t layout = {.count = count + chunk_elems[c] / 2,
                                                  .shards = shards_of,
                                                  .row_elems = ROW,
                                                  .chunks = chunks,
                                                  .chunk_elems = chunk_elems[c]};
                assert_int_equal(chunks, exchange_layout_segments(&layout));
                size_t next = 0;
                for (size_t chunk = 0; chunk < chunks; ++chunk) {
                    for (unsigned shard = 0; shard < shards_of; ++shard) {
                        const exchange_span_t span = exchange_layout_segment(&layout, shard, chunk);
                        assert_true(span.begin == next);
                        assert_true(0 == span.elems ||
                                    0 == (span.begin - chunk * chunk_elems[c]) % ROW);
                        next += span.elems;
                    }
                    assert_true(chunk + 1 == chunks || next == (chunk + 1) * chunk_elems[c]);
                }
                assert_true(next == layout.count);
                assert_int_equal(0, exchange_layout_segment(&layout, 0, chunks).elems);
            }
        }
    }
}
