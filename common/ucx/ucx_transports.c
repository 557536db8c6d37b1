/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "ucx_transports.h"

/* What is not between hosts, or writes remote memory only by messages; UCX need not open it. */
static const char no_network[] = "sm,self,tcp";

/* Not sysv: its segments are open to the user's group. */
static const char machine[] = "posix";
/* Words of UCX_TLS that include it. */
static const char *const names[] = {"posix", "all", "sm", "shm", "mm"};

static bool names_machine(const char *list)
{
    for (const char *word = list; '\0' != *word;) {
        const size_t bytes = strcspn(word, ",");
        for (unsigned i = 0; i < sizeof names / sizeof names[0]; ++i) {
            if (strlen(names[i]) == bytes && 0 == strncmp(names[i], word, bytes)) {
                return true;
            }
        }
        word += bytes + (',' == word[bytes]);
    }
    return false;
}

bool ucx_transports(ucx_reach_t reach, const char *wanted, char *text)
{
    const char *list = NULL == wanted ? "" : wanted;
    const bool excludes = '\0' == *list || '^' == *list;

    if (UCX_REACH_NETWORK == reach) {
        const int used = snprintf(text, UCX_TRANSPORTS_BYTES, "%s%s%s%s", '\0' == *list ? "^" : "",
                                  list, '^' == *list ? "," : "", excludes ? no_network : "");
        return used < UCX_TRANSPORTS_BYTES;
    }
    (void) snprintf(text, UCX_TRANSPORTS_BYTES, "%s", machine);
    return excludes != names_machine(list + ('^' == *list));
}
