/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "coll_lowlat.h"
#include "coll_lowlat_book.h"
#include "mca_params.h"

enum { LINE_BYTES = 256 };

typedef struct note {
    struct note *next;
    _Alignas(max_align_t) unsigned char text[];
} note_t;

static struct {
    char *text;                   /* of the parameter, or of its file */
    note_t *notes[LOWLAT_TOPICS]; /* under the component's lock */
} book;

static bool may_warn(void)
{
    return mca_coll_lowlat_component.config.arc_verbose >= ARC_LOG_WARN &&
           mca_params_may_warn(&mca_coll_lowlat_component.base);
}

/* A file that is something else has as many wrong rules as lines. */
static void complain(void *context, const char *what)
{
    enum { MOST_COMPLAINTS = 10 };
    unsigned *complaints = context;

    *complaints += 1;
    if (*complaints <= MOST_COMPLAINTS && may_warn()) {
        opal_output(0, "coll_lowlat: coll_lowlat_rules, %s; the rule is not used%s", what,
                    MOST_COMPLAINTS == *complaints ? ", nor are others that are wrong" : "");
    }
}

/* The first line of a file. */
static void describe_origin(char *text, size_t text_bytes)
{
    (void) snprintf(
        text, text_bytes, "# Learned on %ld processors with %s, ARC %d.%d.%d, Open MPI %d.%d.%d\n",
        sysconf(_SC_NPROCESSORS_ONLN), arc_isa_name(arc_cpu_isa(ARC_ISA_BEST)), ARC_MAJOR,
        ARC_MINOR, ARC_PATCH, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION);
}

static void warn_of_origin(const char *name, const char *text)
{
    char ours[LINE_BYTES];
    const size_t same = strlen("# Learned on ");

    describe_origin(ours, sizeof ours);
    if (0 == strncmp(text, ours, same) && 0 != strncmp(text, ours, strlen(ours)) && may_warn()) {
        opal_output(0,
                    "coll_lowlat: the rules of %s were learned elsewhere, on %.*s; they are used "
                    "all the same",
                    name, (int) strcspn(text + same, "\n"), text + same);
    }
}

/*
 * All of a file, to be freed; "" of a pipe that nobody writes, and, with a warning, of what cannot
 * be read.
 */
static char *read_file(const char *name)
{
    char *text = NULL;
    size_t room = 0;
    const int descriptor = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe: at once */
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "r");
    const ssize_t bytes = NULL == file ? -1 : getdelim(&text, &room, '\0', file);
    const bool whole = NULL != file && 0 == ferror(file) && (bytes <= 0 || '\0' != text[bytes - 1]);

    if (!whole && may_warn()) {
        opal_output(0, "coll_lowlat: coll_lowlat_rules @%s cannot be read: %s", name,
                    bytes > 0 ? "it has a byte 0" : strerror(errno));
    }
    if (NULL != file) {
        (void) fclose(file);
    } else if (descriptor >= 0) {
        (void) close(descriptor);
    }
    if (whole && bytes > 0) {
        warn_of_origin(name, text);
        return text;
    }
    free(text);
    return strdup("");
}

void lowlat_book_open(void)
{
    lowlat_component_t *component = &mca_coll_lowlat_component;
    lowlat_config_t *config = &component->config;
    unsigned complaints = 0;

    book.text = '@' == *config->rules ? read_file(config->rules + 1) : NULL;
    config->rules = NULL == book.text ? config->rules : book.text; /* so ranks compare files */
    lowlat_rules_init(&component->rules, config->rules, config->reproducible,
                      config->arc_explore_percent > 0, complain, &complaints);
}

/* ---- what is remembered ---- */

static const struct {
    size_t key_bytes;
    size_t bytes;
} topics[LOWLAT_TOPICS] = {
    [LOWLAT_TOPIC_CHOICE] = {sizeof(lowlat_shape_t), sizeof(lowlat_learned_t)},
    [LOWLAT_TOPIC_STAGING] = {sizeof(uint64_t), sizeof(lowlat_staged_t)},
};

/* Under the lock. */
static note_t *find_note(lowlat_topic_t topic, const void *key)
{
    note_t *found = book.notes[topic];

    while (NULL != found && 0 != memcmp(found->text, key, topics[topic].key_bytes)) {
        found = found->next;
    }
    return found;
}

bool lowlat_book_recall(lowlat_topic_t topic, void *note)
{
    pthread_mutex_t *lock = &mca_coll_lowlat_component.base.lock;

    (void) pthread_mutex_lock(lock);
    const note_t *found = find_note(topic, note);
    if (NULL != found) {
        memcpy(note, found->text, topics[topic].bytes);
    }
    (void) pthread_mutex_unlock(lock);
    return NULL != found;
}

