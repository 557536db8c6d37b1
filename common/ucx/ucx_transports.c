/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "ucx_transports.h"

enum { KINDS = 2, ALIASES = 4 };

static const struct {
    const char *kind;
    const char *alias[ALIASES]; /* names in UCX_TLS that include it */
} kinds[][KINDS] = {
    [UCX_REACH_NETWORK] = {{"rc", {"all", "ib"}}, {"dc", {"all", "ib"}}},
    /* Not sysv: its segments are open to the user's group. */
    [UCX_REACH_MACHINE] = {{"posix", {"all", "sm", "shm", "mm"}}},
};

/* Is the word of `bytes` bytes the kind itself, one of its aliases, or (rc_x) a special form? */
static bool names_kind(ucx_reach_t reach, unsigned kind, const char *word, size_t bytes)
{
    const char *name = kinds[reach][kind].kind;
    const size_t name_bytes = strlen(name);

    for (unsigned i = 0; i < ALIASES && NULL != kinds[reach][kind].alias[i]; ++i) {
        const char *alias = kinds[reach][kind].alias[i];
        if (strlen(alias) == bytes && 0 == strncmp(alias, word, bytes)) {
            return true;
        }
    }
    return bytes >= name_bytes && 0 == strncmp(name, word, name_bytes) &&
           (bytes == name_bytes || '_' == word[name_bytes]);
}

/* Append the transports of a kind that the list leaves: of special forms, those named there. */
static size_t append_kind(ucx_reach_t reach, unsigned kind, const char *list, char *text,
                          size_t used)
{
    const char *name = kinds[reach][kind].kind;
    const bool excludes = NULL != list && '^' == *list;
    bool take = NULL == list || '\0' == *list || excludes;

    for (const char *word = NULL == list ? "" : list + excludes; '\0' != *word;) {
        const size_t bytes = strcspn(word, ",");
        if (names_kind(reach, kind, word, bytes)) {
            if (excludes) {
                return used;
            }
            const bool special = 0 == strncmp(name, word, strlen(name)) && bytes > strlen(name);
            if (special && used < UCX_TRANSPORTS_BYTES) {
                used += (size_t) snprintf(text + used, UCX_TRANSPORTS_BYTES - used, "%s%.*s",
                                          used > 0 ? "," : "", (int) bytes, word);
            }
            take = take || !special;
        }
        word += bytes + (',' == word[bytes]);
    }
    if (take && used < UCX_TRANSPORTS_BYTES) {
        used += (size_t) snprintf(text + used, UCX_TRANSPORTS_BYTES - used, "%s%s",
                                  used > 0 ? "," : "", name);
    }
    return used;
}

bool ucx_transports(ucx_reach_t reach, const char *wanted, char *text)
{
    size_t used = 0;

    for (unsigned kind = 0; kind < KINDS && NULL != kinds[reach][kind].kind; ++kind) {
        used = append_kind(reach, kind, wanted, text, used);
    }
    return used > 0 && used < UCX_TRANSPORTS_BYTES;
}
