/*
 * Memory that the processes of a node share: the owner makes a region and hands out its key, by
 * which a peer maps it.
 *
 *   kind    made by        found by                     cannot be had where
 *   sysv    shmget         its number                   IPC namespaces differ, the kernel's limits
 *                                                       are reached
 *   memfd   memfd_create   /proc/PID/fd/N of its owner  PID or user namespaces differ, the program
 *                                                       may not be dumped
 *
 * Only processes of the owner's user can map either.  Neither has a name in a file system: when the
 * last process that maps a region ends, however it ends, nothing remains.  (System V memory does
 * remain if its owner is killed between shmget and shmctl, two system calls in a row.)
 *
 * Core files leave regions out: that of each rank would hold those of all ranks of the node, and be
 * the first to touch most pages of them.
 *
 * A region begins with a random number, which its key has, too: a key that comes from another
 * namespace may lead to somebody else's memory here.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_REGION_H
#define ARC_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

typedef enum arc_region_kind {
    ARC_REGION_SYSV,
    ARC_REGION_MEMFD,
    ARC_REGION_KINDS,
} arc_region_kind_t;

enum { ARC_REGION_HEAD_BYTES = sizeof(uint64_t) };

extern const char *const arc_region_kind_names[ARC_REGION_KINDS];

/* What a peer needs; plain data. */
typedef struct arc_region_key {
    uint64_t identity; /* the number in the region */
    uint64_t bytes;
    int32_t number;  /* the System V number, or the owner's file descriptor */
    int32_t process; /* the owner */
} arc_region_key_t;

/* A mapped region: of this process, or a peer's. */
typedef struct arc_region {
    void *base; /* NULL: none */
    size_t bytes;
    arc_region_kind_t kind;
    int file; /* of ours, if it is a memfd, by which peers find it; otherwise -1 */
} arc_region_t;

/*
 * A region of `bytes` zeros, more than ARC_REGION_HEAD_BYTES, behind its number.  Pages of sysv are
 * taken when they are first touched, those of memfd at once, so that none can be missing later.
 * ARC_ERR_NO_MEMORY: it cannot be had.
 */
arc_status_t arc_region_create(arc_region_t *region, arc_region_kind_t kind, size_t bytes,
                               arc_region_key_t *key) ARC_MUST_CHECK;

/* Map a peer's region.  ARC_ERR_TRANSPORT: the key leads to nothing, or to something else. */
arc_status_t arc_region_attach(arc_region_t *region, arc_region_kind_t kind,
                               const arc_region_key_t *key) ARC_MUST_CHECK;

/* Unmap it; nothing if there is none.  Peers keep what they have mapped. */
void arc_region_release(arc_region_t *region);

/*
 * Read a number that may not be there: an empty file can be mapped, and reading raises SIGBUS.  The
 * kernel reads it first, by one system call, and says so.  False: it cannot be read; *to is as
 * before.
 */
bool arc_region_peek(uint64_t *to, const uint64_t *from);

#endif
