/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "fuzz.h"
#include "select_file.h"

static const char *const candidates[] = {"below", "doubling", "halving", NULL};
static const char *const transports[] = {"messages", "puts", NULL};
static const arc_learned_words_t words = {candidates, transports};

enum { CANDIDATES = 3, TRANSPORTS = 2, TENTH_NS = 100 };

typedef struct complaints {
    unsigned count;
    unsigned last; /* number of a line */
} complaints_t;

static void complain(void *context, unsigned number, const char *what)
{
    complaints_t *complaints = context;

    FUZZ_REQUIRE(NULL != what && number > complaints->last);
    complaints->count += 1;
    complaints->last = number;
}

static unsigned lines_of(const uint8_t *data, size_t bytes)
{
    unsigned lines = 0 != bytes && '\n' != data[bytes - 1] ? 1 : 0;

    for (size_t i = 0; i < bytes; ++i) {
        lines += '\n' == data[i];
    }
    return lines;
}

static void require_line(const arc_learned_t *learned, const arc_learned_line_t *line)
{
    FUZZ_REQUIRE(line->nodes > 1 && line->least_ranks > 0);
    FUZZ_REQUIRE(line->least_ranks <= line->most_ranks);
    FUZZ_REQUIRE(line->transport < TRANSPORTS && line->chosen < CANDIDATES);
    FUZZ_REQUIRE(line->class < ARC_SELECT_CLASSES);
    /* A line is found by its shape and class, or a later one is. */
    const arc_learned_line_t *found = arc_learned_find(learned, line);
    FUZZ_REQUIRE(NULL != found && found >= line && found->nodes == line->nodes &&
                 found->class == line->class && found->transport == line->transport);
}

static complaints_t read_text(arc_learned_t *learned, const void *text, size_t bytes)
{
    complaints_t complaints = {.count = 0};
    FILE *file = 0 == bytes ? tmpfile() : fmemopen((void *) (uintptr_t) text, bytes, "r");

    FUZZ_REQUIRE(NULL != file);
    arc_learned_read(learned, file, &words, complain, &complaints);
    (void) fclose(file);
    return complaints;
}

/* As text again, to be freed. */
static char *write_text(const arc_learned_t *learned, size_t *bytes)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, bytes);

    FUZZ_REQUIRE(NULL != file);
    arc_learned_write_origin(file, learned->origin);
    for (unsigned i = 0; i < learned->count; ++i) {
        arc_learned_write(file, &words, &learned->lines[i]);
    }
    FUZZ_REQUIRE(0 == fclose(file));
    return text;
}

/* All but what is less than a tenth of a microsecond. */
static void require_same(const arc_learned_t *one, const arc_learned_t *other)
{
    FUZZ_REQUIRE(one->count == other->count);
    FUZZ_REQUIRE(arc_learned_hash(one) == arc_learned_hash(other));
    for (unsigned i = 0; i < ARC_LEARNED_ORIGINS; ++i) {
        FUZZ_REQUIRE(0 == strcmp(one->origin[i], other->origin[i]));
    }
    for (unsigned i = 0; i < one->count; ++i) {
        for (unsigned k = 0; k < CANDIDATES; ++k) {
            const uint64_t call_ns = one->lines[i].call_ns[k];
            FUZZ_REQUIRE(call_ns - call_ns % TENTH_NS == other->lines[i].call_ns[k]);
        }
    }
}

int fuzz_learned(const uint8_t *data, size_t bytes)
{
    const unsigned lines = lines_of(data, bytes);
    arc_learned_t learned;
    arc_learned_t again;
    size_t text_bytes = 0;

    const complaints_t complaints = read_text(&learned, data, bytes);
    FUZZ_REQUIRE(complaints.last <= lines && complaints.count + learned.count <= lines);
    for (unsigned i = 0; i < learned.count; ++i) {
        require_line(&learned, &learned.lines[i]);
    }
    char *text = write_text(&learned, &text_bytes);
    FUZZ_REQUIRE(0 == read_text(&again, text, text_bytes).count);
    require_same(&learned, &again);
    free(text);
    arc_learned_free(&again);
    arc_learned_free(&learned);
    return 0;
}
