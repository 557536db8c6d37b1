/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "select_file.h"

enum { LINE_BYTES = 1024, NS = 1000, TENTH_NS = 100, COUNT_MAX = 1 << 24 };

/* Of nanoseconds in 64 bits, less one for a fraction: whatever was written. */
#define TIME_US_MAX (UINT64_MAX / NS - 1)

/* The number of the word, or that of the NULL behind the last one. */
static unsigned find_word(const char *const *words, const char *word, size_t bytes)
{
    unsigned i = 0;

    while (NULL != words[i] && (bytes != strlen(words[i]) || 0 != strncmp(word, words[i], bytes))) {
        ++i;
    }
    return i;
}

/* A number up to `most`, a tenth of 2^64 or less, at the beginning of `text`; what follows it, or
 * NULL. */
static const char *read_digits(const char *text, uint64_t most, uint64_t *number)
{
    uint64_t value = 0;

    if (!isdigit((unsigned char) *text)) {
        return NULL;
    }
    for (; isdigit((unsigned char) *text); ++text) {
        value = 10 * value + (uint64_t) (*text - '0');
        if (value > most) {
            return NULL;
        }
    }
    *number = value;
    return text;
}

/* The same of a count from `least` on. */
static const char *read_number(const char *text, uint32_t least, uint32_t *number)
{
    uint64_t value = 0;

    text = read_digits(text, COUNT_MAX, &value);
    if (NULL == text || value < least) {
        return NULL;
    }
    *number = (uint32_t) value;
    return text;
}

/* "45", "45.2", "45.213": microseconds. */
static bool read_time(const char *text, uint64_t *time_ns)
{
    uint64_t us = 0;
    uint32_t fraction_ns = 0;
    uint32_t digit_ns = NS / 10;

    text = read_digits(text, TIME_US_MAX, &us);
    if (NULL != text && '.' == *text) {
        for (++text; isdigit((unsigned char) *text); ++text, digit_ns /= 10) {
            fraction_ns += (uint32_t) (*text - '0') * digit_ns;
        }
    }
    *time_ns = us * NS + fraction_ns;
    return NULL != text && '\0' == *text;
}

static bool read_ranks(const char *text, arc_learned_line_t *line)
{
    text = read_number(text, 1, &line->least_ranks);
    line->most_ranks = line->least_ranks;
    if (NULL != text && '-' == *text) {
        text = read_number(text + 1, 1, &line->most_ranks);
    }
    return NULL != text && '\0' == *text && line->least_ranks <= line->most_ranks;
}

static bool read_bytes(const char *text, arc_learned_line_t *line)
{
    uint32_t bytes = 0;

    text = read_number(text, 1, &bytes);
    if (NULL == text || '\0' != *text) {
        return false;
    }
    line->class = arc_select_class(bytes);
    return bytes == arc_select_class_bytes(line->class);
}

/* The keys that each line must have. */
enum { KEY_NODES = 1, KEY_RANKS = 2, KEY_OVER = 4, KEY_BYTES = 8, KEY_USE = 16, KEYS = 31 };

/* One "key=value".  What is wrong with it, or NULL. */
static const char *read_item(const char *item, const arc_learned_words_t *words,
                             arc_learned_line_t *line, unsigned *keys)
{
    const char *value = strchr(item, '=');

    if (NULL == value) {
        return "not made of key=value";
    }
    const size_t key_bytes = (size_t) (value - item);
    static const char *const names[] = {"nodes", "ranks", "over", "bytes", "use", NULL};
    const unsigned name = find_word(names, item, key_bytes);
    const unsigned candidate = find_word(words->candidates, item, key_bytes);

    ++value;
    *keys |= NULL == names[name] ? 0 : 1U << name;
    switch (NULL == names[name] ? 0 : 1U << name) {
    case KEY_NODES: {
        const char *end = read_number(value, 2, &line->nodes);
        return NULL != end && '\0' == *end ? NULL : "no number of nodes";
    }
    case KEY_RANKS:
        return read_ranks(value, line) ? NULL : "no numbers of ranks";
    case KEY_OVER:
        line->transport = find_word(words->transports, value, strlen(value));
        return NULL != words->transports[line->transport] ? NULL : "no such transport";
    case KEY_BYTES:
        return read_bytes(value, line) ? NULL : "bytes are not a power of two up to 16777216";
    case KEY_USE:
        line->chosen = find_word(words->candidates, value, strlen(value));
        return NULL != words->candidates[line->chosen] ? NULL : "no such algorithm";
    default:
        return NULL == words->candidates[candidate]          ? "a key that nobody knows"
               : read_time(value, &line->call_ns[candidate]) ? NULL
                                                             : "a time that is no number";
    }
}

static const char *read_line(char *text, const arc_learned_words_t *words, arc_learned_line_t *line)
{
    unsigned keys = 0;
    char *rest = NULL;

    memset(line, 0, sizeof *line);
    for (char *item = strtok_r(text, " \t\r\n", &rest); NULL != item;
         item = strtok_r(NULL, " \t\r\n", &rest)) {
        const char *wrong = read_item(item, words, line, &keys);
        if (NULL != wrong) {
            return wrong;
        }
    }
    return KEYS == keys ? NULL : "not all of nodes, ranks, over, bytes, use";
}

