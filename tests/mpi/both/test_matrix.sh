#!/bin/sh
# The correctness matrix over ranks, algorithms and limits; matrix.c says what it
# promises. The run without our components checks the matrix itself.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup

mpi_run_without_plugin "np=3 without" 3 60 "" matrix -l 2000
mpi_run "np=1" 1 60 "" matrix -l 2000
for ranks in 2 3 4; do
    mpi_run "np=$ranks" "$ranks" 120 "" matrix
done
mpi_run "np=8" 8 180 "" matrix -l 20000

if mpi_have_plugin; then
    for algorithm in $(mpi_lowlat_algorithms node); do
        mpi_run "np=2 $algorithm" 2 120 "--mca coll_lowlat_algorithm $algorithm" matrix -f -l 20000
        mpi_run "np=7 $algorithm" 7 120 "--mca coll_lowlat_algorithm $algorithm" matrix -f -l 4000
    done
    mpi_run "np=3 NaN" 3 60 "" matrix -b
    for algorithm in $(mpi_lowlat_algorithms node); do
        mpi_run "np=2 NaN $algorithm" 2 60 "--mca coll_lowlat_algorithm $algorithm" matrix -b
    done
    # Many pieces and empty parts; fewer counts than above.  Other numbers of ranks: sim/test_lowlat.c.
    for algorithm in $(mpi_lowlat_algorithms node); do
        for ranks in 3 6; do
            mpi_for_tests mpi_run "np=$ranks $algorithm small pieces" "$ranks" 120 \
                "--mca coll_lowlat_algorithm $algorithm" matrix -f -t
        done
        mpi_for_tests mpi_run "np=17 $algorithm small pieces" 17 120 \
            "--mca coll_lowlat_algorithm $algorithm" matrix -f -t -l 100
    done
    # Declared levels, which uneven numbers of ranks leave uneven.
    while read -r ranks levels limit; do
        mpi_run "np=$ranks levels $levels" "$ranks" 120 "--mca coll_arc_levels $levels" matrix -f -l "$limit"
        mpi_for_tests mpi_run "np=$ranks levels $levels, small pieces" "$ranks" 120 \
            "--mca coll_arc_levels $levels" matrix -f -t -l "$limit"
    done <<ROWS
4 2,2 20000
6 2,3 1100
8 2,2,2 1100
7 2,4,2 1100
9 4,2 1100
13 3,2,2 100
17 4,2,2 100
ROWS
    mpi_run "np=4 NaN levels 2,2" 4 60 "--mca coll_arc_levels 2,2" matrix -b
    # Declared nodes: ranks that could share memory and do not.
    for algorithm in $(mpi_lowlat_algorithms nodes); do
        nodes="--mca coll_lowlat_algorithm $algorithm --mca coll_arc_ranks_per_node"
        mpi_run "np=4, 2 on a node, $algorithm" 4 120 "$nodes 2" matrix -l 20000
        while read -r ranks per_node; do
            mpi_run "np=$ranks, $per_node on a node, $algorithm" "$ranks" 120 "$nodes $per_node" \
                matrix -f -l 1100
        done <<ROWS
8 1
9 3
ROWS
        mpi_for_tests mpi_run "np=16, 8 on a node, levels 4,2, $algorithm" 16 120 \
            "$nodes 8 --mca coll_arc_levels 4,2" matrix -f -t -l 1100
        mpi_for_tests mpi_run "np=5, 2 on a node, $algorithm, small pieces" 5 120 "$nodes 2" \
            matrix -f -l 1100
        mpi_run "np=4, 2 on a node, NaN $algorithm" 4 60 "$nodes 2" matrix -b
        mpi_run "np=6, 2 on a node, fp16 $algorithm" 6 60 \
            "$nodes 2 --mca coll_lowlat_uint16_as fp16" sixteen -f fp16 -l 2000
    done
    # The second node is smaller, and its groups are others: all are flat.
    mpi_for_tests mpi_run "np=13, 8 on a node, levels 4,2" 13 120 \
        "--mca coll_arc_ranks_per_node 8 --mca coll_arc_levels 4,2" matrix -f -t -l 1100
    mpi_run "np=4 up to 64 bytes" 4 120 "--mca coll_lowlat_rules below:64-inf" matrix -l 20000
fi
mpi_done
