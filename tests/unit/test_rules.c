/*
 * Rules as text: what is read, what is refused and where it is said to be wrong, and which rule
 * counts.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "unit.h"
#include "lowlat_rules.h"

enum { TEXT_BYTES = 256 };

typedef struct complaints {
    unsigned count;
    char last[TEXT_BYTES];
} complaints_t;

static void complain(void *context, const char *what)
{
    complaints_t *complaints = context;

    complaints->count += 1;
    (void) snprintf(complaints->last, sizeof complaints->last, "%s", what);
}

/* The user's rules. */
static complaints_t read_text(lowlat_rules_t *rules, const char *text)
{
    complaints_t complaints = {.count = 0};

    lowlat_rules_init(rules, text, false, true, complain, &complaints);
    return complaints;
}

/* The last rule, as text. */
static void print_last(const lowlat_rules_t *rules, char text[TEXT_BYTES])
{
    assert_true(rules->count > rules->builtin);
    assert_in_range(lowlat_rule_print(&rules->rule[rules->count - 1], "", text, TEXT_BYTES), 1,
                    TEXT_BYTES - 1);
}

TEST(rules_are_read_and_written)
{
    static const struct {
        const char *text;
        const char *written; /* NULL: as it is read */
    } rows[] = {
        {"oneshot:0-16k", NULL},
        {"twoshot", "twoshot:0-inf"},
        {"twoshot:16k-", "twoshot:16k-inf"},
        {"twoshot:16384-1048576", "twoshot:16k-1m"},
        {"ranks=9-:butterfly:0-1000", "ranks=9-inf:butterfly:0-1000"},
        {"nodes=2:doubling:0-512", NULL},
        {"ranks=1-2:nodes=4:over=puts:direct_by_leaders:767-1535", NULL},
        {"cores=streaming:ranks=2:oneshot:0-8M", "ranks=2:cores=streaming:oneshot:0-8m"},
        {"calls=nonblocking:over=puts:doubling:0-1k", "over=puts:calls=nonblocking:doubling:0-1k"},
        {"  below : 3g-inf (learned) # why", "below:3g-inf"},
        {"# all of it\n(a, b) halving:0-8", "halving:0-8"},
        {",\n,nodes=2-3 :\thalving:0-8,\r\n", "nodes=2-3:halving:0-8"},
    };
    char text[TEXT_BYTES];

    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const char *written = NULL == rows[i].written ? rows[i].text : rows[i].written;
        lowlat_rules_t rules;

        assert_int_equal(read_text(&rules, rows[i].text).count, 0);
        assert_int_equal(rules.count, rules.builtin + 1);
        print_last(&rules, text);
        assert_string_equal(text, written);
        assert_int_equal(read_text(&rules, written).count, 0);
        print_last(&rules, text);
        assert_string_equal(text, written);
    }
}

/* Where, and what; the rules beside it count. */
TEST(a_wrong_rule_is_named_with_its_place)
{
    static const struct {
        const char *rule;
        unsigned character;
        const char *wrong;
    } rows[] = {
        {"pigeons:0-8", 1, "no such algorithm"},
        {"oneshots:0-8", 1, "no such algorithm"},
        {"0-8", 1, "no such algorithm"},
        {"nodes=2-:ring:1m-inf", 10, "only coll_lowlat_algorithm can choose the ring"},
        {"nodes=2", 1, "an algorithm is missing"},
        {"nodes=2:cores=shared:", 9, "an algorithm is missing"},
        {"oneshot:0-", 0, NULL},
        {"oneshot:16k", 9, "no range of sizes"},
        {"oneshot:16k-1k", 9, "no range of sizes"},
        {"oneshot:1k-1k", 9, "no range of sizes"},
        {"oneshot:0-8:0-9x", 13, "no range of sizes"},
        {"oneshot:0-8:16-32", 13, "no range of sizes"},
        {"ranks=2:ranks=4:oneshot", 9, "said twice"},
        {"oneshot:0-99999999999999999999", 9, "no range of sizes"},
        {"oneshot: -8", 10, "no range of sizes"},
        {"oneshot 0-8 twoshot", 13, "no range of sizes"},
        {"ranks=4-2:oneshot", 1, "no number, and no range of numbers"},
        {"ranks=:oneshot", 1, "no number, and no range of numbers"},
        {"nodes=many:oneshot", 1, "no number, and no range of numbers"},
        {"ranks=2:cores=apple:oneshot", 9, "no such word"},
        {"over=pigeons:doubling", 1, "no such word"},
        {"hosts=2:doubling", 1, "only ranks=, nodes=, caches=, cores=, over= and calls= are known"},
    };
    char text[TEXT_BYTES];
    char expected[TEXT_BYTES];

    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        lowlat_rules_t rules;

        (void) snprintf(text, sizeof text, "twoshot:8-9 # a, b\n%s,twoshot:9-10", rows[i].rule);
        (void) snprintf(expected, sizeof expected, "line 2, character %u: %s in \"%s\"",
                        rows[i].character, rows[i].wrong, rows[i].rule);
        const complaints_t complaints = read_text(&rules, text);
        const bool is_wrong = NULL != rows[i].wrong;
        assert_string_equal(complaints.last, is_wrong ? expected : "");
        assert_int_equal(complaints.count, is_wrong ? 1 : 0);
        assert_int_equal(rules.count, rules.builtin + (is_wrong ? 2 : 3));
        print_last(&rules, text);
        assert_string_equal(text, "twoshot:9-10");
    }
}

