#!/bin/sh
# How ranks stage: what is asked for is done and said; sums are right whatever it is, while ranks
# look all the time, and staging is tried once for the same processes.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup components

says="--mca coll_arc_verbose 10"
ready="coll_lowlat: communicator 0 .*kernels, "
# check LABEL RANKS ARGUMENTS REGULAR_EXPRESSION TIMES
check() {
    mpi_judge "$1" mpi_start "$2" 60 "$says $3" agree -c 5
    mpi_serves 1
    mpi_says "says so" "$4" "$5"
}

check "ordinary" 2 "--mca coll_lowlat_staging ordinary" "${ready}ordinary stores" 1
check "prefetching" 2 "--mca coll_lowlat_staging prefetching" "${ready}prefetching" 1
check "streaming" 2 "--mca coll_lowlat_staging streaming" \
    "oneshot:0-8m,.*, streaming\$" 6
check "a way that is asked for is not tried" 2 "--mca coll_lowlat_staging streaming" "staging tried" 0
# Open MPI counts cores, not hardware threads: two ranks on one core share it.
cores=$(lscpu -p=core 2>/dev/null | grep -v '^#' | sort -u | wc -l)
if [ "$cores" -ge 2 ] && [ "$(nproc)" -ge 2 ]; then
    # Six communicators of the same processes, and too few calls for a look at the distance.
    check "auto, once for all" 2 "" "staging tried" 1
    mpi_for_tests check "auto, looking all the time" 2 "" "MPI_Allreduce calls of rank 0" 1
    # A look after every other call, and now and then another trial of staging.
    mpi_for_tests mpi_run "stress, looking all the time" 2 120 "" stress -s 28
    # check.sh runs the other scripts of these with waits that yield: cores then count as shared.
    mpi_run "stress" 2 120 "" stress -s 2
    mpi_run "matrix" 2 120 "" matrix -l 20000
    mpi_run "reproducible" 2 60 "--mca coll_lowlat_reproducible 1" reproducible
    mpi_run "user types" 2 60 "" user_types
    mpi_run "threads" 2 120 "" threads
else
    mpi_skip "auto" "needs two cores"
fi
# The trial is one of two ranks each; what it waits for is reported, too.
mpi_start 4 60 "$says --host localhost:16 --bind-to none --mca coll_arc_levels 2,2 \
    --mca coll_arc_report_file $mpi_scratch/report" roomy -c 0 -l 1000
if grep -q "processors shared" "$mpi_scratch/err"; then
    mpi_skip "by levels" "ranks have waited for processors too long to count as having their own"
else
    mpi_judge "by levels"
    mpi_says "tried" "staging tried" 1
    mpi_says "so they go" "levels 2,2" 1
fi
check "cores are shared" $((2 * $(nproc) + 1)) "" "staging tried" 0
mpi_done
