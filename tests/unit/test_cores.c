/*
 * Which ranks have a processor of their own.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"
#include "cores.h"

enum {
    BITS = CHAR_BIT * sizeof(unsigned long),
    PROCESSORS = 65536, /* that arc_cores_get() has room for */
    MASK_WORDS = PROCESSORS / BITS,
    MOST_RANKS = 4096,
};

static arc_cores_t all[MOST_RANKS];
static unsigned long mask[MASK_WORDS];

/* Rank `rank` may run on `count` processors: `first`, `first` + `step`, ... */
static void may_run_on(unsigned rank, unsigned first, unsigned count, unsigned step)
{
    memset(mask, 0, sizeof mask);
    for (unsigned i = 0; i < count; ++i) {
        const unsigned processor = first + i * step;
        assert_true(processor < PROCESSORS);
        mask[processor / BITS] |= 1UL << processor % BITS;
    }
    memset(&all[rank], 0, sizeof all[rank]);
    arc_cores_set_mask(&all[rank], mask, MASK_WORDS);
    assert_int_equal(count, all[rank].count);
}

/* Ranks of one kind: their masks begin `stride` processors after each other. */
typedef struct kind {
    unsigned ranks;
    unsigned first;
    unsigned count;
    unsigned stride;
    unsigned step;
} kind_t;

enum { KINDS = 4 };

typedef struct row {
    const char *name;
    bool shared;
    kind_t kind[KINDS];
} row_t;

// clang-format off
static const row_t rows[] = {
    {"one rank, one processor",                       false, {{1, 5, 1, 0, 1}}},
    {"each bound to one of its own",                  false, {{8, 0, 1, 1, 1}}},
    {"two bound to the same",                         true,  {{2, 3, 1, 0, 1}}},
    {"two bound to one, six that have all of 64",     true,  {{2, 3, 1, 0, 1}, {6, 0, 64, 0, 1}}},
    {"two bound, each its own, and six that have 64", false, {{2, 3, 1, 1, 1}, {6, 0, 64, 0, 1}}},
    {"as many unbound ranks as processors",           false, {{8, 0, 8, 0, 1}}},
    {"one unbound rank too many",                     true,  {{9, 0, 8, 0, 1}}},
    {"bound ones leave one for the unbound one",      false, {{3, 0, 1, 1, 1}, {1, 0, 4, 0, 1}}},
    {"bound ones leave none for the second unbound",  true,  {{3, 0, 1, 1, 1}, {2, 0, 4, 0, 1}}},
    {"the same, unbound ranks first",                 true,  {{2, 0, 4, 0, 1}, {3, 0, 1, 1, 1}}},
    {"two sockets, as many ranks as each has",        false, {{4, 0, 4, 0, 1}, {4, 4, 4, 0, 1}}},
    {"two sockets, all ranks on one of them",         true,  {{5, 0, 4, 0, 1}, {3, 4, 4, 0, 1}}},
    {"sockets of even and odd numbers",               false, {{8, 0, 8, 0, 2}, {8, 1, 8, 0, 2}}},
    {"... with one rank too many",                    true,  {{8, 0, 8, 0, 2}, {9, 1, 8, 0, 2}}},
    {"cores of two threads far apart",                false, {{64, 0, 2, 1, 64}}},
    {"two ranks on each such core",                   false, {{64, 0, 2, 1, 64}, {64, 0, 2, 1, 64}}},
    {"three on one of them",                          true,  {{64, 0, 2, 1, 64}, {2, 9, 2, 0, 64}}},
    {"a core, a cache and a socket around each other", false, {{1, 0, 1, 0, 1}, {3, 0, 4, 0, 1},
                                                               {4, 0, 8, 0, 1}}},
    {"... with one rank too many in the cache",       true,  {{1, 0, 1, 0, 1}, {4, 0, 4, 0, 1},
                                                               {4, 0, 16, 0, 1}}},
    {"4096 ranks on 4096 processors, bound",          false, {{4096, 0, 1, 1, 1}}},
    {"4096 ranks on 4096 processors, unbound",        false, {{4096, 0, 4096, 0, 1}}},
    {"4096 ranks on 4095 processors, unbound",        true,  {{4096, 0, 4095, 0, 1}}},
    {"2048 on the upper half, two of them on one",    true,  {{2047, 2048, 1, 1, 1}, {1, 4000, 1, 0, 1}}},
    {"the last of 65536 processors",                  false, {{2, 65534, 1, 1, 1}}},
    {"the last of 65536 processors twice",            true,  {{2, 65535, 1, 0, 1}}},
    {"100 ranks with masks of more words than are told", false, {{100, 0, 60, 1, 1000}}},
    {"... and two with the same",                     true,  {{99, 0, 60, 1, 1000}, {9, 5, 60, 0, 1000}}},
};
// clang-format on

