/*
 * Memory that processes share: what one writes another reads, and nothing remains.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <float.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "region.h"

enum { BYTES = 3 << 16, LAST = BYTES - ARC_REGION_HEAD_BYTES - 1, OURS = 0x5a, THEIRS = 0xa5 };

static bool shmat_rounds_up;

static bool rounds_up(void)
{
    volatile double sum = 1;
    sum += DBL_EPSILON / 4;
    return sum > 1;
}

/* In front of the system's, as a library that wants to know what is attached puts its own. */
void *shmat(int number, const void *address, int flags)
{
    shmat_rounds_up = rounds_up();
    return (void *) syscall(SYS_shmat, number, address, flags);
}

/* In front of the system's: as if each second one were interrupted, and all that take long. */
int posix_fallocate(int file, off_t at, off_t bytes)
{
    enum { LONG_BYTES = 2 << 20, PATIENCE = 50 };
    static int calls;

    if (bytes > LONG_BYTES || 0 == ++calls % 2) {
        static int interruptions;
        return ++interruptions > PATIENCE ? ENOSPC : EINTR;
    }
    return 0 == syscall(SYS_fallocate, file, 0, at, bytes) ? 0 : errno;
}

/* In front of the system's: what core files leave out. */
static const void *left_out;
static size_t left_out_bytes;

int madvise(void *address, size_t bytes, int advice)
{
    if (MADV_DONTDUMP == advice) {
        left_out = address;
        left_out_bytes = bytes;
    }
    return (int) syscall(SYS_madvise, address, bytes, advice);
}

static bool is_left_out(const arc_region_t *region)
{
    return region->base == left_out && BYTES == left_out_bytes;
}

static arc_region_kind_t kind_of(void **state)
{
    return *(const arc_region_kind_t *) *state;
}

/* In another process: map it, see what the owner wrote, answer at the end. */
static int answer(arc_region_kind_t kind, const arc_region_key_t *key)
{
    arc_region_t region;

    if (ARC_OK != arc_region_attach(&region, kind, key)) {
        return 1;
    }
    unsigned char *bytes = (unsigned char *) region.base + ARC_REGION_HEAD_BYTES;
    const int seen = OURS == bytes[0] && 0 == bytes[1] && is_left_out(&region);
    bytes[LAST] = THEIRS;
    arc_region_release(&region);
    return !seen;
}

static void a_peer_reads_what_the_owner_writes(void **state)
{
    const arc_region_kind_t kind = kind_of(state);
    arc_region_t region;
    arc_region_key_t key;
    int status = 0;

    assert_int_equal(ARC_OK, arc_region_create(&region, kind, BYTES, &key));
    unsigned char *bytes = (unsigned char *) region.base + ARC_REGION_HEAD_BYTES;
    for (size_t i = 0; i <= LAST; ++i) {
        assert_int_equal(0, bytes[i]);
    }
    assert_true(is_left_out(&region));
    bytes[0] = OURS;
    left_out = NULL;
    const pid_t peer = fork();
    if (0 == peer) {
        _exit(answer(kind, &key));
    }
    assert_int_equal(peer, waitpid(peer, &status, 0));
    assert_int_equal(0, status);
    assert_int_equal(THEIRS, bytes[LAST]);
    arc_region_release(&region);
    arc_region_release(&region); /* harmless */
}

static void nothing_is_left_of_a_released_region(void **state)
{
    const arc_region_kind_t kind = kind_of(state);
    arc_region_t region;
    arc_region_t late;
    arc_region_key_t key;
    struct shmid_ds shared;

    assert_int_equal(ARC_OK, arc_region_create(&region, kind, BYTES, &key));
    arc_region_release(&region);
    assert_int_equal(ARC_ERR_TRANSPORT, arc_region_attach(&late, kind, &key));
    assert_null(late.base);
    if (ARC_REGION_SYSV == kind) {
        assert_int_equal(-1, shmctl(key.number, IPC_STAT, &shared));
    }
}

TEST(other_files_are_not_opened)
{
    arc_region_t region;
    const int file = memfd_create("other", MFD_CLOEXEC);
    const arc_region_key_t key = {.bytes = BYTES, .number = file, .process = getpid()};

    assert_int_equal(0, ftruncate(file, BYTES));
    assert_int_equal(ARC_ERR_TRANSPORT, arc_region_attach(&region, ARC_REGION_MEMFD, &key));
    assert_int_equal(0, close(file));
}

