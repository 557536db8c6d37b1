/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "fuzz.h"
#include "lowlat_rules.h"

enum { TEXT_BYTES = 256 };

static void complain(void *context, const char *what)
{
    unsigned *complaints = context;

    FUZZ_REQUIRE(0 == strncmp(what, "line ", strlen("line ")));
    *complaints += 1;
}

static unsigned read_text(lowlat_rules_t *rules, const char *text)
{
    unsigned complaints = 0;

    lowlat_rules_init(rules, text, false, true, complain, &complaints);
    return complaints;
}

/* What is read is right, and is the same when it is written and read again. */
static void require_rule(const lowlat_rule_t *rule)
{
    char text[TEXT_BYTES];
    char again[TEXT_BYTES];
    lowlat_rules_t rules;

    FUZZ_REQUIRE(rule->candidate.algorithm <= LOWLAT_PASS_DOWN);
    FUZZ_REQUIRE(rule->bytes.least < rule->bytes.most);
    for (unsigned fact = 0; fact < LOWLAT_FACTS; ++fact) {
        FUZZ_REQUIRE(rule->shape.fact[fact].least <= rule->shape.fact[fact].most);
    }
    FUZZ_REQUIRE(lowlat_rule_print(rule, "", text, sizeof text) < sizeof text);
    FUZZ_REQUIRE(0 == read_text(&rules, text) && rules.count == rules.builtin + 1);
    (void) lowlat_rule_print(&rules.rule[rules.builtin], "", again, sizeof again);
    FUZZ_REQUIRE(0 == strcmp(text, again));
}

int fuzz_rules(const uint8_t *data, size_t bytes)
{
    char *text = fuzz_alloc(bytes + 1);
    size_t separators = 1;
    lowlat_rules_t rules;

    memcpy(text, data, bytes);
    text[bytes] = '\0';
    for (const char *at = text; '\0' != *at; ++at) {
        separators += NULL != strchr(",\n()#", *at);
    }
    const unsigned complaints = read_text(&rules, text);
    FUZZ_REQUIRE(complaints + rules.count - rules.builtin <= separators);
    for (unsigned i = rules.builtin; i < rules.count; ++i) {
        require_rule(&rules.rule[i]);
    }
    free(text);
    return 0;
}
