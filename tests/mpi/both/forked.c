/*
 * A rank that forks between its calls. Its children share what memory is mapped shared and have a
 * copy of the rest, and none of what they do may show: a child that ends at once, one that ends as
 * programs do and runs what libraries left behind for the end, one that stays during the calls that
 * follow and writes to its copies, another program by system(), and one that is still there when
 * its rank has finished.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <sys/wait.h>

#include "harness.h"
#include "sums.h"

enum { ROUNDS = 3, COPIED_BYTES = 1 << 20, OUTLIVES_SECONDS = 1 };

static unsigned char copied[COPIED_BYTES];

enum { ENDS_AT_ONCE, ENDS_AS_USUAL, RUNS_A_PROGRAM, KINDS };
static const char *const names[KINDS] = {
    "a child that ends at once", "a child that ends as programs do", "a child that runs a program"};

static void be_child(int kind)
{
    if (kind == ENDS_AS_USUAL) {
        exit(EXIT_SUCCESS);
    }
    if (kind == RUNS_A_PROGRAM) {
        execl("/bin/true", "true", (char *) NULL);
    }
    _exit(kind == ENDS_AT_ONCE ? EXIT_SUCCESS : EXIT_FAILURE);
}

static void reap(pid_t child)
{
    int status = 0;

    tap_check(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
                  WEXITSTATUS(status) == EXIT_SUCCESS,
              "a child ended with status %#x", (unsigned) status);
}

static void check_short_lived(int kind)
{
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm before = dup_of(MPI_COMM_WORLD);
        (void) sums_check(before, (uint64_t) round);
        const pid_t child = fork();
        if (child == 0) {
            be_child(kind);
        }
        (void) sums_check(before, (uint64_t) round + 1);
        reap(child);
        (void) sums_check(before, (uint64_t) round + 2);
        MPI_Comm after = dup_of(MPI_COMM_WORLD);
        (void) sums_check(after, (uint64_t) round);
        MPI_Comm_free(&before);
        (void) sums_check(after, (uint64_t) round + 1);
        MPI_Comm_free(&after);
    }
    tap_case("%s", names[kind]);
}

/* The child stays until its end of the pipe is closed; communicators come and go meanwhile. */
static void check_long_lived(void)
{
    int ends[2];
    MPI_Comm before = dup_of(MPI_COMM_WORLD);
    (void) sums_check(before, 1);
    if (pipe(ends) != 0) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    const pid_t child = fork();
    if (child == 0) {
        char end = 0;

        close(ends[1]);
        memset(copied, 1, COPIED_BYTES);
        _exit(read(ends[0], &end, 1) == 0 && copied[COPIED_BYTES - 1] == 1 ? EXIT_SUCCESS
                                                                           : EXIT_FAILURE);
    }
    close(ends[0]);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm during = dup_of(MPI_COMM_WORLD);
        (void) sums_check(during, (uint64_t) round);
        (void) sums_check(before, (uint64_t) round);
        MPI_Comm_free(&during);
    }
    MPI_Comm_free(&before);
    close(ends[1]);
    reap(child);
    (void) sums_check(MPI_COMM_WORLD, 1);
    for (size_t i = 0; i < COPIED_BYTES; i++) {
        tap_check(copied[i] == 0, "byte %zu was written by the child", i);
    }
    tap_case("a child that stays while communicators come and go");
}

static void check_system(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        (void) sums_check(MPI_COMM_WORLD, (uint64_t) round);
        tap_check(system("true") == 0, "system() failed");
        (void) sums_check(MPI_COMM_WORLD, (uint64_t) round + 1);
    }
    tap_case("system()");
}

/* Holds nothing that mpirun would wait for. */
static void leave_a_child(void)
{
    const pid_t child = fork();

    if (child == 0) {
        close(STDIN_FILENO);
        close(STDOUT_FILENO);
        close(STDERR_FILENO);
        sleep(OUTLIVES_SECONDS);
        _exit(EXIT_SUCCESS);
    }
    tap_check(child > 0, "fork() failed");
}

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv);
    memset(copied, 0, sizeof copied); /* its pages are there when a process forks */
    for (int kind = 0; kind < KINDS; kind++) {
        check_short_lived(kind);
    }
    check_long_lived();
    check_system();
    leave_a_child();
    (void) sums_check(MPI_COMM_WORLD, 1);
    tap_case("a child that outlives its rank");
    return tap_end();
}
