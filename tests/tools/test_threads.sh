#!/bin/sh
# Threads that start and poll, as ThreadSanitizer sees them: queues and fibers. Each acquire and each release
# of the queues is needed: where it is relaxed, there is a data race.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "${top_srcdir:-../..}/tests/lib/tap.sh"
top=${top_srcdir:-../..}
core=$top/common/core

# build PROGRAM ARGUMENT...
build() {
    program=$1
    shift
    ${CC:-cc} -O1 -g -pthread -fsanitize=thread -I"${top_builddir:-../..}" -I"$scratch" -I"$core" \
        -I"$top/tests/lib" "$@" \
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

# check NAME: the unit test, with the queues that lie in $scratch
check() {
    : >"$scratch/out"
    build "$1" "-Wl,--wrap=$([ "$1" = queues ] && echo arc_fiber_new)" \
        "$top/tests/unit/test_$1.c" "$scratch/queue.c" "$core/fiber.c" "$core/wait.c" \
        "$top/tests/lib/testlib.c" "$top/tests/lib/unit.c" "$top/tests/lib/unit_main.c" && run "$1"
}

cp "$core/queue.c" "$core/queue.h" "$scratch"
for test in queues fiber; do
    check $test
    result $? "test_$test: no data race"
    sed 's/^/# /' "$scratch/out" | grep -v '# \[' | head -40
done
for file in queue.c queue.h; do
    for line in $(grep -nE '__ATOMIC_(ACQUIRE|RELEASE)' "$core/$file" | cut -d: -f1); do
        sed -E "$line s/__ATOMIC_(ACQUIRE|RELEASE)/__ATOMIC_RELAXED/" "$core/$file" >"$scratch/$file"
        ! check queues && grep -q 'data race' "$scratch/out"
        result $? "$file:$line relaxed: a data race"
        cp "$core/$file" "$scratch"
    done
done
sed 's/^/# /' "$scratch/built"
tap_done
