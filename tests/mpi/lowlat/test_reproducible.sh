#!/bin/sh
# What coll_lowlat promises of bits: they depend on the ranks and their nodes only, and not on the length of
# the vector, the place in it, how it is cut, the algorithm, the transport or the run (reproducible.c). Runs
# with algorithms that promise less show that the program would notice.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup components

# On one node: rank order.
for ranks in 2 3 4; do
    mpi_run "np=$ranks" "$ranks" 60 "--mca coll_lowlat_uint16_as bf16" reproducible -h bf16 -l 300007
done
on="--mca coll_lowlat_reproducible 1 --mca coll_lowlat_uint16_as bf16"
for ranks in 2 4; do
    mpi_run "np=$ranks reproducible" "$ranks" 60 "$on" reproducible -h bf16
done
for ranks in 5 8; do
    mpi_run "np=$ranks reproducible" "$ranks" 60 "$on" reproducible -h bf16 -l 300007
done
mpi_for_tests mpi_run "np=4 small blocks and chunks" 4 60 "$on" reproducible -h bf16 -l 70001
mpi_judge "np=4 no rule passes lengths down" \
    mpi_start 4 60 "$on --mca coll_lowlat_rules below:1k-inf,oneshot:1k-2k" reproducible -h bf16 -l 70001
mpi_says "said once" "coll_lowlat_rules, line 1, character .*, against coll_lowlat_reproducible, in \"below:1k-inf\"" 1
for algorithm in oneshot twoshot; do
    mpi_run "np=5 $algorithm" 5 60 "--mca coll_lowlat_uint16_as bf16 --mca coll_lowlat_algorithm $algorithm" \
        reproducible -h bf16 -l 70001
done
for algorithm in butterfly half_butterfly; do
    mpi_judge "np=4 $algorithm is not used" \
        mpi_start 4 60 "$on --mca coll_lowlat_algorithm $algorithm" reproducible -h bf16 -l 300007
    mpi_says "said once" "coll_lowlat_algorithm $algorithm is ignored" 1
    for ranks in 4 5; do
        mpi_run "np=$ranks $algorithm" "$ranks" 60 "--mca coll_lowlat_algorithm $algorithm" \
            reproducible -d -l 20011
    done
done

# By levels on one node: the sums of the groups, from the left, as those of nodes.
while read -r ranks levels groups; do
    mpi_run "levels $levels" "$ranks" 60 "--mca coll_arc_levels $levels --mca coll_lowlat_reproducible 1" \
        reproducible -g "$groups" -l 70001
done <<ROWS
4 2,2 2,2
6 2,3 2,2,2
7 4,2 3,4
8 4,2 4,4
8 2,2,2 2,2,2,2
ROWS

# Nodes with levels: the groups of each node are added like nodes.
for algorithm in doubling halving direct; do
    mpi_run "two nodes of two groups, $algorithm" 8 60 "--mca coll_arc_ranks_per_node 4 \
        --mca coll_arc_levels 2,2 --mca coll_lowlat_algorithm $algorithm" reproducible -g 2,2,2,2 -l 70001
done

mpi_judge "levels 4,x" mpi_start 4 60 "--mca coll_arc_levels 4,x" reproducible -l 2001
mpi_says "said once" 'coll_arc_levels "4,x" counts as auto: it is auto, flat, or numbers' 1
# By seats, on a machine where all nine have the same: the ranks are grouped evenly.
mpi_judge "levels by seats" mpi_for_tests mpi_start 9 60 "--mca coll_arc_verbose 10 --mca coll_lowlat_reproducible 1" \
    reproducible -g 3,3,3 -l 2001
mpi_says "three groups of three" ", levels 3,3, " 1

