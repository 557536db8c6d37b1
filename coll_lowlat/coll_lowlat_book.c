/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "coll_lowlat.h"
#include "coll_lowlat_book.h"
#include "lowlat_candidates.h"

/* The words of the file; of each algorithm for several nodes that without and with leaders. */
static const char *const candidates[] = {"below",
#define X(_id, _prefix, _name, ...) _name, _name "_by_leaders",
                                         LOWLAT_NODES_TABLE(X)
#undef X
                                             NULL};
_Static_assert(sizeof candidates / sizeof candidates[0] <= ARC_LEARNED_NAMES, "room for all times");
static const char *const transports[] = {"messages", "puts", NULL};
static const arc_learned_words_t words = {candidates, transports};

static struct {
    arc_learned_t learned; /* from the file; empty if there is none */
    char *learn_file;      /* NULL: none; ours, as Open MPI's own is gone when we are closed */
} book;

static bool is_named(const char *file)
{
    return NULL != file && '\0' != *file;
}

/* Only one process talks. */
static bool may_warn(void)
{
    return mca_coll_lowlat_component.base.first_process &&
           mca_coll_lowlat_component.config.verbose >= ARC_LOG_WARN;
}

static void complain(void *context, unsigned number, const char *what)
{
    if (may_warn()) {
        opal_output(0, "coll_lowlat: %s, line %u: %s; the line is not used", (const char *) context,
                    number, what);
    }
}

/* "AMD EPYC 9B45, 2 processors" */
static void describe_machine(char *text, size_t text_bytes)
{
    enum { LINE_BYTES = 256 };
    char line[LINE_BYTES];
    char model[LINE_BYTES] = "unknown";
    FILE *file = fopen("/proc/cpuinfo", "r");

    while (NULL != file && NULL != fgets(line, sizeof line, file)) {
        if (1 == sscanf(line, "model name : %255[^\n]", model)) {
            break;
        }
    }
    if (NULL != file) {
        (void) fclose(file);
    }
    (void) snprintf(text, text_bytes, "%.100s, %ld processors", model,
                    sysconf(_SC_NPROCESSORS_ONLN));
}

/* "ARC 0.1.0, Open MPI 4.1.4" */
static void describe_releases(char *text, size_t text_bytes)
{
    (void) snprintf(text, text_bytes, "ARC %d.%d.%d, Open MPI %d.%d.%d", ARC_MAJOR, ARC_MINOR,
                    ARC_PATCH, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION);
}

static void describe_origin(arc_learned_text_t origin[ARC_LEARNED_ORIGINS])
{
    describe_machine(origin[ARC_LEARNED_MACHINE], sizeof origin[ARC_LEARNED_MACHINE]);
    describe_releases(origin[ARC_LEARNED_RELEASES], sizeof origin[ARC_LEARNED_RELEASES]);
}

/* What a file comes from is another one than what runs here. */
static void warn_of_origin(const char *name)
{
    static const char *const others[ARC_LEARNED_ORIGINS] = {
        [ARC_LEARNED_MACHINE] = "another machine",
        [ARC_LEARNED_RELEASES] = "other releases",
    };
    arc_learned_text_t origin[ARC_LEARNED_ORIGINS];

    describe_origin(origin);
    for (unsigned i = 0; i < ARC_LEARNED_ORIGINS; ++i) {
        const char *said = book.learned.origin[i];
        if ('\0' != said[0] && 0 != strcmp(origin[i], said) && may_warn()) {
            opal_output(0,
                        "coll_lowlat: coll_lowlat_learned_file %s is of %s, \"%s\"; it is used "
                        "all the same",
                        name, others[i], said);
        }
    }
}

void lowlat_book_read(void)
{
    const char *name = mca_coll_lowlat_component.config.learned_file;
    const char *learn_file = mca_coll_lowlat_component.config.learn_file;

    memset(&book, 0, sizeof book);
    book.learn_file = is_named(learn_file) ? strdup(learn_file) : NULL;
    if (!is_named(name)) {
        return;
    }
    FILE *file = fopen(name, "r");
    if (NULL == file) {
        if (may_warn()) {
            opal_output(0, "coll_lowlat: coll_lowlat_learned_file %s cannot be read: %s", name,
                        strerror(errno));
        }
        return;
    }
    arc_learned_read(&book.learned, file, &words, complain, (void *) (uintptr_t) name);
    (void) fclose(file);
    warn_of_origin(name);
}

static arc_learned_line_t line_of(const lowlat_shape_t *shape, unsigned class)
{
    return (arc_learned_line_t){.nodes = shape->nodes,
                                .least_ranks = shape->least_ranks,
                                .most_ranks = shape->most_ranks,
                                .transport = shape->puts,
                                .class = class};
}

