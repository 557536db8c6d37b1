/*
 * Which of UCX's transports puts may use.  Needs no UCX, for tests.
 *
 *   reach     transports           which
 *   network   all but sm,self,tcp  other hosts; whether they write remote memory must be proved
 *   machine   posix                ranks of this machine that count as other nodes: for tests
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef UCX_TRANSPORTS_H
#define UCX_TRANSPORTS_H

#include <stdbool.h>
#include <stdio.h>

typedef enum ucx_reach { UCX_REACH_NETWORK, UCX_REACH_MACHINE } ucx_reach_t;

enum { UCX_TRANSPORTS_BYTES = 128 };

/* What is not between hosts, or writes remote memory only by messages; UCX need not open it. */
#define UCX_NO_NETWORK "sm,self,tcp"

/* Not sysv: its segments are open to the user's group. */
#define UCX_MACHINE "posix"

/*
 * The transports of `reach` that the user's UCX_TLS leaves, in its own form: `wanted` is a list of
 * names and aliases, with ^ in front those to leave out, or NULL.  What it names is taken as it is.
 * False: more than `text`, of UCX_TRANSPORTS_BYTES, has room for.
 */
static inline bool ucx_transports(ucx_reach_t reach, const char *wanted, char *text)
{
    const char *list = NULL == wanted ? "" : wanted;
    const bool excludes = '\0' == *list || '^' == *list;

    if (UCX_REACH_MACHINE == reach) {
        return snprintf(text, UCX_TRANSPORTS_BYTES, "%s", '\0' == *list ? UCX_MACHINE : list) <
               UCX_TRANSPORTS_BYTES;
    }
    return snprintf(text, UCX_TRANSPORTS_BYTES, "%s%s%s%s", '\0' == *list ? "^" : "", list,
                    '^' == *list ? "," : "", excludes ? UCX_NO_NETWORK : "") < UCX_TRANSPORTS_BYTES;
}

#endif
