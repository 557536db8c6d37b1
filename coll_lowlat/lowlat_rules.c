/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "lowlat_rules.h"
#include "lowlat_staging.h"
#include "sizes.h"

/*
 * Where they come from: docs/algorithms.md, "which algorithm when".  Between nodes short messages
 * are doubled, by leaders the shortest; longer ones are passed down where that may be: doubling
 * wins on a fast network and loses on a slow one.  Where it may not, halving or direct has them, by
 * simulations of one rank a node without TCP (docs/scale.md).
 */
static const char builtin[] = "twoshot, oneshot:0-256, caches=1-:oneshot:0-512,"
                              "ranks=16-:caches=2-:twoshot:56-512,"
                              "ranks=64-:caches=3-:twoshot:0-512,"
                              "ranks=2-8:oneshot:0-1k, ranks=2-4:oneshot:0-4k,"
                              "ranks=2:oneshot:0-16k,"
                              "ranks=2:cores=prefetching:oneshot:0-32k,"
                              "ranks=2:cores=streaming:oneshot:0-8m,"
                              "cores=shared:oneshot:0-4k, ranks=2-8:cores=shared:oneshot:0-8k,"
                              "ranks=2-4:cores=shared:oneshot:0-32k,"
                              "ranks=2:cores=shared:oneshot:0-512k,"
                              "direct, nodes=12-:halving:0-256k, nodes=33-:halving:0-1m,"
                              "doubling:0-32k, nodes=2:doubling:0-64k,"
                              "doubling_by_leaders:0-16k,"
                              "nodes=2:below:64k-inf, nodes=3-:below:8k-inf,"
                              "nodes=3-:ranks=2-:doubling_by_leaders:8k-16k";

/*
 * Where times decide in the end: between nodes of one rank the component below doubles, too, sends
 * the same messages, and has less code between them, so it is as fast or some percent faster.
 */
static const char builtin_of_times[] = "nodes=2-:ranks=1:over=messages:below:0-3k";

enum { TEXT_BYTES = 256, NUMBER_BYTES = 24 };

