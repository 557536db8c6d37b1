/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cores.h"
#include "sizes.h"
#include "wait.h"

enum {
    /* 8 KiB: a mask of 65536 processors, of which Linux manages 8192.  cpu_set_t ends at 1024. */
    MASK_WORDS = 8192 / sizeof(unsigned long),
    TEXT_BYTES = 4096,
    NUMBERS_BYTES = 64,
    THOUSANDTHS = 1000, /* of a processor: the unit of quotas */
};

void arc_cores_set_mask(arc_cores_t *own, const unsigned long *mask, size_t mask_words)
{
    own->count = 0;
    own->words = 0;
    for (size_t i = 0; i < mask_words; ++i) {
        if (0 == mask[i]) {
            continue;
        }
        own->count += (uint32_t) __builtin_popcountl(mask[i]);
        if (own->words < ARC_CORES_WORDS && i <= UINT16_MAX) {
            own->word[own->words] = (uint16_t) i;
            own->bits[own->words] = mask[i];
            own->words += 1;
        }
    }
}

/*
 * The start of a job is crowded on any machine: mpirun and its daemon run beside the ranks.  So a
 * process has to have lived for two seconds.  A quarter: one of two processes on the same
 * processor waits for half of the time, each of three on two processors for a third; a daemon that
 * wakes up now and then takes less than a hundredth.
 */
uint32_t arc_cores_are_crowded(uint64_t ran_ns, uint64_t waited_ns, unsigned processes, long online)
{
    const uint64_t life_ns = ran_ns + waited_ns;
    const bool waited = life_ns >= 2 * (uint64_t) ARC_NS_PER_SECOND && waited_ns >= life_ns / 4;

    return (online > 0 && processes > (unsigned long) online ? ARC_CORES_MANY : 0) |
           (waited ? ARC_CORES_WAITED : 0);
}

/* Do the ranks of some control group have fewer processors together than they are? */
static bool quota_is_short(const arc_cores_t *all, unsigned ranks)
{
    for (unsigned rank = 0; rank < ranks; ++rank) {
        unsigned members = 0;
        for (unsigned other = 0; 0 != all[rank].quota && other < ranks; ++other) {
            members += all[rank].group == all[other].group;
        }
        if (all[rank].quota / THOUSANDTHS < members) {
            return true;
        }
    }
    return false;
}

/* Take one of the processors that `cores` may run on and nobody has taken yet. */
static bool take_processor(const arc_cores_t *cores, unsigned long *taken)
{
    for (unsigned i = 0; i < cores->words; ++i) {
        const unsigned long left = cores->bits[i] & ~taken[cores->word[i]];
        if (0 != left) {
            taken[cores->word[i]] |= left & -left;
            return true;
        }
    }
    return false;
}

/*
 * Give each rank a processor, those first that have the least choice.  This finds a way wherever
 * there is one if of any two masks one is a part of the other or they have nothing in common, as
 * masks that come from cores, caches and sockets do; it may miss one for other masks.  Whoever may
 * run on as many processors as there are ranks always finds one and needs no look.  Of a mask of
 * more than ARC_CORES_WORDS words the rest is not used: with more than 512 processors a rank for
 * which there is one may find none.
 */
static bool all_find_one(const arc_cores_t *all, unsigned ranks, unsigned long *taken)
{
    for (unsigned count = 0, next = ranks; count < ranks; count = next, next = ranks) {
        for (unsigned rank = 0; rank < ranks; ++rank) {
            if (count == all[rank].count && !take_processor(&all[rank], taken)) {
                return false;
            }
            next = all[rank].count > count ? (unsigned) arc_min(all[rank].count, next) : next;
        }
    }
    return true;
}

bool arc_cores_are_shared(const arc_cores_t *all, unsigned ranks)
{
    unsigned words = 0;

    for (unsigned rank = 0; rank < ranks; ++rank) {
        const arc_cores_t *cores = &all[rank];
        if (cores->crowded || 0 == cores->words) {
            return true;
        }
        const unsigned end = cores->word[cores->words - 1] + 1U;
        words = end > words ? end : words;
    }
    unsigned long *taken = calloc(words, sizeof *taken);
    const bool shared =
        NULL == taken || quota_is_short(all, ranks) || !all_find_one(all, ranks, taken);
    free(taken);
    return shared;
}

/* ---- what Linux tells; what cannot be read counts as no limit ---- */

/* The beginning of a file below `directory`, as a string.  false if it cannot be read. */
static bool read_text(const char *directory, const char *file, char *text, size_t text_bytes)
{
    char *path = NULL;
    const int bytes_of_path = asprintf(&path, "%s/%s", directory, file);
    const int descriptor = bytes_of_path < 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);

    if (bytes_of_path >= 0) {
        free(path);
    }
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
    char text[NUMBERS_BYTES];
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

/* Keep the smallest quota of the group at `path` below a mount and of all groups around it. */
static void look_upwards(arc_cores_t *own, const char *root, const char *mount, const char *path)
{
    const size_t mount_bytes = strlen(root) + strlen(mount);
    char *directory = NULL;

    /* A group outside the container has a path that leads out of what is mounted here. */
    if (asprintf(&directory, "%s%s%s", root, mount, NULL == strstr(path, "/..") ? path : "") < 0) {
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
            break;
        }
        *last = '\0';
    }
    free(directory);
}

/* Does a list such as "cpu,cpuacct" hold "cpu"?  The list is ours to change. */
static bool names_cpu(char *list)
{
    char *rest = NULL;
    const char *name = strtok_r(list, ",", &rest);

    while (NULL != name && 0 != strcmp(name, "cpu")) {
        name = strtok_r(NULL, ",", &rest);
    }
    return NULL != name;
}

/* Lines of /proc/self/cgroup: "4:cpu,cpuacct:/path" (version 1), "0::/path" (version 2). */
static void find_quota(arc_cores_t *own, const char *root)
{
    char text[TEXT_BYTES];
    char *rest = NULL;

    if (!read_text(root, "proc/self/cgroup", text, sizeof text)) {
        return;
    }
    for (char *line = strtok_r(text, "\n", &rest); NULL != line;
         line = strtok_r(NULL, "\n", &rest)) {
        char *list = strchr(line, ':');
        char *path = NULL != list ? strchr(list + 1, ':') : NULL;
        if (NULL != path) {
            *list++ = '\0';
            *path++ = '\0';
            if ('\0' == *list) {
                look_upwards(own, root, "/sys/fs/cgroup", path);
            } else if (names_cpu(list)) {
                look_upwards(own, root, "/sys/fs/cgroup/cpu", path);
            }
        }
    }
}

static uint32_t find_crowd(unsigned processes, const char *root)
{
    char text[NUMBERS_BYTES];
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
    /* Not on the stack, which a program's threads may have made small. */
    unsigned long *mask = calloc(MASK_WORDS, sizeof *mask);

    memset(own, 0, sizeof *own);
    /* Of the main thread, whichever asks: where ranks are decides in which order they are added. */
    if (NULL != mask &&
        0 == sched_getaffinity(getpid(), MASK_WORDS * sizeof *mask, (cpu_set_t *) mask)) {
        arc_cores_set_mask(own, mask, MASK_WORDS);
    }
    free(mask);
    find_quota(own, root);
    own->crowded = find_crowd(processes, root);
}
