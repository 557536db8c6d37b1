/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stddef.h>
#include <stdio.h>

#include "ucx_transports.h"

/* What is not between hosts, or writes remote memory only by messages; UCX need not open it. */
static const char no_network[] = "sm,self,tcp";

/* Not sysv: its segments are open to the user's group. */
static const char machine[] = "posix";

bool ucx_transports(ucx_reach_t reach, const char *wanted, char *text)
{
    const char *list = NULL == wanted ? "" : wanted;
    const bool excludes = '\0' == *list || '^' == *list;

    if (UCX_REACH_MACHINE == reach) {
        return snprintf(text, UCX_TRANSPORTS_BYTES, "%s", '\0' == *list ? machine : list) <
               UCX_TRANSPORTS_BYTES;
    }
    return snprintf(text, UCX_TRANSPORTS_BYTES, "%s%s%s%s", '\0' == *list ? "^" : "", list,
                    '^' == *list ? "," : "", excludes ? no_network : "") < UCX_TRANSPORTS_BYTES;
}