static void is_decided(void **state)
{
    const row_t *row = *state;
    unsigned ranks = 0;

    for (unsigned i = 0; i < KINDS; ++i) {
        const kind_t *kind = &row->kind[i];
        for (unsigned j = 0; j < kind->ranks; ++j) {
            may_run_on(ranks++, kind->first + j * kind->stride, kind->count, kind->step);
        }
    }
    assert_int_equal(row->shared, arc_cores_are_shared(all, ranks));
}

/* The answer of one who tries all ways to give out the processors. */
static bool some_way(const unsigned *masks, unsigned ranks, unsigned taken)
{
    if (0 == ranks) {
        return true;
    }
    for (unsigned left = masks[0] & ~taken; 0 != left; left &= left - 1) {
        if (some_way(masks + 1, ranks - 1, taken | (left & -left))) {
            return true;
        }
    }
    return false;
}

/* Masks of a tree of 8 processors: pairs, fours, all. */
TEST(agrees_with_all_ways_on_a_tree)
{
    enum { SEED = 20261122, CASES = 3000, RANKS = 7, SPAN = 8 };
    unsigned of_shared = 0;

    test_random_t random = test_random_start(SEED);
    for (unsigned i = 0; i < CASES; ++i) {
        unsigned masks[RANKS];
        const unsigned ranks = 1 + (unsigned) test_random_below(&random, RANKS);
        for (unsigned rank = 0; rank < ranks; ++rank) {
            const unsigned count = 1U << test_random_below(&random, 4);
            const unsigned first = (unsigned) test_random_below(&random, SPAN) / count * count;
            masks[rank] = ((1U << count) - 1) << first;
            may_run_on(rank, first, count, 1);
        }
        const bool shared = !some_way(masks, ranks, 0);
        of_shared += shared;
        assert_int_equal(shared, arc_cores_are_shared(all, ranks));
    }
    assert_true(of_shared > CASES / 10 && of_shared < CASES / 10 * 9);
}

TEST(what_is_not_known_counts_as_shared)
{
    memset(all, 0, sizeof all);
    assert_true(arc_cores_are_shared(all, 1));
    may_run_on(0, 0, 4, 1);
    assert_false(arc_cores_are_shared(all, 1));
    assert_true(arc_cores_are_shared(all, 2));
}

TEST(quotas_are_shared_within_their_group)
{
    may_run_on(0, 0, 4, 1);
    may_run_on(1, 0, 4, 1);
    may_run_on(2, 0, 4, 1);
    /* 1.5 processors are enough for one rank, but not for two. */
    all[0].quota = all[1].quota = all[2].quota = 1500;
    all[0].group = 7;
    all[1].group = 8;
    all[2].group = 9;
    assert_false(arc_cores_are_shared(all, 3));
    all[2].group = 7;
    assert_true(arc_cores_are_shared(all, 3));
    all[0].quota = all[2].quota = 2000;
    assert_false(arc_cores_are_shared(all, 3));
    all[1].quota = 999;
    assert_true(arc_cores_are_shared(all, 3));
    /* No quota at all: the number of the group means nothing. */
    all[0].quota = all[1].quota = all[2].quota = 0;
    all[1].group = 7;
    assert_false(arc_cores_are_shared(all, 3));
}

TEST(who_had_to_wait_shares)
{
    static const uint64_t ms = 1000000;

    assert_false(arc_cores_are_crowded(0, 0, 4, 4));
    assert_int_equal(ARC_CORES_MANY, arc_cores_are_crowded(0, 0, 5, 4));
    assert_false(arc_cores_are_crowded(0, 0, 5, -1));              /* not known */
    assert_false(arc_cores_are_crowded(100 * ms, 900 * ms, 2, 4)); /* still starting */
    assert_int_equal(ARC_CORES_WAITED, arc_cores_are_crowded(1000 * ms, 1000 * ms, 2, 4));
    assert_true(arc_cores_are_crowded(1500 * ms, 500 * ms, 2, 4));
    assert_false(arc_cores_are_crowded(1501 * ms, 500 * ms, 2, 4));
    may_run_on(0, 0, 4, 1);
    all[0].crowded = 1;
    assert_true(arc_cores_are_shared(all, 1));
}

