#!/bin/sh
# Operations of the program on awkward types (user_types.c): served by coll_lowlat up to a block,
# passed down above, right in both ways; and extents that are negative, or huge (far_apart.c).
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup

mpi_run_without_plugin "np=4 without" 4 60 "" user_types
if ! mpi_have_plugin; then
    mpi_done
    exit
fi

# check_served LABEL RANKS "MCA ARGUMENTS" BYTES [ALGORITHM]: all of it is served.
check_served() {
    mpi_judge "$1" mpi_start "$2" 60 "--mca coll_arc_verbose 2 $3" user_types -s -b "$4"
    mpi_says "nothing is passed down" 'passed  ' 0
    mpi_reductions=$(sed -n 's/^# reductions: //p' "$mpi_scratch/out")
    # Open MPI may have calls of its own.
    awk -v least="$mpi_reductions" -v algorithm="${5-oneshot}" '
        /served / && $2 == algorithm { calls = $3 }
        END { exit calls < least }' "$mpi_scratch/said"
    mpi_result $? "$1: $mpi_reductions reductions are served by ${5-oneshot}"
}

for ranks in 2 4 5; do
    check_served "np=$ranks up to 32 KiB" "$ranks" "" 32768
done
check_served "np=3 butterfly" 3 "--mca coll_lowlat_algorithm butterfly" 32768
mpi_for_tests check_served "np=4 small blocks" 4 "" 256
for ranks in 2 3; do
    mpi_judge "np=$ranks any length" mpi_start "$ranks" 60 "--mca coll_arc_verbose 2" user_types
    mpi_serves 1
    mpi_says "some are passed down" 'passed  no algorithm here is for messages.* [1-9][0-9]* ' 1
done
# The block does not fit into the memory that there is.
mpi_judge "np=3 no memory to grow" mpi_start 3 60 "--mca coll_arc_verbose 2 --mca coll_arc_max_memory 300k" user_types
mpi_says "some are passed down" 'passed  no algorithm here is for messages.* [1-9][0-9]* ' 1
for ranks in 2 3 5; do
    mpi_run "np=$ranks negative extents" "$ranks" 60 "" user_types -x -b 8000
    mpi_run "np=$ranks far apart" "$ranks" 60 "" far_apart
done
for algorithm in $(mpi_lowlat_algorithms nodes); do
    mpi_run "np=5, 2 on a node, $algorithm" 5 60 \
        "--mca coll_arc_ranks_per_node 2 --mca coll_lowlat_algorithm $algorithm" user_types
done
for per_node in 1 2; do
    check_served "np=4, $per_node on a node, up to 16 KiB" 4 \
        "--mca coll_arc_ranks_per_node $per_node --mca coll_lowlat_algorithm doubling" 16384 doubling
done
# Chosen: Open MPI's own algorithms, which a trial may prefer, fail for negative extents.
mpi_run "np=3 negative extents between nodes" 3 60 \
    "--mca coll_arc_ranks_per_node 1 --mca coll_lowlat_algorithm doubling" user_types -x -b 8000
mpi_done
