#!/bin/sh
# Threads that start and poll, as ThreadSanitizer sees them: queues and fibers.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
top=${top_srcdir:-../..}
core=$top/common/core
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
count=0

# result STATUS TEXT
result() {
    count=$((count + 1))
    if [ "$1" -eq 0 ]; then echo "ok $count - $2"; else echo "not ok $count - $2"; fi
}

# build PROGRAM ARGUMENT...
build() {
    program=$1
    shift
    ${CC:-cc} -O1 -g -pthread -fsanitize=thread -I"${top_builddir:-../..}" -I"$core" -I"$top/tests/lib" "$@" \
        -o "$work/$program" -lcmocka -lm 2>>"$work/built"
}

# run PROGRAM: it expects memory at usual addresses
run() {
    TSAN_OPTIONS="exitcode=66 ${TSAN_OPTIONS-}" setarch -R "$work/$1" >"$work/out" 2>&1
}

cat >"$work/race.c" <<'END'
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
if ! build race "$work/race.c"; then
    echo "1..0 # SKIP ${CC:-cc} has no ThreadSanitizer"
    exit 0
fi
! run race && grep -q 'data race' "$work/out"
result $? "a data race is noticed"
for test in queues fiber; do
    : >"$work/out"
    build $test "-Wl,--wrap=$([ $test = queues ] && echo arc_fiber_new)" \
        "$top/tests/unit/test_$test.c" "$core/queue.c" "$core/fiber.c" "$core/wait.c" \
        "$top/tests/lib/testlib.c" && run $test
    result $? "test_$test: no data race"
    sed 's/^/# /' "$work/out" | grep -v '# \[' | head -40
done
sed 's/^/# /' "$work/built"
echo "1..$count"
