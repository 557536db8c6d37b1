/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "model_machine.h"

#include <stdio.h>
#include <string.h>

enum { MOST_WORDS = 32, WORD_BYTES = 32 };

#define FACT(_word, _field, _count)                      \
    {                                                    \
        _word, offsetof(model_machine_t, _field), _count \
    }
static const struct {
    const char *word;
    size_t offset;
    unsigned count;
} facts[] = {
    FACT("cores", cores, 1),
    FACT("shared", shared, MODEL_ACROSS),
    FACT("line_ns", line_ns, MODEL_LEVELS),
    FACT("busy_ns", busy_ns, MODEL_LEVELS),
    FACT("group_in_ns", group_in_ns, 1),
    FACT("group_out_ns", group_out_ns, 1),
    FACT("link_ns", link_ns, 1),
    FACT("misses", misses, 1),
    FACT("stores", stores, 1),
    FACT("message_ns", message_ns, 1),
    FACT("hit_ns", hit_ns, 1),
    FACT("load_ns", load_ns, 1),
    FACT("call_ns", call_ns, 1),
    FACT("part_ns", part_ns, 1),
    FACT("add_ns", add_ns, 1),
    FACT("poll_ns", poll_ns, 1),
    FACT("entry_ns", entry_ns, 1),
    FACT("single_ns", single_ns, 1),
};
enum { FACTS = sizeof facts / sizeof facts[0], SAID = 10 }; /* the first ones, by each file */
_Static_assert((int) FACTS < (int) MOST_WORDS, "a bit for each fact");

/*
 * Instructions alone, fitted to one rank of the machine of here.txt that reads and sums 64 parts in
 * its own cache: 8 bytes, 0.14 us and 0.41 for the sum; 4 KiB, 4.3 us.  single_ns is of coll_tuned
 * of Open MPI 4.1.4 there.
 */
static const model_machine_t usual = {.hit_ns = 0.8,
                                      .load_ns = 1.2,
                                      .call_ns = 6,
                                      .part_ns = 5,
                                      .add_ns = 0.3,
                                      .poll_ns = 25,
                                      .entry_ns = 30,
                                      .single_ns = 2000};

/* The rest of a line, behind its word. */
static bool read_numbers(FILE *file, unsigned fact, model_machine_t *machine)
{
    double *number = (double *) (void *) ((unsigned char *) machine + facts[fact].offset);

    for (unsigned i = 0; i < facts[fact].count; ++i) {
        if (1 != fscanf(file, "%lf", &number[i]) || !(number[i] >= 0)) {
            return false;
        }
    }
    return true;
}

static bool read_facts(FILE *file, model_machine_t *machine)
{
    char word[WORD_BYTES];
    const uint32_t said = (UINT32_C(1) << SAID) - 1;
    uint32_t seen = 0;

    while (1 == fscanf(file, "%31s", word)) {
        unsigned fact = 0;
        if ('#' == word[0]) {
            (void) fscanf(file, "%*[^\n]");
            continue;
        }
        while (fact < FACTS && 0 != strcmp(word, facts[fact].word)) {
            ++fact;
        }
        if (FACTS == fact || 0 != (seen >> fact & 1) || !read_numbers(file, fact, machine)) {
            fprintf(stderr, "model: not a fact, or a second time, or too few numbers: %s\n", word);
            return false;
        }
        seen |= UINT32_C(1) << fact;
    }
    return said == (seen & said);
}

bool model_machine_read(const char *path, model_machine_t *machine)
{
    FILE *file = fopen(path, "r");

    *machine = usual;
    bool good = NULL != file && read_facts(file, machine);

    good = good && machine->cores >= 2 && machine->cores <= MODEL_MOST_CORES &&
           machine->misses >= 1 && machine->stores >= 1;
    for (unsigned level = 0; good && level < MODEL_ACROSS; ++level) {
        good = machine->shared[level] >= 1 &&
               (0 == level || machine->shared[level] >= machine->shared[level - 1]);
    }
    if (NULL != file) {
        (void) fclose(file);
    }
    if (!good) {
        fprintf(stderr, "model: %s does not describe a machine\n", path);
    }
    return good;
}

model_level_t model_machine_level(const model_machine_t *machine, unsigned core, unsigned other)
{
    unsigned level = MODEL_GROUP;

    while (level < MODEL_ACROSS && model_machine_place(machine, (model_level_t) level, core) !=
                                       model_machine_place(machine, (model_level_t) level, other)) {
        ++level;
    }
    return (model_level_t) level;
}
