/*
 * Shared memory of a job is closed to other users, also to those of the same group: each segment
 * that a rank has mapped is offered to a child process with another user number, which must fail to
 * attach it.
 *
 *   -s TEXT   there must be a mapping with TEXT in its name
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE /* setresuid */
#include "config.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "harness.h"

enum {
    NOBODY = 65534,
    FOR_OTHERS = 077, /* bits of a mode */
    ELEMS = 100000,
    LINE_BYTES = 4096,
    REFUSED = 0,
    GRANTED = 1,
};

/* Can another user of this group attach the segment, or open the file? */
static bool other_user_gets(int segment, const char *path)
{
    const pid_t child = fork();

    if (child == 0) {
        if (setgroups(0, NULL) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0) {
            _exit(GRANTED);
        }
        const bool got = path != NULL ? open(path, O_RDWR) >= 0 || open(path, O_RDONLY) >= 0
                                      : shmat(segment, NULL, SHM_RDONLY) != (void *) -1 ||
                                            shmat(segment, NULL, 0) != (void *) -1;
        _exit(got ? GRANTED : REFUSED);
    }
    int status = 0;
    return child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
           WEXITSTATUS(status) != REFUSED;
}

static void check_segment(int segment)
{
    struct shmid_ds state;

    if (tap_check(shmctl(segment, IPC_STAT, &state) == 0, "segment %d cannot be looked at",
                  segment)) {
        tap_check((state.shm_perm.mode & FOR_OTHERS) == 0, "segment %d has mode %o", segment,
                  (unsigned) state.shm_perm.mode);
    }
    if (geteuid() == 0) {
        tap_check(!other_user_gets(segment, NULL), "another user attaches segment %d", segment);
    }
}

static void check_file(const char *path)
{
    struct stat state;

    if (stat(path, &state) != 0) {
        return; /* it has no name any more */
    }
    tap_check((state.st_mode & FOR_OTHERS) == 0, "%s has mode %o", path, (unsigned) state.st_mode);
    if (geteuid() == 0) {
        tap_check(!other_user_gets(0, path), "another user opens %s", path);
    }
}

/* The files without a name that this process shares by its number and theirs. */
static void check_memfds(void)
{
    enum { MOST_FILES = 256 };
    char path[LINE_BYTES];
    struct stat state;

    for (int file = 0; file < MOST_FILES; ++file) {
        char target[LINE_BYTES] = "";
        (void) snprintf(path, sizeof path, "/proc/%d/fd/%d", (int) getpid(), file);
        if (readlink(path, target, sizeof target - 1) > 0 &&
            strncmp(target, "/memfd:arc ", strlen("/memfd:arc ")) == 0) {
            tap_check(fstat(file, &state) == 0 && (state.st_mode & FOR_OTHERS) == 0,
                      "%s is open to others", path);
            if (geteuid() == 0) {
                tap_check(!other_user_gets(0, path), "another user opens %s", path);
            }
        }
    }
}

/* All that is shared and mapped; true if a name has `wanted` in it. */
static bool check_mappings(const char *wanted)
{
    char line[LINE_BYTES];
    bool found = wanted[0] == '\0';
    FILE *maps = fopen("/proc/self/maps", "r");

    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        char name[LINE_BYTES] = "";
        char access[8] = "";
        unsigned long inode = 0;

        (void) sscanf(line, "%*s %7s %*s %*s %lu %4095s", access, &inode, name);
        if (strchr(access, 's') == NULL) {
            continue;
        }
        found = found || strstr(name, wanted) != NULL;
        if (strncmp(name, "/SYSV", 5) == 0) {
            check_segment((int) inode); /* which the kernel promises */
        } else if (strncmp(name, "/dev/shm/", 9) == 0) {
            check_file(name);
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
    check_memfds();
    return found;
}

int main(int argc, char **argv)
{
    const char *wanted = "";
    static float sum[ELEMS];

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('s', wanted));
    for (int count = 1; count <= ELEMS; count *= 10) {
        MPI_Allreduce(MPI_IN_PLACE, sum, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }
    tap_check(check_mappings(wanted), "there is no mapping with %s in its name", wanted);
    tap_case("shared memory is closed to other users");
    return tap_end();
}