static const struct {
    const char *name;
    lowlat_candidate_t candidate;
} names[] = {{"below", {.algorithm = LOWLAT_PASS_DOWN}},
#define X(_id, _prefix, _name, ...) {_name, {.algorithm = LOWLAT_ALGORITHM_##_id}},
             LOWLAT_ALGORITHM_TABLE(X)
#undef X
#define X(_id, _prefix, _name, ...) \
    {_name "_by_leaders", {.algorithm = LOWLAT_ALGORITHM_##_id, .leaders = true}},
                 LOWLAT_NODES_TABLE(X)
#undef X
};
enum { NAMES = sizeof names / sizeof names[0] };

static const char *const cores_words[] = {
    "shared", [1 + LOWLAT_WAY_ORDINARY] = "ordinary", [1 + LOWLAT_WAY_PREFETCHING] = "prefetching",
    [1 + LOWLAT_WAY_STREAMING] = "streaming", [1 + LOWLAT_WAYS] = NULL};
static const char *const over_words[] = {"messages", "puts", NULL};
static const char *const calls_words[] = {"blocking", "nonblocking", NULL};
static const struct {
    const char *key;
    const char *const *words; /* NULL: numbers */
} facts[LOWLAT_FACTS] = {
    [LOWLAT_FACT_RANKS] = {"ranks=", NULL},     [LOWLAT_FACT_NODES] = {"nodes=", NULL},
    [LOWLAT_FACT_CACHES] = {"caches=", NULL},   [LOWLAT_FACT_CORES] = {"cores=", cores_words},
    [LOWLAT_FACT_OVER] = {"over=", over_words}, [LOWLAT_FACT_CALLS] = {"calls=", calls_words},
};

/* Numbers are read and written as those of parameters: 16384 and 16k. */
static const arc_param_t a_size = {.kind = ARC_PARAM_KIND_SIZE, .maximum = INT64_MAX};
static const char inf[] = "inf";

const lowlat_shape_t lowlat_shape_any = {
    {{0, SIZE_MAX}, {0, SIZE_MAX}, {0, SIZE_MAX}, {0, SIZE_MAX}, {0, SIZE_MAX}, {0, SIZE_MAX}}};

lowlat_shape_t lowlat_shape_of(const lowlat_group_t *group)
{
    const size_t cores = group->cores_shared ? 0 : 1 + group->way; /* numbers of cores_words */
    const size_t caches = 0 == group->levels.count ? 0 : group->levels.caches;

    return (lowlat_shape_t){
        {[LOWLAT_FACT_RANKS] = {group->ranks, group->ranks},
         [LOWLAT_FACT_NODES] = {1, 1},
         [LOWLAT_FACT_CACHES] = {caches, caches},
         [LOWLAT_FACT_CORES] = {cores, cores},
         [LOWLAT_FACT_OVER] = {LOWLAT_OVER_NOTHING, LOWLAT_OVER_NOTHING},
         [LOWLAT_FACT_CALLS] = {LOWLAT_CALLS_BLOCKING, LOWLAT_CALLS_NONBLOCKING}}};
}

/* ---- reading: what is wrong, or NULL ---- */

static bool read_number(const char *text, size_t *number)
{
    long long value = 0;
    const bool is_inf = 0 == strcmp(text, inf);
    const bool is_read = is_inf || ARC_OK == arc_param_parse(&a_size, text, &value);

    *number = is_inf ? SIZE_MAX : (size_t) value;
    return is_read;
}

/* "2", "2-8", "2-". */
static bool read_span(char *text, lowlat_span_t *span)
{
    char *most = strchr(text, '-');

    if (NULL != most) {
        *most++ = '\0';
    }
    const bool is_read = read_number(text, &span->least);
    span->most = NULL == most ? span->least : SIZE_MAX;
    return is_read && (NULL == most || '\0' == *most || read_number(most, &span->most)) &&
           span->least <= span->most;
}

static const char *read_fact(char *text, lowlat_rule_t *rule)
{
    for (unsigned fact = 0; fact < LOWLAT_FACTS; ++fact) {
        const char *const *words = facts[fact].words;
        char *value = text + strlen(facts[fact].key);
        lowlat_span_t *span = &rule->shape.fact[fact];
        size_t word = 0;

        if (0 != strncmp(text, facts[fact].key, strlen(facts[fact].key))) {
            continue;
        }
        if (0 != memcmp(span, &lowlat_shape_any.fact[fact], sizeof *span)) {
            return "said twice";
        }
        if (NULL == words) {
            return read_span(value, span) ? NULL : "no number, and no range of numbers";
        }
        while (NULL != words[word] && 0 != strcmp(words[word], value)) {
            ++word;
        }
        *span = (lowlat_span_t){word, word};
        return NULL == words[word] ? "no such word" : NULL;
    }
    return "only ranks=, nodes=, caches=, cores=, over= and calls= are known";
}

static const char *read_name(const char *text, lowlat_candidate_t *candidate)
{
    for (unsigned i = 0; i < NAMES; ++i) {
        if (0 == strcmp(names[i].name, text)) {
            *candidate = names[i].candidate;
            return LOWLAT_ALGORITHM_RING == candidate->algorithm
                       ? "only coll_lowlat_algorithm can choose the ring"
                       : NULL;
        }
    }
    return "no such algorithm";
}

/* Of text that is ours to change; *at: the part that is wrong. */
static const char *read_rule(char *text, bool reproducible, lowlat_rule_t *rule, const char **at)
{
    unsigned names_read = 0;
    unsigned ranges_read = 0;
    const char *wrong = NULL;
    char *rest = NULL;

    *rule = (lowlat_rule_t){.shape = lowlat_shape_any, .bytes = {0, SIZE_MAX}};
    for (char *part = strtok_r(text, ": \t\r", &rest); NULL != part && NULL == wrong;
         part = strtok_r(NULL, ": \t\r", &rest)) {
        *at = part;
        wrong = NULL != strchr(part, '=') ? read_fact(part, rule)
                : 0 == names_read++       ? read_name(part, &rule->candidate)
                : 0 == ranges_read++ && read_span(part, &rule->bytes) &&
                        rule->bytes.least < rule->bytes.most
                    ? NULL
                    : "no range of sizes";
    }
    return NULL != wrong     ? wrong
           : 0 == names_read ? "an algorithm is missing"
           : reproducible && (LOWLAT_PASS_DOWN == rule->candidate.algorithm ||
                              !lowlat_algorithms[rule->candidate.algorithm].reproducible)
               ? "sums that depend on the length, against coll_lowlat_reproducible,"
               : NULL;
}

/* What is wrong at `at` with the rule of `bytes` bytes, in `text`. */
static void complain_of(const char *text, const char *rule, size_t bytes, const char *at,
                        const char *wrong, lowlat_rules_complain_fn_t complain, void *context)
{
    char what[TEXT_BYTES];
    const char *begin = text;
    unsigned line = 1;

    for (; text < at; ++text) {
        if ('\n' == *text) {
            ++line;
            begin = text + 1;
        }
    }
    (void) snprintf(what, sizeof what, "line %u, character %td: %s in \"%.*s\"", line,
                    at - begin + 1, wrong, (int) arc_min(bytes, TEXT_BYTES / 2), rule);
    complain(context, what);
}

static void read_rules(lowlat_rules_t *rules, const char *text, bool reproducible,
                       lowlat_rules_complain_fn_t complain, void *context)
{
    for (const char *rule = text; '\0' != *(rule += strspn(rule, ", \t\r\n"));) {
        const size_t bytes = strcspn(rule, ",\n#(");
        char copy[TEXT_BYTES];
        const char *at = copy;

        if (0 == bytes) { /* a comment */
            rule += strcspn(rule, '#' == *rule ? "\n" : ")\n");
            rule += ')' == *rule;
            continue;
        }
        (void) snprintf(copy, sizeof copy, "%.*s", (int) arc_min(bytes, TEXT_BYTES), rule);
        const char *wrong = bytes >= TEXT_BYTES || LOWLAT_RULES_MAX == rules->count
                                ? "too long, or one of too many"
                                : read_rule(copy, reproducible, &rules->rule[rules->count], &at);
        rules->count += NULL == wrong;
        if (NULL != wrong && NULL != complain) {
            complain_of(text, rule, bytes, rule + (at - copy), wrong, complain, context);
        }
        rule += bytes;
    }
}

void lowlat_rules_init(lowlat_rules_t *rules, const char *text, bool reproducible, bool explores,
                       lowlat_rules_complain_fn_t complain, void *context)
{
    rules->count = 0;
    read_rules(rules, builtin, reproducible, NULL, NULL);
    read_rules(rules, explores ? builtin_of_times : "", reproducible, NULL, NULL);
    rules->builtin = rules->count;
    read_rules(rules, text, reproducible, complain, context);
}

/* ---- finding ---- */

/* Is the rule for all groups of this shape?  "below" only where the number of nodes is known. */
static bool is_for(const lowlat_rule_t *rule, const lowlat_shape_t *shape)
{
    const lowlat_span_t *nodes = &shape->fact[LOWLAT_FACT_NODES];
    const unsigned algorithm = rule->candidate.algorithm;
    bool fits = LOWLAT_PASS_DOWN == algorithm
                    ? nodes->least == nodes->most
                    : (algorithm >= (unsigned) LOWLAT_NODES_FIRST) == (nodes->least > 1);

    for (unsigned fact = 0; fits && fact < LOWLAT_FACTS; ++fact) {
        fits = shape->fact[fact].least >= rule->shape.fact[fact].least &&
               shape->fact[fact].most <= rule->shape.fact[fact].most;
    }
    return fits;
}

static bool covers(const lowlat_rule_t *rule, size_t bytes)
{
    return bytes > rule->bytes.least && bytes <= rule->bytes.most;
}

const lowlat_rule_t *lowlat_rules_find(const lowlat_rules_t *rules, const lowlat_shape_t *shape,
                                       size_t bytes)
{
    unsigned i = rules->count;

    do {
        assert(i > 0);
        --i;
    } while (!covers(&rules->rule[i], bytes) || !is_for(&rules->rule[i], shape));
    return &rules->rule[i];
}

/*
 * On one node: piece by piece, between the lengths at which a rule for this shape begins or ends.
 * Each new communicator has a map, so a rule is held against the shape once.
 */
static void map_rules(lowlat_map_t *map, const lowlat_rules_t *rules, const lowlat_shape_t *shape)
{
    uint16_t fitting[LOWLAT_RULES_MAX];
    unsigned fit = 0;

    for (unsigned i = 0; i < rules->count; ++i) {
        if (is_for(&rules->rule[i], shape)) {
            fitting[fit++] = (uint16_t) i;
        }
    }
    for (lowlat_span_t piece = {0, 0}; piece.most < SIZE_MAX;) {
        unsigned last = fit;
        piece = (lowlat_span_t){piece.most, SIZE_MAX};
        for (unsigned i = 0; i < fit; ++i) {
            const lowlat_span_t bytes = rules->rule[fitting[i]].bytes;
            const size_t end = bytes.least > piece.least ? bytes.least : bytes.most;
            piece.most = end > piece.least ? arc_min(piece.most, end) : piece.most;
        }
        do {
            assert(last > 0);
            --last;
        } while (!covers(&rules->rule[fitting[last]], piece.most));
        const unsigned chosen = rules->rule[fitting[last]].candidate.algorithm;
        const bool is_new = 0 == map->entries || chosen != map->entry[map->entries - 1].algorithm;
        if (is_new && LOWLAT_MAP_ENTRIES == map->entries) {
            map->entry[map->entries - 1] = (lowlat_entry_t){SIZE_MAX, LOWLAT_ALGORITHM_TWOSHOT};
            return;
        }
        map->entries += is_new;
        map->entry[map->entries - 1] = (lowlat_entry_t){piece.most, chosen};
    }
}

void lowlat_map_init(lowlat_map_t *map, const lowlat_config_t *config, const lowlat_rules_t *rules,
                     const lowlat_shape_t *shape, const lowlat_group_t *group)
{
    const bool several_nodes = NULL != group->net;
    const unsigned forced = lowlat_forced(config, several_nodes);

    map->entries = 0;
    if (LOWLAT_NOT_FORCED != forced) {
        *map = (lowlat_map_t){1, {{SIZE_MAX, forced}}};
    } else if (!several_nodes) {
        map_rules(map, rules, shape);
    } else if (LOWLAT_ALGORITHM_NONE != config->algorithm) {
        *map = (lowlat_map_t){1, {{SIZE_MAX, LOWLAT_LEARNED}}};
    }
}

/* ---- writing ---- */

const char *lowlat_candidate_name(lowlat_candidate_t candidate)
{
    for (unsigned i = 0; i < NAMES; ++i) {
        if (candidate.algorithm == names[i].candidate.algorithm &&
            candidate.leaders == names[i].candidate.leaders) {
            return names[i].name;
        }
    }
    return "learned";
}

/* "2-8"; "2" where that is all. */
static void print_span(lowlat_span_t span, char text[2 * NUMBER_BYTES])
{
    char number[2][NUMBER_BYTES];
    const size_t value[] = {span.least, span.most};

    for (unsigned i = 0; i < 2; ++i) {
        (void) snprintf(number[i], NUMBER_BYTES, "%s", inf);
        if (SIZE_MAX != value[i]) {
            arc_param_print(&a_size, (long long) value[i], number[i], NUMBER_BYTES);
        }
    }
    const bool is_one = span.least == span.most;
    (void) snprintf(text, 2 * NUMBER_BYTES, "%s%s%s", number[0], is_one ? "" : "-",
                    is_one ? "" : number[1]);
}

size_t lowlat_rule_print(const lowlat_rule_t *rule, const char *note, char *text, size_t text_bytes)
{
    char where[TEXT_BYTES] = "";
    char span[2 * NUMBER_BYTES];
    size_t used = 0;

    for (unsigned fact = 0; fact < LOWLAT_FACTS; ++fact) {
        const lowlat_span_t value = rule->shape.fact[fact];
        if (0 != value.least || SIZE_MAX != value.most) {
            print_span(value, span);
            used += (size_t) snprintf(where + used, sizeof where - used, "%s%s:", facts[fact].key,
                                      NULL == facts[fact].words ? span
                                                                : facts[fact].words[value.least]);
        }
    }
    print_span(rule->bytes, span);
    return (size_t) snprintf(text, text_bytes, "%s%s:%s%s", where,
                             lowlat_candidate_name(rule->candidate), span, note);
}

void lowlat_map_describe(const lowlat_map_t *map, char *text, size_t text_bytes)
{
    lowlat_rule_t rule = {.shape = lowlat_shape_any};
    size_t used = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < map->entries && used < text_bytes; ++i) {
        rule.bytes = (lowlat_span_t){rule.bytes.most, map->entry[i].max_bytes};
        rule.candidate.algorithm = map->entry[i].algorithm;
        used += lowlat_rule_print(&rule, i + 1 < map->entries ? "," : "", text + used,
                                  text_bytes - used);
    }
}

/* ---- candidates ---- */

enum {
    SHORT_BYTES = 4 << 10,  /* for doubling, on any network */
    LONG_BYTES = 32 << 10,  /* for the others */
    DIRECT_BYTES = 8 << 10, /* for direct, of each of many nodes */
    FEW_NODES = 3,
    /* Guesses: as fast as the fastest one, somewhat slower, twice as slow. */
    FASTEST = ARC_RATIO_ONE,
    SLOWER = 3 * ARC_RATIO_ONE / 2,
    TWICE = 2 * ARC_RATIO_ONE,
    MANY_TIMES = 8 * ARC_RATIO_ONE,
};

/* With leaders and without, over messages and puts, of those that keep the order. */
#define X(_id, _prefix, _name, _reproducible, ...) +4 * (_reproducible)
_Static_assert(1 LOWLAT_NODES_TABLE(X) <= ARC_SELECT_CANDIDATES, "room for all candidates");
#undef X

void lowlat_candidates_list(lowlat_candidates_t *list, unsigned owners, bool reproducible)
{
    list->count = 0;
    if (!reproducible) {
        list->candidate[list->count++] = (lowlat_candidate_t){.algorithm = LOWLAT_PASS_DOWN};
    }
    for (unsigned leaders = 0; leaders < (owners > 1 ? 2 : 1); ++leaders) {
        for (unsigned algorithm = LOWLAT_NODES_FIRST; algorithm < LOWLAT_ALGORITHMS; ++algorithm) {
            if (lowlat_algorithms[algorithm].reproducible) {
                list->candidate[list->count++] =
                    (lowlat_candidate_t){.algorithm = algorithm, .leaders = leaders};
            }
        }
    }
}

void lowlat_candidates_add_puts(lowlat_candidates_t *list)
{
    for (unsigned i = 0, before = list->count; i < before; ++i) {
        if (LOWLAT_PASS_DOWN != list->candidate[i].algorithm) {
            list->candidate[list->count] = list->candidate[i];
            list->candidate[list->count++].puts = true;
        }
    }
}

unsigned lowlat_candidates_find(const lowlat_candidates_t *list, lowlat_candidate_t candidate)
{
    unsigned found = list->count;

    for (unsigned i = 0; i < list->count; ++i) {
        if (candidate.algorithm == list->candidate[i].algorithm &&
            candidate.puts == list->candidate[i].puts &&
            (found == list->count || candidate.leaders == list->candidate[i].leaders)) {
            found = i;
        }
    }
    return found;
}

/* What doubling sends, in thousandths of the least that a node of so many has to send. */
static uint32_t doubled_bytes(uint64_t nodes)
{
    unsigned steps = 0;

    while (UINT64_C(1) << steps < nodes) {
        ++steps;
    }
    return (uint32_t) (steps * nodes * ARC_RATIO_ONE / (2 * (nodes - 1)));
}

uint32_t lowlat_candidate_guess(lowlat_candidate_t candidate, const lowlat_net_t *net, size_t bytes)
{
    if (LOWLAT_PASS_DOWN == candidate.algorithm) {
        return FASTEST;
    }
    const bool is_doubling = LOWLAT_ALGORITHM_DOUBLING == candidate.algorithm;
    const bool is_short = bytes <= SHORT_BYTES;
    const bool leaders_are_for_it = net->owners < 2 || (bytes <= net->leader_bytes);
    /* It sends each node a message, the others a few nodes (docs/scale.md). */
    const bool is_direct = LOWLAT_ALGORITHM_DIRECT == candidate.algorithm;

    /*
     * The total goes from node to node: more steps in turn than doubling has, on any network.  And
     * connections to all nodes, once they are there, slow all calls down.
     */
    if (is_direct && is_short && net->nodes > FEW_NODES) {
        return ARC_SELECT_NEVER;
    }
    if (is_direct && net->nodes > LOWLAT_PUT_NODES && bytes < net->nodes * DIRECT_BYTES) {
        return MANY_TIMES;
    }
    if (is_short && !is_doubling) {
        return TWICE;
    }
    const uint32_t sends = is_doubling && bytes > LONG_BYTES ? doubled_bytes(net->nodes) : FASTEST;
    const bool is_led_well = candidate.leaders == leaders_are_for_it || net->owners < 2;
    return is_led_well || sends > SLOWER ? sends : SLOWER;
}
