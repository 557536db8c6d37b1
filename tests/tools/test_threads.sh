#!/bin/sh
# Threads that start and poll, as ThreadSanitizer sees them: queues and fibers.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "${top_srcdir:-../..}/tests/lib/tap.sh"
top=${top_srcdir:-../..}
core=$top/common/core

# build PROGRAM ARGUMENT...
build() {
    program=$1
    shift
    ${CC:-cc} -O1 -g -pthread -fsanitize=thread -I"${top_builddir:-../..}" -I"$core" -I"$top/tests/lib" "$@" \
        -o "$scratch/$program" -lcmocka -lm 2>>"$scratch/built"
}

# run PROGRAM: it expects memory at usual addresses
run() {
    TSAN_OPTIONS="exitcode=66 ${TSAN_OPTIONS-}" setarch -R "$scratch/$1" >"$scratch/out" 2>&1
}

cat >"$scratch/race.c" <<'END'
#include <pthread.h>
static int shared;
static void *add(void *unused)
{
    ++shared;
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, add, 0);
    ++shared;
    pthread_join(thread, 0);
    return 0;
}
END
if ! build race "$scratch/race.c"; then
    skip_all "${CC:-cc} has no ThreadSanitizer"
fi
! run race && grep -q 'data race' "$scratch/out"
result $? "a data race is noticed"
for test in queues fiber; do
    : >"$scratch/out"
    build $test "-Wl,--wrap=$([ $test = queues ] && echo arc_fiber_new)" \
        "$top/tests/unit/test_$test.c" "$core/queue.c" "$core/fiber.c" "$core/wait.c" \
        "$top/tests/lib/testlib.c" && run $test
    result $? "test_$test: no data race"
    sed 's/^/# /' "$scratch/out" | grep -v '# \[' | head -40
done
sed 's/^/# /' "$scratch/built"
tap_done