void lowlat_book_remember(lowlat_topic_t topic, const void *note)
{
    pthread_mutex_t *lock = &mca_coll_lowlat_component.base.lock;

    (void) pthread_mutex_lock(lock);
    note_t *found = find_note(topic, note);
    if (NULL == found && NULL != (found = malloc(sizeof *found + topics[topic].bytes))) {
        found->next = book.notes[topic];
        book.notes[topic] = found;
    }
    if (NULL != found) {
        memcpy(found->text, note, topics[topic].bytes);
    }
    (void) pthread_mutex_unlock(lock);
}

void lowlat_book_describe(const lowlat_candidates_t *list, const lowlat_learned_t *learned,
                          unsigned class, char *text, size_t text_bytes)
{
    enum { NS = 1000, TENTH = 100 };
    const unsigned chosen = learned->of[class].chosen;
    size_t used = 0;

    text[0] = '\0';
    for (unsigned turn = 0; turn <= list->count && used < text_bytes; ++turn) {
        const unsigned i = 0 == turn ? chosen : turn - 1;
        const uint64_t call_ns = learned->of[class].call_ns[i];
        if (0 != call_ns && (0 == turn || i != chosen)) {
            used += (size_t) snprintf(
                text + used, text_bytes - used, "%s%s%s %llu.%llu us", used > 0 ? ", " : "",
                list->candidate[i].puts ? "puts " : "", lowlat_candidate_name(list->candidate[i]),
                (unsigned long long) call_ns / NS, (unsigned long long) call_ns % NS / TENTH);
        }
    }
}

static void print_learned(const lowlat_learned_t *learned)
{
    lowlat_candidates_t list;
    const lowlat_span_t over = learned->shape.fact[LOWLAT_FACT_OVER];
    lowlat_rule_t rule = {.shape = learned->shape};
    char text[LINE_BYTES];
    char times[LINE_BYTES];

    lowlat_candidates_list(&list, (unsigned) learned->shape.fact[LOWLAT_FACT_RANKS].least,
                           mca_coll_lowlat_component.config.reproducible);
    if (over.least != over.most) {
        lowlat_candidates_add_puts(&list);
    }
    for (unsigned class = 0; class < ARC_SELECT_CLASSES; ++class) {
        lowlat_book_describe(&list, learned, class, times, sizeof times);
        rule.bytes = (lowlat_span_t){rule.bytes.most, arc_select_class_most(class)};
        rule.candidate = list.candidate[learned->of[class].chosen];
        rule.shape.fact[LOWLAT_FACT_OVER].least = rule.candidate.puts ? over.most : over.least;
        (void) lowlat_rule_print(&rule, "  # ", text, sizeof text);
        if ('\0' != times[0]) {
            fprintf(stderr, "%s%s\n", text, times);
        }
    }
}

/*
 * What was learned, and the user's rules behind it, which count.  A rule for one to three ranks is
 * for two, too; so it stands before that for two.
 */
static void print_rules(void)
{
    const lowlat_rules_t *rules = &mca_coll_lowlat_component.rules;
    char text[LINE_BYTES];

    for (unsigned equal = 0; equal < 2; ++equal) {
        for (note_t *one = book.notes[LOWLAT_TOPIC_CHOICE]; NULL != one; one = one->next) {
            const lowlat_learned_t *learned = (const void *) one->text;
            const lowlat_span_t ranks = learned->shape.fact[LOWLAT_FACT_RANKS];
            if ((ranks.least == ranks.most) == equal) {
                print_learned(learned);
            }
        }
    }
    for (unsigned i = rules->builtin; i < rules->count; ++i) {
        (void) lowlat_rule_print(&rules->rule[i], "\n", text, sizeof text);
        fputs(text, stderr);
    }
}

void lowlat_book_close(void)
{
    const lowlat_component_t *component = &mca_coll_lowlat_component;
    char origin[LINE_BYTES];

    if (component->base.first_process && component->config.arc_verbose >= ARC_LOG_REPORT &&
        (NULL != book.notes[LOWLAT_TOPIC_CHOICE] ||
         component->rules.count > component->rules.builtin)) {
        describe_origin(origin, sizeof origin);
        fprintf(stderr, "coll_lowlat: rules, as learned between nodes, and the user's:\n%s",
                origin);
        print_rules();
    }
    for (unsigned topic = 0; topic < LOWLAT_TOPICS; ++topic) {
        while (NULL != book.notes[topic]) {
            note_t *next = book.notes[topic]->next;
            free(book.notes[topic]);
            book.notes[topic] = next;
        }
    }
    mca_coll_lowlat_component.config.rules = NULL;
    free(book.text);
}
