#!/bin/sh
# The hierarchical algorithm of coll_quant on declared nodes: the promises of quantized.c, and those
# of levels.c for every placement; what is said where there are no levels. Once with sums in shared memory
# of the nodes, and once with messages there, which microshards have.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup components

on="--mca coll_quant_enable 1"
nodes="$on --mca coll_arc_ranks_per_node"
messages="--mca coll_quant_microshards 1"
for shape in "4 2" "6 2" "6 3" "8 4"; do
    ranks=${shape% *} per_node=${shape#* }
    mpi_run "np=$ranks, $per_node per node" "$ranks" 120 "$nodes $per_node" levels -p "$per_node"
done
for shape in "6 3" "8 2"; do
    ranks=${shape% *} per_node=${shape#* }
    mpi_run "np=$ranks, $per_node per node, messages" "$ranks" 120 "$nodes $per_node $messages" levels -p "$per_node"
done
# 5 nodes have two chains.
mpi_run "np=10, 2 per node" 10 180 "$nodes 2" levels -p 2
mpi_run "np=10, 2 per node, messages" 10 180 "$nodes 2 $messages" levels -p 2

# Nodes whose ranks are in groups, even or not.
for shape in "8 4" "10 5"; do
    ranks=${shape% *} per_node=${shape#* }
    mpi_run "np=$ranks, $per_node per node by 2,2" "$ranks" 120 "$nodes $per_node --mca coll_arc_levels 2,2" \
        levels -p "$per_node"
done
mpi_for_tests mpi_run "np=16, 8 per node by 2,2,2" 16 180 "$nodes 8 --mca coll_arc_levels 2,2,2" \
    quantized -a hierarchical -p 8 -n 300000
# By seats, on a machine where all nine have the same.
mpi_judge "np=18, 9 per node by seats" \
    mpi_for_tests mpi_start 18 180 "$nodes 9 --mca coll_arc_verbose 10" quantized -a hierarchical -p 9 -n 300000
mpi_says "a line" "adds up on each node, in shared memory, .* a rank, levels 3,3" 1

# Many ranks.  200 on 10 nodes are right by the same command, with 200 and 20 in place of 88 and 8, in 80 s.
mpi_judge "np=88, 8 per node" mpi_start 88 180 "$nodes 8 --mca coll_arc_verbose 10 --mca coll_quant_format int4" \
    quantized -a hierarchical -p 8 -n 262144 -c 1.157e-2
mpi_says "a line" "adds up on each node, in shared memory, .* a rank, flat" 1

# Vectors that are shorter than what makes the memory grow.
for ranks in 8 4; do
    mpi_for_tests mpi_run "np=$ranks, 2 per node, short ones" $ranks 120 \
        "$nodes 2 --mca coll_quant_min_bytes 4" levels -p 2
done

# Each with another cut of the messages, some with little room for them.
mpi_run_small() {
    mpi_for_tests mpi_run "$@"
}
while read -r how ranks per_node cut; do
    # shellcheck disable=SC2086
    $how "np=$ranks, $per_node per node $cut" "$ranks" 120 "$nodes $per_node $cut" \
        quantized -a hierarchical -p "$per_node"
    # shellcheck disable=SC2086
    $how "np=$ranks, $per_node per node $cut, messages" "$ranks" 120 "$nodes $per_node $cut $messages" \
        quantized -a hierarchical -p "$per_node"
done <<'END'
mpi_run 4 2
mpi_run_small 4 2
mpi_run 6 2 --mca coll_quant_segment_bytes 16k
mpi_run_small 6 3 --mca coll_quant_segment_bytes 16k
mpi_run_small 4 2 --mca coll_quant_algorithm hierarchical --mca pml ob1 --mca btl self,tcp --mca btl_tcp_eager_limit 128 --mca btl_tcp_rndv_eager_limit 128
END

# sums_on_nodes LABEL "MCA ARGUMENTS": a line says that quantized vectors are added up so, whatever coll_lowlat does.
sums_on_nodes() {
    mpi_judge "$1" mpi_start 4 60 "$nodes 2 --mca coll_arc_verbose 10 $2" quantized -a hierarchical -p 2 -n 300000
    mpi_says "a line" "adds up on each node, in shared memory, .* a rank, flat" 1
}
sums_on_nodes "with coll_lowlat" ""
mpi_says "it is taken" "hierarchical, 2 times 2 ranks, from" 1
sums_on_nodes "no coll_lowlat" "--mca coll_lowlat_priority -1"
sums_on_nodes "coll_lowlat below tuned" "--mca coll_lowlat_priority 1"
# What else a call may have; blocking or not, between calls of coll_lowlat.
folded="$nodes 2"
always="--mca coll_arc_setup_calls 0 --mca coll_arc_explore_percent 0 --mca coll_quant_min_bytes 4"
for also in verify_every=2 types=all error_feedback=1; do
    mpi_run "np=4, ${also%=*}, shared memory" 4 120 \
        "$folded $always --mca coll_quant_${also%=*} ${also#*=}" pending -o 300 -t 0.02 -l 30000
done
for also in types=all error_feedback=1; do
    mpi_run "np=8, ${also%=*}, groups" 8 120 "$nodes 4 --mca coll_arc_levels 2,2 $always \
        --mca coll_quant_${also%=*} ${also#*=}" pending -o 100 -t 0.02 -l 30000
done
mpi_judge "np=8, the bound that is told, groups" \
    mpi_start 8 60 "$nodes 4 --mca coll_arc_levels 2,2 --mca coll_quant_collectives all \
    --mca coll_quant_format bf16 --mca coll_arc_verbose 10" told
mpi_says "a line" "adds up on each node, in shared memory, .* a rank, levels 2,2" 1
# What messages on the node remain for.
for also in target_rel=1e-2 minishards=4 microshards=4; do
    mpi_run "np=4, ${also%=*}, messages on the nodes" 4 120 \
        "$folded $always --mca coll_quant_${also%=*} ${also#*=}" pending -o 300 -t 0.02 -l 30000
done
mpi_start 4 60 "$folded $always --mca coll_quant_block 4096 --mca coll_arc_verbose 10" levels -p 2
cp "$mpi_scratch/err" "$mpi_scratch/said" # its errors are those of shorter blocks
mpi_label="blocks that no chunk has room for"
mpi_says "no line" "adds up on each node, in shared memory" 0
mpi_run "np=4, the bound that is told, shared memory" 4 60 \
    "$nodes 2 --mca coll_quant_collectives all --mca coll_quant_format bf16" told
mpi_for_tests mpi_run "np=6, other calls in little memory" 6 120 "$nodes 3 $always" \
    pending -o 300 -t 0.02 -l 100000
# With a target it is taken as long as its error allows it.
mpi_run "np=4, format for a target" 4 60 "$nodes 2 --mca coll_quant_target_nmse 1e-4" \
    quantized -a hierarchical -p 2 -n 1048576

# fallback RANKS NODES LEAST MOST "MCA ARGUMENTS": one line says what is used where there are no levels.
fallback() {
    mpi_judge "$2 nodes of $3 to $4 ranks" \
        mpi_start "$1" 60 "$5 --mca coll_quant_algorithm hierarchical" quantized -a full_loop -n 300000
    mpi_says "one line says what is used instead" \
        "hierarchical needs several nodes of equally many ranks, at least 2; here nodes $2, ranks on a node $3 to $4: full_loop is used instead" 1
}
fallback 4 1 4 4 "$on"
fallback 3 2 1 2 "$nodes 2"
fallback 2 2 1 1 "$nodes 1"
mpi_done
