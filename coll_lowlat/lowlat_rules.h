/*
 * Which algorithm takes which messages: rules, which are text.
 *
 *     oneshot:0-16k,twoshot:16k-inf
 *     ranks=9-:cores=shared:butterfly:0-1k
 *
 * docs/tuning.md has the grammar, more examples, and which rule applies to a message.  Between
 * nodes lengths are sorted into classes (select.h), and a rule applies to the classes whose power
 * of two it covers.  A blank is as good as a colon.
 *
 * The rules that are built in come first, so the user's override them where they apply.  Between
 * nodes learning begins with the built-in rules, and the user's rules decide.
 *
 * Pure, and a function of facts that are equal on all ranks.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_RULES_H
#define LOWLAT_RULES_H

#include "lowlat_net.h"
#include "lowlat_select.h"
#include "select.h"

typedef struct lowlat_span {
    size_t least;
    size_t most;
} lowlat_span_t;

typedef enum lowlat_fact {
    LOWLAT_FACT_RANKS, /* of the nodes with the fewest, and with the most */
    LOWLAT_FACT_NODES,
    LOWLAT_FACT_CACHES, /* last-level, that ranks of the node share; 1: none known; 0: it is flat */
    LOWLAT_FACT_CORES,  /* shared; or a core for each, and how most ranks stage */
    LOWLAT_FACT_OVER,
    LOWLAT_FACT_CALLS, /* between nodes; on one node both */
    LOWLAT_FACTS
} lowlat_fact_t;
enum { LOWLAT_OVER_MESSAGES, LOWLAT_OVER_PUTS, LOWLAT_OVER_NOTHING };
enum { LOWLAT_CALLS_BLOCKING, LOWLAT_CALLS_NONBLOCKING }; /* and persistent ones */

/* What a group is like, or which groups a rule is for. */
typedef struct lowlat_shape {
    lowlat_span_t fact[LOWLAT_FACTS];
} lowlat_shape_t;

/*
 * A way to make a call.  leaders: between nodes, one rank of each node exchanges.  puts: they carry
 * the sums, on a communicator that has messages, too.
 */
typedef struct lowlat_candidate {
    unsigned algorithm; /* or LOWLAT_PASS_DOWN */
    bool leaders;
    bool puts;
} lowlat_candidate_t;

typedef struct lowlat_rule {
    lowlat_shape_t shape;
    lowlat_span_t bytes; /* longer than `least`, up to `most` */
    lowlat_candidate_t candidate;
} lowlat_rule_t;

enum { LOWLAT_RULES_MAX = 1024 };
typedef struct lowlat_rules {
    unsigned count;
    unsigned builtin; /* so many are built in */
    lowlat_rule_t rule[LOWLAT_RULES_MAX];
} lowlat_rules_t;

/* "line 1, character 9: no such algorithm in "pigeons:0-8"". */
typedef void (*lowlat_rules_complain_fn_t)(void *context, const char *what);

/*
 * The rules that are built in, some only where times are learned, then those of `text`.  A rule
 * that is wrong, or that contradicts `reproducible`, is complained of and left out.
 */
void lowlat_rules_init(lowlat_rules_t *rules, const char *text, bool reproducible, bool explores,
                       lowlat_rules_complain_fn_t complain, void *context);

/* The rule for a message, which there always is. */
const lowlat_rule_t *lowlat_rules_find(const lowlat_rules_t *rules, const lowlat_shape_t *shape,
                                       size_t bytes);

static inline bool lowlat_rules_builtin(const lowlat_rules_t *rules, const lowlat_rule_t *rule)
{
    return rule < rules->rule + rules->builtin;
}

/* "below", "doubling", "doubling_by_leaders" ... : static text, another one for each. */
const char *lowlat_candidate_name(lowlat_candidate_t candidate);

/* Write a rule as text, and a note; the bytes that this takes, as snprintf() tells them. */
size_t lowlat_rule_print(const lowlat_rule_t *rule, const char *note, char *text,
                         size_t text_bytes);

extern const lowlat_shape_t lowlat_shape_any;

/* Of the ranks on one node. */
lowlat_shape_t lowlat_shape_of(const lowlat_group_t *group);

/* ---- compiled rules ---- */

/* Messages up to max_bytes, as far as no entry before takes them. */
typedef struct lowlat_entry {
    size_t max_bytes;
    unsigned algorithm; /* or LOWLAT_PASS_DOWN, LOWLAT_LEARNED */
} lowlat_entry_t;

/* Entries of increasing max_bytes.  Where rules would make more, two-shot has the last one. */
enum { LOWLAT_MAP_ENTRIES = 8 };
typedef struct lowlat_map {
    unsigned entries;
    lowlat_entry_t entry[LOWLAT_MAP_ENTRIES];
} lowlat_map_t;

/* Compile the selection for a group. */
void lowlat_map_init(lowlat_map_t *map, const lowlat_config_t *config, const lowlat_rules_t *rules,
                     const lowlat_shape_t *shape, const lowlat_group_t *group);

/* The algorithm for a message of `bytes` bytes, or LOWLAT_PASS_DOWN, or LOWLAT_LEARNED. */
static inline unsigned lowlat_map_lookup(const lowlat_map_t *map, size_t bytes)
{
    for (unsigned i = 0; i < map->entries; ++i) {
        if (bytes <= map->entry[i].max_bytes) {
            return map->entry[i].algorithm;
        }
    }
    return LOWLAT_PASS_DOWN;
}

/* Write the selection as rules: "oneshot:0-16k,twoshot:16k-inf". */
void lowlat_map_describe(const lowlat_map_t *map, char *text, size_t text_bytes);

/* ---- candidates ---- */

/*
 * The ways to make a call between nodes among which a communicator chooses, by its own calls
 * (select.h): the component below, and the algorithms for several nodes, each with one owner in
 * each node (a leader) or with all of them.
 *
 * Before anything is known rules choose, and guesses say what is worth a try.  Why
 * times are measured and not computed: docs/algorithms.md, "Which when".
 */
typedef struct lowlat_candidates {
    unsigned count;
    lowlat_candidate_t candidate[ARC_SELECT_CANDIDATES];
} lowlat_candidates_t;

/*
 * Those that keep the order of sums, on nodes of which the smallest has `owners` ranks; with
 * `reproducible` without the component below, which has another order.
 */
void lowlat_candidates_list(lowlat_candidates_t *list, unsigned owners, bool reproducible);

/* Ours once more, over puts; behind those that are there. */
void lowlat_candidates_add_puts(lowlat_candidates_t *list);

/* The number in the list; with one owner a node has no leaders.  `count` if there is none. */
unsigned lowlat_candidates_find(const lowlat_candidates_t *list, lowlat_candidate_t candidate);

/* The time of a candidate in thousandths of that of the fastest, at a guess (select.h). */
uint32_t lowlat_candidate_guess(lowlat_candidate_t candidate, const lowlat_net_t *net,
                                size_t bytes);

#endif
