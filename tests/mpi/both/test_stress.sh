#!/bin/sh
# Three to twelve thousand calls that change from one to the next; stress.c says how.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup

for row in "2 8000" "3 8000" "4 6000" "5 5000" "8 3000"; do
    mpi_run "np=${row% *}" "${row% *}" 120 "" stress -s "${row% *}" -n "${row#* }"
done
if mpi_have_plugin; then
    # Small pieces: no more than three fit into the memory, so waiting for room is the rule.  Most calls
    # where most ranks can drift apart.
    for row in "2 8000" "3 8000" "4 12000"; do
        mpi_for_tests mpi_run "np=${row% *} small pieces" "${row% *}" 120 "" \
            stress -s 24 -n "${row#* }" -x 12
    done
    for staging in ordinary prefetching streaming; do
        mpi_for_tests mpi_run "np=2 small pieces, $staging" 2 120 \
            "--mca coll_lowlat_staging $staging" stress -s 27 -n 8000 -x 14
    done
    for algorithm in $(mpi_lowlat_algorithms node); do
        mpi_for_tests mpi_run "np=5 $algorithm in tight memory" 5 120 \
            "--mca coll_lowlat_algorithm $algorithm" stress -s 25 -n 8000 -x 14
    done
    for algorithm in $(mpi_lowlat_algorithms nodes); do
        nodes="--mca coll_arc_ranks_per_node 2 --mca coll_lowlat_algorithm $algorithm"
        mpi_run "np=4, 2 on a node, $algorithm" 4 120 "$nodes" stress -s 24
        mpi_run "np=4, 2 on a node, $algorithm, many small" 4 120 "$nodes" stress -q -n 8000 -s 25
        mpi_for_tests mpi_run "np=5, 2 on a node, $algorithm, small chunks" 5 120 "$nodes" stress -s 26 -n 3000
    done
    # Each rank a node, where halving has longer chunks over any pml but ob1.
    single="--mca coll_arc_ranks_per_node 1 --mca coll_lowlat_algorithm halving"
    ucx="--mca pml ucx --mca opal_common_ucx_tls any --mca opal_common_ucx_devices any"
    mpi_for_tests mpi_run "np=5 single nodes, small chunks" 5 120 "$single" stress -s 28 -n 3000
    mpi_for_tests mpi_run "np=3 single nodes, small chunks, time limit" 3 120 "$single --mca coll_arc_timeout 100" stress -s 28
    if ompi_info | grep -q 'MCA pml: ucx'; then
        mpi_for_tests mpi_run "np=5 single nodes, long chunks" 5 120 "$single $ucx" stress -s 28 -n 3000
        mpi_run "np=3 single nodes over pml ucx" 3 120 "$single $ucx" stress -s 29 -n 3000
    fi
    mpi_for_tests mpi_run "np=3 small blocks" 3 120 "--mca coll_lowlat_rules below:1m-inf" stress -s 22 -n 3000
    mpi_run "np=4 up to 1 KiB" 4 120 "--mca coll_lowlat_rules below:1k-inf" stress -s 23 -n 3000
fi
mpi_done
