/*
 * UCX, opened at run time and without side effects on the process.
 *
 * Why not linked: libucs configures itself in a constructor, from environment
 * variables only, and by default installs signal handlers and patches mmap,
 * munmap, brk and shmat of the whole process.  A plugin that is loaded into
 * somebody's program by default must not do that.  So the library is opened
 * with these variables set, each unless the user has set it, and they are
 * removed again.  A process in which UCX is already loaded is left as it is; one
 * that loads it later finds it configured like this.
 *
 * A second gain: where UCX is missing all but puts works, and a build works with every release from
 * UCX_MAJOR.UCX_MINOR on: UCP's functions and structures are kept compatible.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "ucx_library.h"

static const struct {
    const char *name;
    const char *value;
} quiet[] = {
    {"UCX_HANDLE_ERRORS", "none"}, /* no handlers for SIGSEGV and its like */
    {"UCX_DEBUG_SIGNO", "0"},      /* nor for SIGHUP */
    {"UCX_MEM_EVENTS", "n"},       /* no patched memory functions */
    {"UCX_VFS_ENABLE", "n"},       /* no file system thread */
    {"UCX_LOG_LEVEL", "fatal"},    /* an attempt that fails is ours to report */
};

enum { QUIET = sizeof quiet / sizeof quiet[0] };

/* libucp, and with it libuct and libucs, in the quiet environment. */
static void *open_quietly(void)
{
    int set_by_us[QUIET] = {0};

    for (size_t variable = 0; variable < QUIET; ++variable) {
        if (NULL == getenv(quiet[variable].name)) {
            set_by_us[variable] = 0 == setenv(quiet[variable].name, quiet[variable].value, 0);
        }
    }
    void *handle = dlopen("libucp.so.0", RTLD_NOW | RTLD_LOCAL);
    for (size_t variable = 0; variable < QUIET; ++variable) {
        if (set_by_us[variable]) {
            (void) unsetenv(quiet[variable].name);
        }
    }
    return handle;
}

static int resolve_all(ucx_library_t *library)
{
#define X(_function)                                                                          \
    library->_function = (__typeof__(library->_function)) dlsym(library->handle, #_function); \
    if (NULL == library->_function) {                                                         \
        return 0;                                                                             \
    }
    UCX_FUNCTION_TABLE(X)
#undef X
    return 1;
}

arc_status_t ucx_library_open(ucx_library_t *library, const char **why)
{
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;

    memset(library, 0, sizeof *library);
    library->handle = open_quietly();
    if (NULL == library->handle) {
        *why = "UCX (libucp.so.0) cannot be loaded";
        return ARC_UNSUPPORTED;
    }
    if (!resolve_all(library)) {
        *why = "this UCX lacks functions that are needed";
        goto err_close;
    }
    library->ucp_get_version(&major, &minor, &release);
    if (UCX_MAJOR != major || minor < UCX_MINOR) {
        *why = "this UCX is older than 1.12, or newer than UCX 1";
        goto err_close;
    }
    return ARC_OK;

err_close:
    ucx_library_close(library);
    return ARC_UNSUPPORTED;
}

void ucx_library_close(ucx_library_t *library)
{
    if (NULL != library->handle) {
        (void) dlclose(library->handle);
        library->handle = NULL;
    }
}
