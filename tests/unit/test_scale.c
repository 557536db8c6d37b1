/*
 * What follows from the number of ranks alone costs no more than in proportion to it: counted, not
 * timed.  The sources of common/core and common/exchange are compiled here so that every piece of
 * straight code counts.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "unit.h"
#include "scale_parts.h"

enum { FIRST_RANKS = 512, LAST_RANKS = 131072, STEP = 4 };

/* Beside what is in proportion: log2 of the ranks, and the part that is always the same. */
static const double slack = 1.05;

static void work_and_memory_grow_at_most_as_the_ranks_do(void **state)
{
    const scale_part_t *part = *state;
    uint64_t work_before = 0;
    size_t bytes_before = 0;

    for (unsigned ranks = FIRST_RANKS; ranks <= LAST_RANKS; ranks *= STEP) {
        uint64_t work = 0;
        const size_t bytes = part->run(ranks, &work);
        print_message("# %s: %u ranks, %llu pieces of code, %zu bytes\n", part->name, ranks,
                      (unsigned long long) work, bytes);
        assert_true(work > 0);
        if (ranks > FIRST_RANKS) {
            assert_true((double) work <= STEP * slack * (double) work_before);
            assert_true((double) bytes <= STEP * slack * (double) bytes_before);
        }
        work_before = work;
        bytes_before = bytes;
    }
}

/* Without counting, the test above would see nothing. */
TEST(more_work_counts_more)
{
    uint64_t few = 0;
    uint64_t many = 0;

    (void) scale_parts[0].run(FIRST_RANKS, &few);
    (void) scale_parts[0].run(STEP * FIRST_RANKS, &many);
    assert_true(few >= FIRST_RANKS && many > (STEP - 1) * few);
}

int main(void)
{
    for (const scale_part_t *part = scale_parts; NULL != part->name; ++part) {
        unit_add_row(work_and_memory_grow_at_most_as_the_ranks_do, part, 0, "%s", part->name);
    }
    return unit_run("scale");
}
