/*
 * Memory shared by the ranks of a node, through UCX's memory domains.
 *
 * A domain ("sysv" or "posix") gives memory that other processes can map.  The
 * owner allocates a region and packs a key; a peer that has the key attaches
 * the region and gets a plain pointer to it.
 *
 * This is UCX's transport layer (UCT); docs/architecture.md says why not its protocol layer.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef UCX_MEMORY_H
#define UCX_MEMORY_H

#include <stdbool.h>

#include "ucx_library.h"

enum { UCX_KEY_BYTES = 128 }; /* room for a packed key; UCX 1.13 needs 12 or 24 */

/* One memory domain of one process. */
typedef struct ucx_domain {
    const ucx_library_t *library;
    uct_component_h component;
    uct_md_h md;
    bool is_system_v;
} ucx_domain_t;

/* ARC_UNSUPPORTED: this UCX has no domain of that name, or it cannot be opened. */
arc_status_t ucx_domain_open(ucx_domain_t *domain, const ucx_library_t *library,
                             const char *name) ARC_MUST_CHECK;
void ucx_domain_close(ucx_domain_t *domain);

/* What a peer needs to attach a region; plain data, to be sent to it. */
typedef struct ucx_key {
    uint64_t address; /* of the region in its owner */
    unsigned char packed[UCX_KEY_BYTES];
} ucx_key_t;

/* A region of ours. */
typedef struct ucx_region {
    const ucx_domain_t *domain;
    uct_allocated_memory_t memory;
} ucx_region_t;

/*
 * Allocate `bytes` bytes of zeroed, page-aligned shared memory.  sysv pages are
 * not touched, posix ones are written by UCX.  No trace of it remains when the last process that
 * maps it ends.  Only processes of the same user can map it; ARC_UNSUPPORTED: that cannot be had.
 */
arc_status_t ucx_region_create(ucx_region_t *region, const ucx_domain_t *domain, size_t bytes,
                               ucx_key_t *key) ARC_MUST_CHECK;
void ucx_region_free(ucx_region_t *region);

static inline void *ucx_region_base(const ucx_region_t *region)
{
    return region->memory.address;
}

/* A peer's region, mapped. */
typedef struct ucx_mapping {
    const ucx_domain_t *domain;
    uct_rkey_bundle_t rkey;
    void *base;
} ucx_mapping_t;

/*
 * Map the region that `key` stands for.  A key from another IPC namespace may
 * fail, or map something else: the caller checks what it finds there.
 */
arc_status_t ucx_mapping_attach(ucx_mapping_t *mapping, const ucx_domain_t *domain,
                                const ucx_key_t *key) ARC_MUST_CHECK;
void ucx_mapping_detach(ucx_mapping_t *mapping);

#endif
