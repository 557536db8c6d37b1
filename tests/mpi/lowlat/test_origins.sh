#!/bin/sh
# Communicators of every origin and many of them (origins.c), of more than eight shapes, and
# where the system has few System V segments to give.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_alone "$@"
mpi_setup

# Set up at once, and in the middle of the program's calls.
late="--mca coll_arc_setup_calls 5"
per_node="--mca coll_arc_ranks_per_node"

check_short_ones() {
    mpi_judge "np=3" mpi_start 3 60 "--mca coll_arc_verbose 2" origins
    ! mpi_have_plugin || mpi_serves 1
    for ranks in 2 5; do
        mpi_run "np=$ranks" "$ranks" 60 "" origins
    done
    mpi_run "np=4, late" 4 60 "$late" origins
    mpi_run "np=4, quant" 4 60 "--mca coll_quant_enable 1" origins
    for count in 1 2; do
        mpi_run "np=4, $count on a node" 4 60 "$per_node $count" origins
    done
    mpi_run "np=5, levels" 5 60 "--mca coll_arc_levels 2,2" origins nested unordered
    for algorithm in $(mpi_lowlat_algorithms node); do
        mpi_run "np=5, $algorithm" 5 60 "--mca coll_lowlat_algorithm $algorithm" origins nested unordered
    done
    for algorithm in $(mpi_lowlat_algorithms nodes); do
        mpi_run "np=5, 2 on a node, $algorithm" 5 60 "$per_node 2 --mca coll_lowlat_algorithm $algorithm" \
            origins nested unordered
    done
}

check_many() {
    mpi_run "np=2" 2 60 "" origins unfreed session
    mpi_run "np=4, late" 4 60 "$late" origins -n 300 unfreed session
    mpi_run "np=3, 2 on a node" 3 60 "$per_node 2" origins -n 60 unfreed session
    mpi_run "np=2" 2 60 "" origins -s 10 dups
}

check_shapes() {
    mpi_run "shapes np=12 on one node" 12 60 "" origins shapes
    mpi_run "shapes np=12, late" 12 60 "--mca coll_arc_setup_calls 1" origins shapes
    mpi_run "shapes np=12, 2 on a node" 12 120 "$per_node 2" origins shapes
}

mpi_note_shared_memory
mpi_beside check_short_ones
mpi_beside check_many
mpi_beside check_shapes
mpi_join

# Fewer segments than communicators, and none at all, in this test's own namespace.
shmmni=$(cat /proc/sys/kernel/shmmni)
for few in 3 0; do
    label="$few System V segments for the machine"
    if [ "${ARC_TEST_ALONE-}" = yes ] && (echo $few >/proc/sys/kernel/shmmni) 2>/dev/null; then
        mpi_judge "$label, np=2" mpi_start 2 60 "--mca coll_arc_verbose 2" origins -n 40 nested unordered unfreed
        # Memory with a name in /dev/shm is there.
        ! mpi_have_plugin || mpi_serves 1
        mpi_run "$label, np=4, 2 on a node" 4 60 "$per_node 2" origins -n 20 nested unordered unfreed
        echo "$shmmni" >/proc/sys/kernel/shmmni
    else
        mpi_skip "$label" "no right to limit System V memory"
    fi
done
mpi_nothing_left
mpi_result $? "nothing of these jobs is left in shared memory"
mpi_done
