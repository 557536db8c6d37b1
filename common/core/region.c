/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "float_env.h"
#include "region.h"
#include "sizes.h"

#define MEMFD_NAME "arc"

enum { OWNER_ONLY = S_IRUSR | S_IWUSR, PATH_BYTES = 64 };

const char *const arc_region_kind_names[ARC_REGION_KINDS] = {"sysv", "memfd"};

static void set_none(arc_region_t *region, arc_region_kind_t kind)
{
    *region = (arc_region_t){.kind = kind, .file = -1};
}

/* ---- System V ---- */

/* UCX puts itself in front of shmat(), and computes floats there, which a program may trap. */
static void *attach_sysv(int number)
{
    const arc_float_env_t of_program = arc_float_env_enter();
    void *base = shmat(number, NULL, 0);
    arc_float_env_leave(of_program);

    return (void *) -1 == base ? NULL : base;
}

/* It is marked for removal at once; Linux lets peers attach it as long as somebody has. */
static void *create_sysv(size_t bytes, int *number)
{
    *number = shmget(IPC_PRIVATE, bytes, IPC_CREAT | IPC_EXCL | OWNER_ONLY);
    if (*number < 0) {
        return NULL;
    }
    void *base = attach_sysv(*number);
    (void) shmctl(*number, IPC_RMID, NULL);
    return base;
}

/* ---- memfd ---- */

static void *map_file(int file, size_t bytes)
{
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

    return MAP_FAILED == base ? NULL : base;
}

/* A file beyond the limit of files would cost the process a signal. */
static bool may_have_file(size_t bytes)
{
    struct rlimit limit;

    return 0 == getrlimit(RLIMIT_FSIZE, &limit) && bytes <= limit.rlim_cur;
}

/* In steps: a signal undoes one, and a program may have timers that are shorter than it all. */
static bool fill(int file, size_t bytes)
{
    enum { STEP_BYTES = 1 << 20 };
    int error = 0;

    for (size_t at = 0; at < bytes && (0 == error || EINTR == error);
         at += 0 == error ? STEP_BYTES : 0) {
        error = posix_fallocate(file, (off_t) at, (off_t) arc_min(bytes - at, STEP_BYTES));
    }
    return 0 == error;
}

static void *create_memfd(size_t bytes, int *file)
{
    void *base = NULL;

    *file = may_have_file(bytes) ? memfd_create(MEMFD_NAME, MFD_CLOEXEC) : -1;
    if (*file < 0) {
        return NULL;
    }
    if (0 == fchmod(*file, OWNER_ONLY) && fill(*file, bytes)) {
        base = map_file(*file, bytes);
    }
    if (NULL == base) {
        (void) close(*file);
        *file = -1;
    }
    return base;
}

/*
 * Only what is called as ours is opened: in another PID namespace the path can lead to anything,
 * and some files do things when they are opened.
 */
static void *attach_memfd(const arc_region_key_t *key)
{
    static const char ours[] = "/memfd:" MEMFD_NAME " ";
    char path[PATH_BYTES];
    char target[sizeof ours - 1];
    struct stat state;

    (void) snprintf(path, sizeof path, "/proc/%d/fd/%d", (int) key->process, (int) key->number);
    if (sizeof target != readlink(path, target, sizeof target) ||
        0 != memcmp(target, ours, sizeof target)) {
        return NULL;
    }
    const int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) {
        return NULL;
    }
    void *base = NULL;
    if (0 == fstat(file, &state) && (uint64_t) state.st_size == key->bytes) {
        base = map_file(file, key->bytes);
    }
    (void) close(file);
    return base;
}

/* ---- both ---- */

static void keep_out_of_cores(const arc_region_t *region)
{
    (void) madvise(region->base, region->bytes, MADV_DONTDUMP);
}

arc_status_t arc_region_create(arc_region_t *region, arc_region_kind_t kind, size_t bytes,
                               arc_region_key_t *key)
{
    uint64_t identity = 0;
    int number = -1;

    set_none(region, kind);
    if (sizeof identity != getrandom(&identity, sizeof identity, 0)) {
        return ARC_ERR_NO_MEMORY;
    }
    region->base =
        ARC_REGION_SYSV == kind ? create_sysv(bytes, &number) : create_memfd(bytes, &number);
    if (NULL == region->base) {
        return ARC_ERR_NO_MEMORY;
    }
    region->bytes = bytes;
    region->file = ARC_REGION_MEMFD == kind ? number : -1;
    *key = (arc_region_key_t){
        .identity = identity, .bytes = bytes, .number = number, .process = (int32_t) getpid()};
    *(uint64_t *) region->base = identity;
    keep_out_of_cores(region);
    return ARC_OK;
}

bool arc_region_peek(uint64_t *to, const uint64_t *from)
{
    const struct timespec at_once = {0};

    /* To wait for a change of it the kernel reads it, and finds it changed, or a time of 0 over. */
    if (0 != syscall(SYS_futex, from, FUTEX_WAIT_PRIVATE, 0, &at_once, NULL, 0) &&
        EAGAIN != errno && ETIMEDOUT != errno && EINTR != errno) {
        return false;
    }
    *to = __atomic_load_n(from, __ATOMIC_RELAXED);
    return true;
}

arc_status_t arc_region_attach(arc_region_t *region, arc_region_kind_t kind,
                               const arc_region_key_t *key)
{
    uint64_t identity = 0;

    set_none(region, kind);
    region->base = ARC_REGION_SYSV == kind ? attach_sysv(key->number) : attach_memfd(key);
    region->bytes = key->bytes;
    if (NULL == region->base || !arc_region_peek(&identity, region->base) ||
        key->identity != identity) {
        arc_region_release(region);
        return ARC_ERR_TRANSPORT;
    }
    keep_out_of_cores(region);
    return ARC_OK;
}

void arc_region_release(arc_region_t *region)
{
    if (NULL == region->base) {
        return;
    }
    if (ARC_REGION_SYSV == region->kind) {
        (void) shmdt(region->base);
    } else {
        (void) munmap(region->base, region->bytes);
    }
    if (region->file >= 0) {
        (void) close(region->file);
    }
    set_none(region, region->kind);
}