TEST(a_comment_behind_a_wrong_rule_is_no_rule)
{
    lowlat_rules_t rules;

    const complaints_t complaints = read_text(&rules, "pigeons:0-8 (a, oneshot) # b, oneshot\n");
    assert_int_equal(complaints.count, 1);
    assert_int_equal(rules.count, rules.builtin);
}

/* What depends on the length contradicts `reproducible`, and so do built-in rules. */
TEST(reproducible_refuses_what_depends_on_the_length)
{
    static const char *const refused[] = {"below", "butterfly", "nodes=2-:below:1m-inf"};
    static const char *const taken[] = {"oneshot:0-8", "nodes=2:doubling"};

    for (unsigned i = 0; i < sizeof refused / sizeof refused[0]; ++i) {
        complaints_t complaints = {.count = 0};
        lowlat_rules_t rules;
        lowlat_rules_init(&rules, refused[i], true, true, complain, &complaints);
        assert_int_equal(complaints.count, 1);
        assert_non_null(strstr(complaints.last, "coll_lowlat_reproducible"));
        assert_int_equal(rules.count, rules.builtin);
        for (unsigned k = 0; k < rules.count; ++k) {
            assert_true(LOWLAT_PASS_DOWN != rules.rule[k].candidate.algorithm);
        }
    }
    for (unsigned i = 0; i < sizeof taken / sizeof taken[0]; ++i) {
        complaints_t complaints = {.count = 0};
        lowlat_rules_t rules;
        lowlat_rules_init(&rules, taken[i], true, true, complain, &complaints);
        assert_int_equal(complaints.count, 0);
        assert_int_equal(rules.count, rules.builtin + 1);
    }
}

static lowlat_shape_t shape_of(unsigned nodes, unsigned least, unsigned most, size_t over)
{
    lowlat_shape_t shape = lowlat_shape_of(&(lowlat_group_t){.ranks = least});

    shape.fact[LOWLAT_FACT_RANKS].most = most;
    shape.fact[LOWLAT_FACT_NODES] = (lowlat_span_t){nodes, nodes};
    shape.fact[LOWLAT_FACT_OVER] = (lowlat_span_t){over, over};
    return shape;
}

/* The shape of one node has calls of both kinds, so no rule for one kind applies there. */
TEST(rules_tell_calls_apart_between_nodes)
{
    static const char text[] =
        "calls=blocking:below, calls=nonblocking:halving:0-1k, calls=blocking:oneshot";
    lowlat_shape_t shape = shape_of(2, 2, 2, LOWLAT_OVER_MESSAGES);
    lowlat_rules_t rules;

    assert_int_equal(read_text(&rules, text).count, 0);
    for (size_t calls = LOWLAT_CALLS_BLOCKING; calls <= LOWLAT_CALLS_NONBLOCKING; ++calls) {
        shape.fact[LOWLAT_FACT_CALLS] = (lowlat_span_t){calls, calls};
        assert_string_equal(
            lowlat_candidate_name(lowlat_rules_find(&rules, &shape, 100)->candidate),
            LOWLAT_CALLS_BLOCKING == calls ? "below" : "halving");
        assert_int_equal(lowlat_rules_builtin(&rules, lowlat_rules_find(&rules, &shape, 2000)),
                         LOWLAT_CALLS_NONBLOCKING == calls);
    }
    shape = shape_of(1, 2, 2, LOWLAT_OVER_NOTHING);
    assert_true(lowlat_rules_builtin(&rules, lowlat_rules_find(&rules, &shape, 100)));
}

