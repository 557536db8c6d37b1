#!/bin/sh
# Four ranks on two "nodes" of this machine: other host names by unshare, TCP
# between them. coll_lowlat exchanges the sums of the nodes over Open MPI's own transport, and so does
# coll_quant. Needs the right to set a host name (root).
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
. "$(dirname "$0")/../lib/mpi_nodes.sh"
mpi_setup

mpi_nodes
two_nodes=$(mpi_nodes_of 2 2)

# Or everything below would be tried on one node.
mpi_start 4 60 "$two_nodes" "$(command -v hostname)"
test "$mpi_status" -eq 0 &&
    test "$(sort "$mpi_scratch/out" | uniq -c | awk '{ print $2 $1 }' | tr '\n' ' ')" = \
        "arc-n12 arc-n22 "
mpi_result $? "two of the ranks are on each of two nodes"
mpi_show "$mpi_scratch/out"

# check_han PRIORITY "MCA ARGUMENTS": coll_han over or under ours. It makes communicators of two ranks,
# on one node each or across the nodes, for its own use, and has chosen what serves them; ours are
# set up on those of the program, of four ranks, at most. Up to 8 KB: Open MPI 4.1.4's coll_han
# writes out of bounds where it cuts messages into segments.
check_han() {
    mpi_judge "two nodes, han at priority $1 $2" mpi_start 4 30 "$two_nodes --mca coll_han_priority $1 \
        --mca coll_arc_verbose 10 $2" \
        agree -l 1000
    cat "$mpi_scratch/out" "$mpi_scratch/said" >"$mpi_scratch/all"
    grep -q 'coll_lowlat: MPI_Allreduce calls of rank 0' "$mpi_scratch/all" &&
        ! grep -q 'coll_lowlat: communicator [0-9]* of [0-35-9]' "$mpi_scratch/all"
    mpi_result $? "two nodes, han at priority $1 $2: none of its communicators is set up"
    mpi_show "$mpi_scratch/said"
}

# Few calls: one takes 40 ms where TCP delays its acknowledgements.
mpi_run "two nodes" 4 120 "$two_nodes" fallback -r 3
mpi_run "two nodes" 4 120 "$two_nodes" stress -n 300
if mpi_have_plugin; then
    mpi_run "two nodes, quant" 4 120 "$two_nodes --mca coll_quant_enable 1" \
        quantized -a hierarchical -p 2 -n 1048576
    for algorithm in $(mpi_lowlat_algorithms nodes); do
        mpi_judge "two nodes, $algorithm" mpi_start 4 120 "$two_nodes --mca coll_arc_verbose 2 \
            --mca coll_lowlat_algorithm $algorithm" fallback -r 2
        mpi_counts "served  $algorithm "
        mpi_result $? "two nodes: $algorithm serves calls"
        ! mpi_counts "passed  communicator spans several nodes "
        mpi_result $? "two nodes, $algorithm: none is passed down for the nodes"
        # One of the other node names it.
        mpi_in_time mpi_missing "two nodes, $algorithm, rank 3 is missing" \
            'rank [01]: MPI_Allreduce failed: .*waiting for rank 3\.' \
            4 "$two_nodes --mca coll_lowlat_algorithm $algorithm" -r 3 -n 200000
        mpi_run "four nodes of a rank each, $algorithm" 4 120 \
            "$(mpi_nodes_of 4 1) --mca coll_lowlat_algorithm $algorithm" stress -n 200 -s 3
    done
    mpi_judge "two nodes, none" mpi_start 4 120 "$two_nodes --mca coll_arc_verbose 2 --mca coll_lowlat_algorithm none" \
        fallback -r 1
    ! mpi_counts served && mpi_counts "passed  communicator spans several nodes "
    mpi_result $? "two nodes, none: the report tells why calls were passed down"
    # Declared nodes: TCP may delay an acknowledgement for 40 ms. Components for tests explore early.
    for explore in 0 1; do
        mpi_judge "explores $explore %" \
            mpi_for_tests mpi_start 4 60 "--mca coll_arc_ranks_per_node 2 --mca coll_arc_verbose 10 \
            --mca coll_arc_explore_percent $explore" explored -n 200
        mpi_says "both communicators begin" " begins with [a-z_]*:" 2
        test "$explore" -eq "$(grep -c ' 8 bytes, after .* us, .* us' "$mpi_scratch/said" |
            sed 's/^[1-9][0-9]*$/1/')"
        mpi_result $? "explores $explore %: that is what it does"
        mpi_show "$mpi_scratch/said"
    done
    for options in "" "--mca coll_quant_enable 1"; do
        check_han 90 "$options"
        check_han 35 "$options"
    done
fi
mpi_done
