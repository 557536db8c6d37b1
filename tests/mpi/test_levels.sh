#!/bin/sh
# The hierarchical algorithm of coll_quant on declared nodes: the promises of quantized.c, and those
# of levels.c for every placement; what is said where there are no levels.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "${srcdir:-$(dirname "$0")}/mpi_run.sh"
mpi_setup
mpi_have_plugin || mpi_skip_all "needs the components"

on="--mca coll_quant_enable 1"
nodes="$on --mca coll_quant_ranks_per_node"
for shape in "4 2" "6 2" "6 3" "8 2" "8 4"; do
    ranks=${shape% *} per_node=${shape#* }
    mpi_run "np=$ranks, $per_node per node" "$ranks" 120 "$nodes $per_node" levels -p "$per_node"
done
# 5 nodes have two chains.
mpi_run "np=10, 2 per node" 10 180 "$nodes 2" levels -p 2

# Each with another cut of the messages, some with little room for them.
mpi_run_small() {
    mpi_for_tests mpi_run "$@"
}
while read -r how ranks per_node cut; do
    # shellcheck disable=SC2086
    $how "np=$ranks, $per_node per node $cut" "$ranks" 120 "$nodes $per_node $cut" \
        quantized -a hierarchical -p "$per_node" -n 524288
done <<'END'
mpi_run 4 2
mpi_run_small 4 2
mpi_run 6 2 --mca coll_quant_segment_bytes 16k
mpi_run_small 6 3 --mca coll_quant_segment_bytes 16k
mpi_run_small 4 2 --mca coll_quant_algorithm hierarchical --mca pml ob1 --mca btl self,tcp --mca btl_tcp_eager_limit 128 --mca btl_tcp_rndv_eager_limit 128
END
# With a target it is taken as long as its error allows it.
mpi_run "np=4, format for a target" 4 60 "$nodes 2 --mca coll_quant_target_nmse 1e-4" \
    quantized -a hierarchical -p 2 -n 1048576

mpi_start 4 60 "$nodes 2 --mca coll_quant_verbose 10" quantized -a hierarchical -p 2 -n 300000
mpi_judge "auto, two nodes of two ranks"
mpi_says "auto takes it" "hierarchical, 2 times 2 ranks, from" 1

# fallback RANKS NODES LEAST MOST "MCA ARGUMENTS": one line says what is used where there are no levels.
fallback() {
    mpi_start "$1" 60 "$5 --mca coll_quant_algorithm hierarchical" quantized -a full_loop -n 300000
    mpi_judge "$2 nodes of $3 to $4 ranks"
    mpi_says "$2 nodes of $3 to $4 ranks: one line says what is used instead" \
        "hierarchical needs several nodes of equally many ranks, at least 2; here nodes $2, ranks on a node $3 to $4: full_loop is used instead" 1
}
fallback 4 1 4 4 "$on"
fallback 3 2 1 2 "$nodes 2"
fallback 2 2 1 1 "$nodes 1"
mpi_done