TEST(another_size_is_not_mapped)
{
    arc_region_t region;
    arc_region_t other;
    arc_region_key_t key;

    assert_int_equal(ARC_OK, arc_region_create(&region, ARC_REGION_MEMFD, BYTES, &key));
    key.bytes *= 2; /* whoever touched its end would get a signal */
    assert_int_equal(ARC_ERR_TRANSPORT, arc_region_attach(&other, ARC_REGION_MEMFD, &key));
    arc_region_release(&region);
}

/* Without a look at the limit the process would end by SIGXFSZ. */
TEST(a_limit_of_files_is_no_memory)
{
    arc_region_t region;
    arc_region_key_t key;
    struct rlimit limit;

    assert_int_equal(0, getrlimit(RLIMIT_FSIZE, &limit));
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = BYTES - 1;
    assert_int_equal(0, setrlimit(RLIMIT_FSIZE, &limit));
    const arc_status_t status = arc_region_create(&region, ARC_REGION_MEMFD, BYTES, &key);
    limit.rlim_cur = before;
    assert_int_equal(0, setrlimit(RLIMIT_FSIZE, &limit));
    assert_int_equal(ARC_ERR_NO_MEMORY, status);
    assert_null(region.base);
}

/* A key of another namespace leads to memory that is ours to map, but is another region. */
static void another_region_is_not_mapped(void **state)
{
    const arc_region_kind_t kind = kind_of(state);
    arc_region_t region;
    arc_region_t other;
    arc_region_key_t key;

    assert_int_equal(ARC_OK, arc_region_create(&region, kind, BYTES, &key));
    key.identity += 1;
    assert_int_equal(ARC_ERR_TRANSPORT, arc_region_attach(&other, kind, &key));
    assert_null(other.base);
    arc_region_release(&region);
}

/* A process of another container may have an empty file where the owner has its region. */
TEST(what_is_not_there_is_not_read)
{
    FILE *file = tmpfile();
    uint64_t there = OURS;
    uint64_t read = 0;

    assert_non_null(file);
    void *mapped = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fileno(file), 0);
    assert_true(MAP_FAILED != mapped);
    assert_true(arc_region_peek(&read, &there));
    assert_int_equal(OURS, read);
    assert_false(arc_region_peek(&read, mapped));
    assert_int_equal(OURS, read);
    assert_int_equal(0, ftruncate(fileno(file), BYTES));
    assert_true(arc_region_peek(&read, mapped));
    assert_int_equal(0, read);
    assert_int_equal(0, munmap(mapped, BYTES));
    assert_int_equal(0, fclose(file));
}

TEST(interruptions_only_delay_a_region)
{
    enum { LONG_BYTES = (5 << 20) + BYTES };
    arc_region_t region;
    arc_region_key_t key;
    struct stat file;

    assert_int_equal(ARC_OK, arc_region_create(&region, ARC_REGION_MEMFD, LONG_BYTES, &key));
    assert_int_equal(0, fstat(region.file, &file));
    assert_int_equal(LONG_BYTES, file.st_size);
    assert_true(file.st_blocks * S_BLKSIZE >= LONG_BYTES);
    arc_region_release(&region);
}

TEST(the_mode_of_the_program_is_not_that_of_shmat)
{
    const int before = fegetround();
    arc_region_t region;
    arc_region_key_t key;

    shmat_rounds_up = true;
    assert_int_equal(0, fesetround(FE_UPWARD));
    assert_int_equal(ARC_OK, arc_region_create(&region, ARC_REGION_SYSV, BYTES, &key));
    assert_true(rounds_up());
    assert_false(shmat_rounds_up);
    assert_int_equal(0, fesetround(before));
    arc_region_release(&region);
}

int main(void)
{
    static const arc_region_kind_t kinds[] = {ARC_REGION_SYSV, ARC_REGION_MEMFD};

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
        const char *name = ARC_REGION_SYSV == kinds[i] ? "sysv" : "memfd";
        unit_add_row(a_peer_reads_what_the_owner_writes, &kinds[i], 0, "a peer reads: %s", name);
        unit_add_row(nothing_is_left_of_a_released_region, &kinds[i], 0, "released: %s", name);
        unit_add_row(another_region_is_not_mapped, &kinds[i], 0, "another region: %s", name);
    }
    return unit_run("region");
}
