/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mca_report.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mca_params.h"

_Static_assert((int) ARC_SLOTS *(int) ARC_TALLY_OUTCOMES < ARC_TALLY_ROWS - ARC_TALLY_OWN_ROWS,
               "rows of all sizes have room");

void arc_report_open(arc_component_t *component)
{
    const bool has_file = NULL != component->report_file && '\0' != *component->report_file;

    /* Without memory there is no report. */
    component->tally = has_file || *component->verbose >= ARC_LOG_REPORT
                           ? calloc(1, sizeof *component->tally)
                           : NULL;
    component->timed = has_file && NULL != component->tally;
}

static const char *name_of(unsigned slot)
{
    return arc_slot_call((arc_slot_t) slot);
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
    enum { ENDS_BYTES = 64 };
    char base[PATH_MAX];
    char name[sizeof base + ENDS_BYTES];
    char beside[sizeof name + ENDS_BYTES];
    bool fine = true;

    expand(about, component->report_file, base, sizeof base);
    for (unsigned json = 0; fine && json < 2; ++json) {
        (void) snprintf(name, sizeof name, "%s.%s.%s", base, about->component, suffix[json]);
        (void) snprintf(beside, sizeof beside, "%s.%lu.tmp", name, about->process);
        FILE *file = fopen(beside, "wx"); /* the folder may be everybody's, with links in it */
        fine = NULL != file;
        if (fine) {
            arc_tally_write(file, 0 != json, about, component->tally);
            fine = 0 == ferror(file);
            fine = 0 == fclose(file) && fine && 0 == rename(beside, name);
        }
        if (!fine && *component->verbose >= ARC_LOG_WARN) {
            opal_output(0, "coll_%s: coll_arc_report_file: %s cannot be written: %s",
                        about->component, name, strerror(errno));
        }
        if (!fine && NULL != file) {
            (void) unlink(beside);
        }
    }
}

void arc_report_close(arc_component_t *component)
{
    char host[HOST_NAME_MAX + 1] = "";
    const arc_tally_about_t about = {
        .component = arc_component_name(component),
        .job = mca_params_job(),
        .host = host,
        .process = (unsigned long) getpid(),
        .rank = component->rank,
        .collective = name_of,
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
    if (any && component->timed &&
        (component->first_process ||
         (UINT32_MAX != component->rank && NULL != strstr(component->report_file, "%r")))) {
        write_files(component, &about);
    }
    free(component->tally);
    component->tally = NULL;
    free(component->report_file);
    component->report_file = NULL;
}
