#!/bin/bash
# Builds ARC in all the ways that are supported and runs all tests:
#
#   gcc              warnings are errors: all tests, side by side those without mpirun and RDMA's machine, and two
#                    and two, with waits that yield, those under mpirun that do not measure time
#   sanitizers       AddressSanitizer and UndefinedBehaviorSanitizer: the pure code's tests, of long tables
#                    an eighth of the rows, and a few runs of the components under mpirun; not the tests of the source
#                    and the tools, which are the same whatever it is compiled with, nor the longest sweeps
#   make distcheck   beside that, with clang, warnings are errors: the tarball builds, tests its pure code, installs,
#                    uninstalls and cleans; its simulations are compiled, but are programs that the
#                    gcc part has run
#
# All in build/check, which is made anew each time.
#
# check.sh --quick, before each commit, builds only what has changed, in build/quick, and runs the tests of the
# source but that of configure, the unit tests, and a few runs under mpirun. Simulations take longer.
#
# Installs what is missing (Debian packages) and ends with one line
#
#   N passed, N failed, N skipped
#
# Exit status 0 if nothing failed.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2016 # variables of make
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build/check
jobs=$(nproc)
passed=0
failed=0
skipped=0
. "$root/tests/install_packages.sh"
# Configure, libtool and the drivers of tests take less time where this is a small shell.
export CONFIG_SHELL=/bin/sh

# step NAME COMMAND...: one point; on failure show the end of what it said.
step() {
    local name=$1 log
    shift
    log=$build/step.log
    echo "== $name"
    if "$@" >"$log" 2>&1; then
        passed=$((passed + 1))
        return 0
    fi
    failed=$((failed + 1))
    tail -n 60 "$log"
    echo "FAILED: $name"
    return 1
}

# count DIRECTORY: add the points of a `make check`, and show those that failed.
count() {
    local summary=$1/tests/test-suite.log word
    for word in PASS FAIL ERROR XPASS; do
        case $word in
        PASS) passed=$((passed + $(points "$1" $word))) ;;
        *) failed=$((failed + $(points "$1" $word))) ;;
        esac
    done
    skipped=$((skipped + $(points "$1" SKIP)))
    grep -hE '^(FAIL|ERROR|SKIP): ' "$summary"
}

points() {
    sed -n "s/^# $2: *//p" "$1/tests/test-suite.log"
}

# check DIRECTORY ARGUMENTS OF make ...: the groups of TESTS are those of tests/Makefile.am
check() {
    rm -f "$1/tests/test-suite.log"
    make -C "$@" check >"$1/check.log" 2>&1
    if [ ! -s "$1/tests/test-suite.log" ]; then
        tail -n 40 "$1/check.log"
        echo "FAILED: make check did not run"
        failed=$((failed + 1))
        return
    fi
    count "$1"
}

# configured DIRECTORY ARGUMENTS...: a clean, configured and compiled build
configured() {
    local directory=$1
    shift
    rm -rf "$directory"
    mkdir -p "$directory"
    (cd "$directory" && "$root/configure" --enable-werror --disable-dependency-tracking "$@" && make -j"$jobs" &&
        make -j"$jobs" check TESTS=)
}

# ended PROCESS LOG
ended() {
    wait "$1" || { cat "$2" && false; }
}

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
    exit
}

# made DIRECTORY: what has changed since the last time is built again
made() {
    mkdir -p "$1"
    (cd "$1" && { [ -e Makefile ] || "$root/configure" --enable-werror; } && make -j"$jobs" &&
        make -j"$jobs" check TESTS=)
}

# quick: all that is worth its time before each commit
quick() {
    mkdir -p "$build"
    [ -e "$root/configure" ] || step "autoreconf" autoreconf -fi || finish
    step "make" made "$build" || finish
    echo "== make check"
    check "$build" -j"$jobs" TESTS='$(filter-out tools/test_configure.sh,$(source_tests)) $(unit_tests)'
    check "$build" TESTS=mpi/both/test_few.sh
    finish
}

cd "$root" || exit 1
case ${1-} in
'') ;;
--quick) build=$root/build/quick ;;
*)
    echo "usage: check.sh [--quick]" >&2
    exit 2
    ;;
esac
install_packages $check_packages || { failed=1 && finish; }
[ "${1-}" != --quick ] || quick
rm -rf "$build"
mkdir -p "$build"
step "autoreconf" autoreconf -fi || finish
# -g1 names lines; with -g gcc follows variables through the vector kernels, which takes half of the time of these.
step "configure and make" configured "$build/gcc" CFLAGS="-O2 -g1" || finish
echo "== make check"
check "$build/gcc" -j"$jobs" TESTS='$(tool_tests) $(source_tests) $(sim_tests) $(unit_tests)'
OMPI_MCA_mpi_yield_when_idle=1 check "$build/gcc" -j2 TESTS='$(mpi_tests_beside)'
check "$build/gcc" TESTS='$(mpi_tests_alone)'
# Beside the sanitizers, as much of it uses one core.  Nobody wants the best compression here.
XZ_OPT=-1 make -C "$build/gcc" -j"$jobs" distcheck \
    DISTCHECK_CONFIGURE_FLAGS="--enable-werror --disable-dependency-tracking CC=clang CFLAGS=-O1" \
    TESTS='$(unit_tests)' >"$build/distcheck.log" 2>&1 &
distcheck=$!
trap 'kill $(jobs -pr) 2>/dev/null' EXIT
# -fexpensive-optimizations inserts vzeroupper, without which some tests take twice as long.
if step "sanitizers" configured "$build/sanitizers" --enable-sanitizers CFLAGS="-O1 -fexpensive-optimizations -g1"; then
    ARC_TEST_SHARE=8 check "$build/sanitizers" -j"$jobs" \
        TESTS='$(mpi_tests_alone) $(sim_tests) $(unit_tests) fuzz/test_fuzz.sh'
fi
step "make distcheck" ended "$distcheck" "$build/distcheck.log"
finish