static const char *add_line(arc_learned_t *learned, const arc_learned_line_t *line)
{
    if (ARC_LEARNED_LINES_MAX == learned->count) {
        return "too many lines";
    }
    if (0 == (learned->count & (learned->count - 1))) { /* doubled */
        const size_t room = 0 == learned->count ? 1 : 2 * (size_t) learned->count;
        arc_learned_line_t *lines = realloc(learned->lines, room * sizeof *lines);
        if (NULL == lines) {
            return "no memory";
        }
        learned->lines = lines;
    }
    learned->lines[learned->count++] = *line;
    return NULL;
}

/* Empty, or a comment. */
static bool is_blank(const char *text)
{
    text += strspn(text, " \t\r\n");
    return '\0' == *text || '#' == *text;
}

static const char *const origin_keys[ARC_LEARNED_ORIGINS] = {
    [ARC_LEARNED_MACHINE] = "machine=",
    [ARC_LEARNED_RELEASES] = "releases=",
};

/* Is this a line about where the file comes from? */
static bool read_origin(const char *text, arc_learned_t *learned)
{
    for (unsigned i = 0; i < ARC_LEARNED_ORIGINS; ++i) {
        const size_t key_bytes = strlen(origin_keys[i]);
        if (0 == strncmp(text, origin_keys[i], key_bytes)) {
            const char *value = text + key_bytes;
            (void) snprintf(learned->origin[i], sizeof learned->origin[i], "%.*s",
                            (int) strcspn(value, "\r"), value);
            return true;
        }
    }
    return false;
}

/* The next line, without its end and with a ? for each byte 0; false: there is none. */
static bool next_line(FILE *file, char text[LINE_BYTES], const char **wrong)
{
    size_t used = 0;
    int c = 0;

    *wrong = NULL;
    for (c = fgetc(file); EOF != c && '\n' != c; c = fgetc(file)) {
        if (used == LINE_BYTES - 1) {
            *wrong = "too long";
        } else {
            text[used++] = (char) (0 == c ? '?' : c);
        }
    }
    text[used] = '\0';
    return EOF != c || used > 0;
}

void arc_learned_read(arc_learned_t *learned, FILE *file, const arc_learned_words_t *words,
                      arc_learned_complain_fn_t complain, void *context)
{
    char text[LINE_BYTES];
    const char *wrong = NULL;

    memset(learned, 0, sizeof *learned);
    for (unsigned number = 1; next_line(file, text, &wrong); ++number) {
        arc_learned_line_t line;

        if (NULL == wrong && !read_origin(text, learned) && !is_blank(text)) {
            wrong = read_line(text, words, &line);
            wrong = NULL == wrong ? add_line(learned, &line) : wrong;
        }
        if (NULL != wrong) {
            complain(context, number, wrong);
        }
    }
}

void arc_learned_free(arc_learned_t *learned)
{
    free(learned->lines);
    memset(learned, 0, sizeof *learned);
}

uint64_t arc_learned_hash(const arc_learned_t *learned)
{
    /* FNV-1a, 64 bits (Fowler, Noll, Vo): offset basis and prime. */
    uint64_t hash = 0xcbf29ce484222325u;

    for (unsigned i = 0; i < learned->count; ++i) {
        const arc_learned_line_t *line = &learned->lines[i];
        const uint32_t facts[] = {line->nodes,     line->least_ranks, line->most_ranks,
                                  line->transport, line->class,       line->chosen};
        for (unsigned fact = 0; fact < sizeof facts / sizeof facts[0]; ++fact) {
            hash = (hash ^ facts[fact]) * 0x100000001b3u;
        }
    }
    return hash;
}

const arc_learned_line_t *arc_learned_find(const arc_learned_t *learned,
                                           const arc_learned_line_t *key)
{
    for (unsigned i = learned->count; i-- > 0;) {
        const arc_learned_line_t *line = &learned->lines[i];
        if (line->nodes == key->nodes && line->least_ranks == key->least_ranks &&
            line->most_ranks == key->most_ranks && line->transport == key->transport &&
            line->class == key->class) {
            return line;
        }
    }
    return NULL;
}

void arc_learned_write_origin(FILE *file, const arc_learned_text_t origin[ARC_LEARNED_ORIGINS])
{
    for (unsigned i = 0; i < ARC_LEARNED_ORIGINS; ++i) {
        fprintf(file, "%s%s\n", origin_keys[i], origin[i]);
    }
}

void arc_learned_write(FILE *file, const arc_learned_words_t *words, const arc_learned_line_t *line)
{
    fprintf(file, "nodes=%u ranks=%u", line->nodes, line->least_ranks);
    if (line->most_ranks != line->least_ranks) {
        fprintf(file, "-%u", line->most_ranks);
    }
    fprintf(file, " over=%s bytes=%zu use=%s", words->transports[line->transport],
            arc_select_class_bytes(line->class), words->candidates[line->chosen]);
    for (unsigned i = 0; NULL != words->candidates[i]; ++i) {
        assert(i < ARC_LEARNED_NAMES);
        if (0 != line->call_ns[i]) {
            fprintf(file, " %s=%llu.%llu", words->candidates[i],
                    (unsigned long long) line->call_ns[i] / NS,
                    (unsigned long long) line->call_ns[i] % NS / TENTH_NS);
        }
    }
    fputc('\n', file);
}