TEST(the_last_rule_that_is_for_a_message_counts)
{
    static const char text[] = "butterfly:100-1k, ranks=3-:half_butterfly:0-200,"
                               "nodes=2-:halving:0-1k, nodes=2-3:over=puts:direct:0-1k,"
                               "ranks=2:nodes=2-:below:64-128, cores=shared:below";
    const struct {
        lowlat_shape_t shape;
        size_t bytes;
        const char *name; /* NULL: what is built in */
    } rows[] = {
        {shape_of(1, 2, 2, LOWLAT_OVER_NOTHING), 100, NULL},
        {shape_of(1, 2, 2, LOWLAT_OVER_NOTHING), 101, "butterfly"},
        {shape_of(1, 2, 2, LOWLAT_OVER_NOTHING), 1024, "butterfly"},
        {shape_of(1, 2, 2, LOWLAT_OVER_NOTHING), 1025, NULL},
        {shape_of(1, 3, 3, LOWLAT_OVER_NOTHING), 200, "half_butterfly"},
        {shape_of(1, 3, 3, LOWLAT_OVER_NOTHING), 201, "butterfly"},
        {shape_of(4, 1, 1, LOWLAT_OVER_PUTS), 64, "halving"},
        {shape_of(4, 1, 1, LOWLAT_OVER_PUTS), 2048, NULL},
        {shape_of(3, 1, 1, LOWLAT_OVER_PUTS), 64, "direct"},
        {shape_of(3, 1, 1, LOWLAT_OVER_MESSAGES), 64, "halving"},
        {shape_of(3, 2, 2, LOWLAT_OVER_MESSAGES), 65, "below"},
        /* Not all nodes have two ranks. */
        {shape_of(3, 1, 2, LOWLAT_OVER_MESSAGES), 65, "halving"},
        {shape_of(3, 2, 3, LOWLAT_OVER_MESSAGES), 65, "halving"},
    };
    lowlat_rules_t rules;

    assert_int_equal(read_text(&rules, text).count, 0);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const lowlat_rule_t *rule = lowlat_rules_find(&rules, &rows[i].shape, rows[i].bytes);
        assert_int_equal(lowlat_rules_builtin(&rules, rule), NULL == rows[i].name);
        if (NULL != rows[i].name) {
            assert_string_equal(lowlat_candidate_name(rule->candidate), rows[i].name);
        }
    }
}

/* docs/algorithms.md, "which algorithm when": with a core each, where one-shot ends. */
TEST(one_shot_ends_by_ranks_and_caches)
{
    static const struct {
        unsigned ranks, levels, caches;
        size_t most_bytes; /* 0: two-shot takes all */
    } rows[] = {
        {9, 2, 2, 512},  {15, 2, 2, 512}, {16, 2, 2, 56},  {23, 2, 3, 56},
        {63, 2, 6, 56},  {64, 2, 6, 0},   {256, 3, 16, 0}, {256, 3, 2, 56},
        {64, 2, 1, 512}, {9, 0, 2, 256},  {64, 0, 8, 256},
    };
    lowlat_rules_t rules;

    assert_int_equal(read_text(&rules, "").count, 0);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const lowlat_shape_t shape = lowlat_shape_of(&(lowlat_group_t){
            .ranks = rows[i].ranks, .levels = {.count = rows[i].levels, .caches = rows[i].caches}});
        for (size_t bytes = 1; bytes <= 2048; ++bytes) {
            const lowlat_rule_t *rule = lowlat_rules_find(&rules, &shape, bytes);
            assert_string_equal(lowlat_candidate_name(rule->candidate),
                                bytes <= rows[i].most_bytes ? "oneshot" : "twoshot");
        }
    }
}