# On several nodes: one tree, whatever carries the sums along it.
# 16-bit floats travel as floats, and as they are with $rounding, which rounds every partial sum.
rounding="--mca coll_lowlat_nodes_16bit 1"
# declared RANKS PER_NODE NODES ALGORITHMS: these ways to exchange over these nodes, and all lengths, none of which is
# passed down.
declared() {
    for transport in messages puts; do
        nodes="--mca coll_arc_ranks_per_node $2 --mca coll_lowlat_nodes_transport $transport \
            --mca coll_lowlat_uint16_as bf16"
        mpi_run "nodes of $3 $transport reproducible" "$1" 60 "$nodes --mca coll_lowlat_reproducible 1" \
            reproducible -h bf16 -g "$3" -l 300007
        mpi_run "nodes of $3 $transport reproducible 16 bits" "$1" 60 \
            "$nodes $rounding --mca coll_lowlat_reproducible 1" reproducible -h bf16 -r -g "$3" -l 300007
        for algorithm in $4; do
            mpi_run "nodes of $3 $transport $algorithm" "$1" 60 \
                "$nodes --mca coll_lowlat_algorithm $algorithm" reproducible -h bf16 -g "$3" -l 70001
            mpi_run "nodes of $3 $transport $algorithm 16 bits" "$1" 60 \
                "$nodes $rounding --mca coll_lowlat_algorithm $algorithm" \
                reproducible -h bf16 -r -g "$3" -l 70001
        done
    done
    # Its bits are others, and alike on all ranks.
    [ -z "$4" ] || mpi_run "nodes of $3 ring" "$1" 60 "--mca coll_arc_ranks_per_node $2 --mca coll_lowlat_algorithm ring" \
        reproducible -d -g "$3" -l 20011
    mpi_for_tests mpi_run "nodes of $3 small chunks" "$1" 60 \
        "--mca coll_arc_ranks_per_node $2 --mca coll_lowlat_reproducible 1 --mca coll_lowlat_uint16_as bf16" \
        reproducible -h bf16 -g "$3" -l 70001
}
trees=$(mpi_lowlat_algorithms nodes | grep -vx ring)
declared 4 2 2,2 ""
declared 3 1 1,1,1 ""
declared 5 2 2,2,1 "$trees"
declared 5 1 1,1,1,1,1 "$trees"
mpi_run "nodes of 1,1,1 long" 3 60 "--mca coll_arc_ranks_per_node 1 --mca coll_lowlat_reproducible 1" \
    reproducible -g 1,1,1
mpi_run "nodes of 1,1,1 ring" 3 60 "--mca coll_arc_ranks_per_node 1 --mca coll_lowlat_algorithm ring" \
    reproducible -g 1,1,1 -d -l 20011
mpi_judge "nodes of 1,1,1 ring is not used" \
    mpi_start 3 60 "--mca coll_arc_ranks_per_node 1 --mca coll_lowlat_algorithm ring \
    --mca coll_lowlat_reproducible 1" reproducible -g 1,1,1 -l 20011
mpi_says "said once" "coll_lowlat_algorithm ring is ignored" 1

# fp16, of the program and of Open MPI (-n), where it has a type for it; and that rounding would be noticed.
nodes="--mca coll_arc_ranks_per_node 2 --mca coll_lowlat_reproducible 1"
fp16="--mca coll_lowlat_uint16_as fp16"
check_fp16() {
    mpi_run "np=3 fp16 $2" 3 60 "--mca coll_lowlat_reproducible 1 $1" reproducible -h fp16 $2 -l 20011
    mpi_run "nodes of 2,2,1 fp16 $2" 5 60 "$nodes $1" reproducible -g 2,2,1 -h fp16 $2 -l 20011
    mpi_run "nodes of 2,2,1 fp16 $2 16 bits" 5 60 "$nodes $1 $rounding" \
        reproducible -g 2,2,1 -h fp16 $2 -r -l 20011
}
check_fp16 "$fp16" ""
check_fp16 "" -n
mpi_start 5 60 "$nodes $fp16 $rounding" reproducible -g 2,2,1 -h fp16 -l 20011
grep -q "^not ok .*16-bit float" "$mpi_scratch/out"
mpi_result $? "nodes of 2,2,1: rounded partial sums are noticed"
mpi_done