/* ---- files as the system has them, below a directory of this test ---- */

enum { RANDOM_BYTES = 6 }; /* at the end of the name */

static char root[] = "/tmp/test_cores.??????";

static void write_file(const char *path, const char *text)
{
    char name[PATH_MAX];
    assert_true(snprintf(name, sizeof name, "%s/%s", root, path) < (int) sizeof name);
    for (char *slash = name + sizeof root; NULL != (slash = strchr(slash, '/')); ++slash) {
        *slash = '\0';
        (void) mkdir(name, 0700);
        *slash = '/';
    }
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(0, fclose(file));
}

static int make_root(void **state)
{
    memset(root + sizeof root - 1 - RANDOM_BYTES, 'X', RANDOM_BYTES);
    return NULL == mkdtemp(root);
}

static int remove_root(void **state)
{
    char command[PATH_MAX];
    (void) snprintf(command, sizeof command, "rm -r '%s'", root);
    return system(command); /* NOLINT: the name is ours */
}

static uint32_t quota_now(void)
{
    arc_cores_t own;

    arc_cores_get(&own, 1, root);
    return own.quota;
}

TEST_WITHIN(quotas_of_version_2_are_found, make_root, remove_root)
{
    assert_int_equal(0, quota_now());
    write_file("proc/self/cgroup", "0::/a.slice/b.scope\n");
    assert_int_equal(0, quota_now());
    write_file("sys/fs/cgroup/a.slice/b.scope/cpu.max", "max 100000\n");
    assert_int_equal(0, quota_now());
    write_file("sys/fs/cgroup/a.slice/cpu.max", "250000 100000\n");
    assert_int_equal(2500, quota_now());
    write_file("sys/fs/cgroup/a.slice/b.scope/cpu.max", "150000 100000\n");
    assert_int_equal(1500, quota_now());
    write_file("sys/fs/cgroup/a.slice/b.scope/cpu.max", "350000 100000\n");
    assert_int_equal(2500, quota_now());
    write_file("sys/fs/cgroup/a.slice/b.scope/cpu.max", "1 100000\n");
    assert_int_equal(1, quota_now());
    /* In a container the group is what is mounted; its path may lead out of that. */
    write_file("sys/fs/cgroup/cpu.max", "50000 100000\n");
    write_file("proc/self/cgroup", "0::/../elsewhere\n");
    assert_int_equal(500, quota_now());
}

TEST_WITHIN(quotas_of_version_1_are_found, make_root, remove_root)
{
    write_file("proc/self/cgroup", "5:cpuset:/x\n4:cpu,cpuacct:/a/b\n1:name=systemd:/\n0::/y\n");
    write_file("sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "-1\n");
    write_file("sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "100000\n");
    assert_int_equal(0, quota_now());
    write_file("sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "75000\n");
    write_file("sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "50000\n");
    assert_int_equal(1500, quota_now());
    /* That of another controller has no quota. */
    write_file("sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "1\n");
    write_file("sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "100000\n");
    assert_int_equal(1500, quota_now());
}

TEST_WITHIN(times_waited_are_found, make_root, remove_root)
{
    arc_cores_t own;

    arc_cores_get(&own, 1, root);
    assert_false(own.crowded);
    assert_true(own.count > 0 && own.words > 0);
    write_file("proc/self/schedstat", "3000000000 2000000000 77\n");
    arc_cores_get(&own, 1, root);
    assert_true(own.crowded);
    write_file("proc/self/schedstat", "nonsense\n");
    arc_cores_get(&own, 1, root);
    assert_false(own.crowded);
    arc_cores_get(&own, 1000000, root);
    assert_true(own.crowded);
}

int main(void)
{
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        unit_add_row(is_decided, &rows[i], 0, "%s", rows[i].name);
    }
    return unit_run("cores");
}