/* Before the set-up: a rule for one node, or for several, may be for this communicator or not. */
TEST(nothing_is_passed_down_while_the_nodes_are_not_known)
{
    lowlat_shape_t shape = shape_of(1, 4, 4, LOWLAT_OVER_NOTHING);
    lowlat_rules_t rules;

    shape.fact[LOWLAT_FACT_NODES].most = SIZE_MAX;
    assert_int_equal(read_text(&rules, "below, nodes=1:below, nodes=1:butterfly:0-8").count, 0);
    for (size_t bytes = 1; bytes <= (size_t) 1 << 24; bytes *= 2) {
        const lowlat_rule_t *rule = lowlat_rules_find(&rules, &shape, bytes);
        assert_true(lowlat_rules_builtin(&rules, rule));
        assert_true(rule->candidate.algorithm < (unsigned) LOWLAT_NODES_FIRST);
    }
}

/* All lengths stay with somebody. */
TEST(more_pieces_than_a_map_has_room_for_go_in_two_shots)
{
    enum { FIT = LOWLAT_MAP_ENTRIES - 1, MANY = FIT + 20, STEP = 10 };
    const lowlat_group_t group = {.ranks = 4, .arena_bytes = 1 << 20};
    const lowlat_shape_t shape = lowlat_shape_of(&group);

    for (unsigned pieces = FIT; pieces <= MANY; pieces += MANY - FIT) {
        char text[MANY * TEXT_BYTES];
        size_t used = (size_t) snprintf(text, sizeof text, "below");
        lowlat_rules_t rules;
        lowlat_map_t map;

        for (unsigned i = 0; i < pieces; ++i) {
            used += (size_t) snprintf(text + used, sizeof text - used, ",%s:%u-%u",
                                      1 == i % 2 ? "below" : "oneshot", i * STEP, (i + 1) * STEP);
        }
        assert_int_equal(read_text(&rules, text).count, 0);
        lowlat_map_init(&map, &(lowlat_config_t){0}, &rules, &shape, &group);
        assert_int_equal(map.entries, LOWLAT_MAP_ENTRIES);
        assert_int_equal(lowlat_map_lookup(&map, STEP), LOWLAT_ALGORITHM_ONESHOT);
        assert_int_equal(lowlat_map_lookup(&map, 2 * STEP), LOWLAT_PASS_DOWN);
        assert_int_equal(lowlat_map_lookup(&map, FIT * STEP), LOWLAT_ALGORITHM_ONESHOT);
        for (size_t bytes = FIT * STEP + 1; bytes < SIZE_MAX / 2; bytes *= 2) {
            assert_int_equal(lowlat_map_lookup(&map, bytes),
                             FIT == pieces ? LOWLAT_PASS_DOWN : LOWLAT_ALGORITHM_TWOSHOT);
        }
    }
}

TEST(a_rule_that_never_ends_is_one_wrong_rule)
{
    enum { LONG = 5000 };
    static char text[LONG + TEXT_BYTES];
    lowlat_rules_t rules;

    memset(text, 'x', LONG);
    (void) snprintf(text + LONG, TEXT_BYTES, "\noneshot:0-8");
    const complaints_t complaints = read_text(&rules, text);
    assert_int_equal(complaints.count, 1);
    assert_non_null(strstr(complaints.last, "line 1, character 1: too long"));
    assert_int_equal(rules.count, rules.builtin + 1);
}

TEST(more_rules_than_there_may_be_are_complained_of)
{
    enum { RULES = LOWLAT_RULES_MAX + 9 };
    static const char rule[] = "oneshot\n";
    SCOPED char *text = test_alloc(RULES * strlen(rule) + 1);
    lowlat_rules_t rules;

    for (unsigned i = 0; i < RULES; ++i) {
        memcpy(text + i * strlen(rule), rule, sizeof rule);
    }
    const complaints_t complaints = read_text(&rules, text);
    assert_int_equal(rules.count, LOWLAT_RULES_MAX);
    assert_int_equal(complaints.count, RULES - (LOWLAT_RULES_MAX - rules.builtin));
}
