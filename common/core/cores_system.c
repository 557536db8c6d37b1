/*
 * What Linux tells of the processors that a process has: its mask, the CPU quotas of its control
 * groups, and how long it ran and waited.  What cannot be read counts as no limit.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cores.h"

enum {
    /* 8 KiB: a mask of 65536 processors, of which Linux manages 8192.  cpu_set_t ends at 1024. */
    MASK_WORDS = 8192 / sizeof(unsigned long),
    TEXT_BYTES = 4096,
};

/* The beginning of a file below `directory`, as a string.  false if it cannot be read. */
static bool read_text(const char *directory, const char *file, char *text, size_t text_bytes)
{
    char path[PATH_MAX];

    if ((size_t) snprintf(path, sizeof path, "%s/%s", directory, file) >= sizeof path) {
        return false;
    }
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return false;
    }
    const ssize_t bytes = read(descriptor, text, text_bytes - 1);
    (void) close(descriptor);
    text[bytes > 0 ? bytes : 0] = '\0';
    return bytes > 0;
}

/*
 * The quota of one control group.  Its files: "QUOTA PERIOD" or "max PERIOD" in cpu.max
 * (version 2), or two files (version 1), where a quota of -1 is none.
 */
static bool read_quota(const char *directory, uint32_t *quota)
{
    enum { NUMBER_BYTES = 64, THOUSANDTHS = 1000 };
    char text[NUMBER_BYTES];
    long long run_us = 0;
    long long period_us = 0;

    if (read_text(directory, "cpu.max", text, sizeof text)) {
        if (2 != sscanf(text, "%lld %lld", &run_us, &period_us)) {
            return false;
        }
    } else if (read_text(directory, "cpu.cfs_quota_us", text, sizeof text)) {
        run_us = atoll(text);
        if (read_text(directory, "cpu.cfs_period_us", text, sizeof text)) {
            period_us = atoll(text);
        }
    }
    if (run_us <= 0 || period_us <= 0 || run_us / period_us > UINT32_MAX / THOUSANDTHS) {
        return false;
    }
    /* Never 0, which would say that there is no quota. */
    *quota = 1 + (uint32_t) ((run_us * THOUSANDTHS - 1) / period_us);
    return true;
}

/* Keep the smallest quota of the group at `path` below `mount` and of all groups around it. */
static void look_upwards(arc_cores_t *own, const char *mount, const char *path)
{
    char directory[PATH_MAX];
    const size_t mount_bytes = strlen(mount);

    /* A group outside the container has a path that leads out of what is mounted here. */
    const int bytes = snprintf(directory, sizeof directory, "%s%s", mount,
                               NULL == strstr(path, "/..") ? path : "");
    if (bytes < 0 || (size_t) bytes >= sizeof directory) {
        return;
    }
    for (;;) {
        struct stat group;
        uint32_t quota = 0;
        if (read_quota(directory, &quota) && (0 == own->quota || quota < own->quota) &&
            0 == stat(directory, &group)) {
            own->quota = quota;
            own->group = (uint64_t) group.st_ino;
        }
        char *last = strrchr(directory, '/');
        if (NULL == last || last < directory + mount_bytes) {
            return;
        }
        *last = '\0';
    }
}

/* Does the list "cpu,cpuacct" hold "cpu"? */
static bool names_cpu(const char *controllers)
{
    char list[TEXT_BYTES];

    (void) snprintf(list, sizeof list, ",%s,", controllers);
    return NULL != strstr(list, ",cpu,");
}

/* A line of /proc/self/cgroup: "4:cpu,cpuacct:/path" (version 1), "0::/path" (version 2). */
static void look_at_group(arc_cores_t *own, char *line, const char *root)
{
    char mount[PATH_MAX];
    char *controllers = strchr(line, ':');
    char *path = NULL != controllers ? strchr(controllers + 1, ':') : NULL;

    if (NULL == path) {
        return;
    }
    *controllers++ = '\0';
    *path++ = '\0';
    if ('\0' != *controllers && !names_cpu(controllers)) {
        return;
    }
    (void) snprintf(mount, sizeof mount, "%s/sys/fs/cgroup%s", root,
                    '\0' == *controllers ? "" : "/cpu");
    look_upwards(own, mount, path);
}

static void find_quota(arc_cores_t *own, const char *root)
{
    char text[TEXT_BYTES];
    char *rest = NULL;

    if (!read_text(root, "proc/self/cgroup", text, sizeof text)) {
        return;
    }
    for (char *line = strtok_r(text, "\n", &rest); NULL != line;
         line = strtok_r(NULL, "\n", &rest)) {
        look_at_group(own, line, root);
    }
}

static bool find_crowd(unsigned processes, const char *root)
{
    char text[TEXT_BYTES];
    uint64_t ran_ns = 0;
    uint64_t waited_ns = 0;

    if (!read_text(root, "proc/self/schedstat", text, sizeof text) ||
        2 != sscanf(text, "%" SCNu64 " %" SCNu64, &ran_ns, &waited_ns)) {
        ran_ns = 0;
        waited_ns = 0;
    }
    return arc_cores_are_crowded(ran_ns, waited_ns, processes, sysconf(_SC_NPROCESSORS_ONLN));
}

void arc_cores_get(arc_cores_t *own, unsigned processes, const char *root)
{
    unsigned long mask[MASK_WORDS] = {0};

    memset(own, 0, sizeof *own);
    if (0 == sched_getaffinity(0, sizeof mask, (cpu_set_t *) mask)) {
        arc_cores_set_mask(own, mask, MASK_WORDS);
    }
    find_quota(own, root);
    own->crowded = find_crowd(processes, root);
}
