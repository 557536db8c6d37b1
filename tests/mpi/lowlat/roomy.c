/*
 * The program of agree.c on a machine that seems to have sixteen processors, all for this process:
 * on fewer ones, too, four ranks then count as having one each.  The system's functions that tell
 * are found here before those of libc (-export-dynamic).
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "config.h"

#include <dlfcn.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

enum { PROCESSORS = 16 };

__attribute__((visibility("default"))) int sched_getaffinity(pid_t pid, size_t bytes,
                                                             cpu_set_t *mask)
{
    memset(mask, 0, bytes);
    for (int i = 0; i < PROCESSORS; i++) {
        CPU_SET_S((size_t) i, bytes, mask);
    }
    return 0;
}

__attribute__((visibility("default"))) long sysconf(int name)
{
    static long (*real)(int name);

    if (real == NULL) {
        void *found = dlsym(RTLD_NEXT, "sysconf");
        memcpy(&real, &found, sizeof real);
    }
    return name == _SC_NPROCESSORS_ONLN ? PROCESSORS : real(name);
}