const char *lowlat_book_find(const lowlat_shape_t *shape, unsigned class)
{
    const arc_learned_line_t key = line_of(shape, class);
    const arc_learned_line_t *line = arc_learned_find(&book.learned, &key);

    return NULL == line ? NULL : words.candidates[line->chosen];
}

uint64_t lowlat_book_hash(void)
{
    return arc_learned_hash(&book.learned);
}

/* The number of a word; there is one for each candidate. */
static unsigned number_of(const char *name)
{
    unsigned i = 0;

    while (0 != strcmp(name, candidates[i])) {
        ++i;
    }
    return i;
}

static void write_shape(void *context, const void *key, const void *value)
{
    FILE *file = context;
    const lowlat_shape_t *shape = key;
    const lowlat_learned_t *learned = value;
    lowlat_candidates_t list;

    lowlat_candidates_list(&list, shape->least_ranks,
                           mca_coll_lowlat_component.config.reproducible);
    for (unsigned class = 0; class < ARC_SELECT_CLASSES; ++class) {
        arc_learned_line_t line = line_of(shape, class);
        bool is_known = false;

        for (unsigned i = 0; i < list.count; ++i) {
            const uint64_t call_ns = learned->of[class].call_ns[i];
            line.call_ns[number_of(lowlat_candidate_name(list.candidate[i]))] = call_ns;
            is_known = is_known || 0 != call_ns;
        }
        line.chosen = number_of(lowlat_candidate_name(list.candidate[learned->of[class].chosen]));
        if (is_known) {
            arc_learned_write(file, &words, &line);
        }
    }
}

static void write_all(FILE *file)
{
    enum { DATE_BYTES = 32 };
    arc_learned_text_t origin[ARC_LEARNED_ORIGINS];
    char date[DATE_BYTES] = "";
    const time_t now = time(NULL);
    struct tm utc;

    describe_origin(origin);
    if (NULL != gmtime_r(&now, &utc)) {
        (void) strftime(date, sizeof date, "%Y-%m-%d %H:%M", &utc);
    }
    fprintf(file,
            "# What coll_lowlat has learned about its algorithms between nodes; to be read with\n"
            "# coll_lowlat_learned_file. Written %s UTC.\n",
            date);
    arc_learned_write_origin(file, origin);
    fputs("# Messages from 3/4 to 3/2 of so many bytes: what to use, and the microseconds of a "
          "call.\n",
          file);
    for (unsigned i = 0; i < book.learned.count; ++i) {
        arc_learned_write(file, &words, &book.learned.lines[i]);
    }
    lowlat_memo_each(&mca_coll_lowlat_component.learned, write_shape, file);
}

/* Behind the tallies of the report: what was chosen, and why. */
static void report(void)
{
    lowlat_component_t *component = &mca_coll_lowlat_component;

    if (component->config.report && component->base.first_process &&
        0 != opal_hash_table_get_size(&component->learned.table)) {
        fputs("coll_lowlat: learned between nodes, microseconds of a call:\n", stderr);
        lowlat_memo_each(&component->learned, write_shape, stderr);
    }
}

/*
 * The file is written beside the old one, and takes its place when it is whole: another job may be
 * reading the old one, and a disk that is full must not cost what was learned before.  A device or
 * a link stays what it is, and is written to.  False: see errno.
 */
static bool write_file(const char *name)
{
    char beside[PATH_MAX];
    struct stat old;
    const bool in_place = 0 == lstat(name, &old) && !S_ISREG(old.st_mode);
    const char *written = in_place ? name : beside;

    if (snprintf(beside, sizeof beside, "%s.%ld", name, (long) getpid()) >= (int) sizeof beside) {
        errno = ENAMETOOLONG;
        return false;
    }
    FILE *file = fopen(written, "w");
    if (NULL == file) {
        return false;
    }
    write_all(file);
    const bool failed = 0 != ferror(file);
    const bool whole = 0 == fclose(file) && !failed;
    if (in_place || (whole && 0 == rename(beside, name))) {
        return whole;
    }
    const int cause = errno;
    (void) unlink(beside);
    errno = cause;
    return false;
}

void lowlat_book_close(void)
{
    const char *name = book.learn_file;

    if (NULL != name && mca_coll_lowlat_component.base.first_process && !write_file(name)) {
        opal_output(0, "coll_lowlat: coll_lowlat_learn_file %s cannot be written: %s", name,
                    strerror(errno));
    }
    report();
    free(book.learn_file);
    book.learn_file = NULL;
    arc_learned_free(&book.learned);
}
