/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mca_report.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

_Static_assert((int) ARC_SLOTS *(int) ARC_TALLY_OUTCOMES < ARC_TALLY_ROWS - ARC_TALLY_OWN_ROWS,
               "rows of all sizes have room");

void arc_report_open(arc_component_t *component)
{
    const char *file = NULL == component->report_file ? "" : component->report_file;
    const bool has_rank = UINT32_MAX != component->rank && NULL != strstr(file, "%r");
    const bool writes = '\0' != *file && (component->first_process || has_rank);
    const bool prints = *component->verbose >= ARC_LOG_REPORT && component->first_process;

    /* Without memory there is no report. */
    free(component->tally);
    component->tally = writes || prints ? calloc(1, sizeof *component->tally) : NULL;
    component->timed = writes && NULL != component->tally;
}

/* The name of a file, in which %j, %h, %r and %p stand for what is about the rank. */
static void expand(const arc_tally_about_t *about, const char *pattern, char *text,
                   size_t text_bytes)
{
    size_t used = 0;

    for (; '\0' != *pattern && used < text_bytes; ++pattern) {
        const char letter = '%' == *pattern ? pattern[1] : '\0';
        char *at = text + used;
        const size_t room = text_bytes - used;
        used += (size_t) ('j' == letter   ? snprintf(at, room, "%s", about->job)
                          : 'h' == letter ? snprintf(at, room, "%s", about->host)
                          : 'r' == letter ? snprintf(at, room, "%u", about->rank)
                          : 'p' == letter ? snprintf(at, room, "%lu", about->process)
                                          : snprintf(at, room, "%c", *pattern));
        pattern += NULL != memchr("jhrp", letter, sizeof "jhrp" - 1);
    }
}

/* Written beside, and renamed: whoever reads the folder finds all of a file or none. */
static void write_files(const arc_component_t *component, const arc_tally_about_t *about)
{
    static const char *const suffix[] = {"prom", "json"};
    enum { ENDS_BYTES = 64, READABLE = S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH };
    char base[PATH_MAX];
    char name[sizeof base + ENDS_BYTES];
    char beside[sizeof name + ENDS_BYTES];
    int error = 0;
    sigset_t too_large;
    sigset_t blocked;

    /* A limit of files' sizes, which a write beyond it must not pay with the process. */
    (void) sigemptyset(&too_large);
    (void) sigaddset(&too_large, SIGXFSZ);
    (void) pthread_sigmask(SIG_BLOCK, &too_large, &blocked);
    expand(about, component->report_file, base, sizeof base);
    for (unsigned json = 0; 0 == error && json < 2; ++json) {
        (void) snprintf(name, sizeof name, "%s.%s.%s", base, about->component, suffix[json]);
        (void) snprintf(beside, sizeof beside, "%s.%lu.tmp", name, about->process);
        FILE *file = fopen(beside, "wx"); /* the folder may be everybody's, with links in it */
        if (NULL != file) {
            (void) fchmod(fileno(file), READABLE); /* whoever collects it is another user */
            arc_tally_write(file, 0 != json, about, component->tally);
            error = 0 == ferror(file) ? 0 : EIO;
            error = 0 == fclose(file) ? error : errno;
            error = 0 != error ? error : 0 == rename(beside, name) ? 0 : errno;
        } else {
            error = errno;
        }
        if (0 != error && *component->verbose >= ARC_LOG_WARN) {
            opal_output(0, "coll_%s: coll_arc_report_file: %s cannot be written: %s",
                        about->component, name, strerror(error));
        }
        if (0 != error && NULL != file) {
            (void) unlink(beside);
        }
    }
    if (!sigismember(&blocked, SIGXFSZ)) {
        (void) sigtimedwait(&too_large, NULL, &(struct timespec){0});
    }
    (void) pthread_sigmask(SIG_SETMASK, &blocked, NULL);
}

void arc_report_close(arc_component_t *component)
{
    char host[HOST_NAME_MAX + 1] = "";
    const char *job = getenv("SLURM_JOB_ID");
    const arc_tally_about_t about = {
        .component = arc_component_name(component),
        .job = NULL == job ? "unknown" : job,
        .host = host,
        .process = (unsigned long) getpid(),
        .rank = component->rank,
        .collective = arc_slot_call,
        .algorithms = component->algorithm_names,
        .algorithm_count = component->algorithms,
        .wanted = NULL == component->wanted || component->wanted(),
    };
    const bool prints = *component->verbose >= ARC_LOG_REPORT && component->first_process;
    bool any = false;

    (void) gethostname(host, sizeof host - 1);
    for (unsigned slot = 0; NULL != component->tally && slot < ARC_SLOTS; ++slot) {
        any |= arc_tally_print(prints ? stderr : NULL, &about, slot, component->tally);
    }
    if (any && component->timed) {
        write_files(component, &about);
    }
    free(component->tally);
    component->tally = NULL;
    free(component->report_file);
    component->report_file = NULL;
}
