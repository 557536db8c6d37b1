#!/bin/sh
# Nonblocking and persistent collectives: many pending at once (pending.c), handed from thread to thread
# (threads.c), and programs for the blocking ones with their calls made nonblocking or persistent
# (deferred.c).
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup

# Plain Open MPI, to try the tests themselves.
mpi_run_without_plugin "np=3 without" 3 60 "" pending -o 500
mpi_have_plugin || mpi_done

at_once="--mca coll_arc_setup_calls 0"
for ranks in 2 5; do
    mpi_run "np=$ranks" "$ranks" 120 "" pending -s "$ranks"
done
for ranks in 3 4 8; do
    mpi_run "np=$ranks set up by nonblocking calls" "$ranks" 120 "$at_once" pending -b -f -o 1000
done
mpi_run "np=2 64 pending" 2 120 "$at_once" pending -o 6000 -p 64 -c 4 -f -s 7
mpi_run "np=3 one at a time" 3 60 "$at_once" pending -o 1000 -p 1 -c 1
mpi_run "np=2 long ones" 2 120 "$at_once" pending -o 300 -l 200000
# Tags are taken anew whenever other nonblocking collectives have taken 24: calls that wait keep those of their start.
mpi_for_tests mpi_run "np=3 tags anew" 3 120 "$at_once --mca coll_arc_ranks_per_node 1" pending -o 3000 -c 2 -s 9
for algorithm in $(mpi_lowlat_algorithms node); do
    mpi_for_tests mpi_run "np=5 $algorithm small pieces" 5 60 \
        "$at_once --mca coll_lowlat_algorithm $algorithm" pending -o 500 -f
done
for per_node in 1 2; do
    nodes="$at_once --mca coll_arc_ranks_per_node $per_node"
    mpi_run "np=4 nodes of $per_node" 4 120 "$nodes" pending -o 500 -f
    mpi_run "np=4 nodes of $per_node, set up by nonblocking calls" 4 120 "$nodes" pending -o 300 -b -f
done
mpi_run "np=4 puts" 4 120 "$at_once --mca coll_arc_ranks_per_node 2 --mca coll_lowlat_nodes_transport puts" \
    pending -o 300

# No memory to share: what was started by then is served all the same.
mpi_judge "np=3 without shared memory" \
    mpi_start 3 60 "$at_once --mca coll_arc_max_memory 64k --mca coll_arc_verbose 0" pending -b -o 300 -n

mpi_judge "np=3 without shared memory, said" \
    mpi_start 3 60 "$at_once --mca coll_arc_max_memory 64k --mca coll_arc_verbose 10" pending -b -o 10 -n
grep -q "not used: no memory that all ranks can map" "$mpi_scratch/said"
mpi_result $? "np=3 without shared memory, said: there is none"

# check_edges MEMORY RANKS_PER_NODE [OPTION]: what programs do beside it; ranks that lack memory, too.
check_edges() {
    mpi_judge "np=2 edges, memory $1, ranks of a node $2" \
        mpi_start 2 60 "$at_once --mca coll_arc_verbose 0 --mca coll_arc_max_memory $1 \
        --mca coll_arc_ranks_per_node $2" pending_edges -c "$mpi_limit.5" $3
}
for per_node in 0 1; do
    mpi_in_time check_edges 64k $per_node -n
    mpi_in_time check_edges 1g $per_node
done
# Parameters that differ, where ranks can only find out in a call: nobody is served, everybody is right.
# (By the environment: mpirun of Open MPI 5 takes --mca pmix_... for a parameter of PMIx.)
OMPI_MCA_pmix_base_async_modex=1
export OMPI_MCA_pmix_base_async_modex
mpi_patiently mpi_start_each 20 "$at_once --mca coll_arc_installed_everywhere 1" \
    "$(mpi_find pending) -b -n -o 100" \
    "env OMPI_MCA_coll_lowlat_rules=below:1000-inf $(mpi_find pending) -b -n -o 100"
mpi_judge "np=2 other parameters"
# Ranks of Open MPI 6 know each other's all the same, and one of them says it once.
warnings=$([ "$mpi_major" -ge 6 ] && echo 1 || echo 3)
mpi_says "$warnings warnings" "parameters are not the same on all ranks" "$warnings"
# Persistent requests take tags on all ranks or on none: here coll_quant is in their slots on one rank only.
mpi_patiently mpi_start_each 20 "$at_once --mca coll_arc_installed_everywhere 1 --mca coll_arc_verbose 0" \
    "$(mpi_find pending) -b -o 100" \
    "env OMPI_MCA_coll_quant_enable=1 OMPI_MCA_coll_quant_min_bytes=4 $(mpi_find pending) -b -o 100"
unset OMPI_MCA_pmix_base_async_modex
mpi_judge "np=2 other parameters, persistent"

# Nor where quant is named for all, which switches it on, and one rank says no.
mpi_judge "np=2 named, and off on one rank" \
    mpi_start_each 30 "$at_once --mca coll quant,lowlat,tuned,basic,libnbc,self --mca coll_quant_types bf16 \
    --mca coll_quant_min_bytes 4" "env OMPI_MCA_coll_quant_enable=0 $(mpi_find pending) -b -n -o 100" \
    "$(mpi_find pending) -b -n -o 100"

quant="--mca coll_quant_enable 1 --mca coll_quant_collectives all --mca coll_arc_setup_calls 0"
always="$quant --mca coll_arc_explore_percent 0 --mca coll_quant_min_bytes 4"
for ranks in 2 4; do
    mpi_run "np=$ranks quantized" "$ranks" 120 "$always" pending -o 500 -t 0.02
done
mpi_run "np=3 quantized, set up by nonblocking calls" 3 120 "$always" pending -b -o 300 -t 0.02 -f
mpi_run "np=3 quantized, verified" 3 120 "$always --mca coll_quant_verify_every 3" pending -o 300 -t 0.02
mpi_judge "np=3 a limit that is exceeded" \
    mpi_start 3 60 "$always --mca coll_quant_verify_every 2 --mca coll_quant_max_nmse 1e-12" \
    pending -b -o 300 -t 0.02 -c 1
mpi_says "one warning" "not used any more: a verified MPI_" 1

# Calls that were passed down would be right, too.
# served LABEL COMPONENT CALL: some of these were served
served() {
    mpi_counts served "coll_$2: $3 calls"
    mpi_result $? "$1: calls of $3 that were served"
}
mpi_judge "np=3 report" mpi_start 3 60 "$at_once --mca coll_arc_verbose 2" pending -o 300
served "np=3 report" lowlat MPI_Iallreduce
served "np=3 report" lowlat MPI_Allreduce_init
for form in "nonblocking I" "persistent "; do
    for algorithm in $(mpi_algorithms quant | grep -vx hierarchical); do
        mpi_deferred "${form% *}" mpi_start 3 60 "$quant --mca coll_arc_explore_percent 0 \
            --mca coll_quant_algorithm $algorithm --mca coll_arc_verbose 2" quantized -a "$algorithm" -q rsg
        mpi_judge "np=3 ${form% *} $algorithm"
    done
    case $form in
    n*) calls="MPI_Iallreduce MPI_Ireduce_scatter_block MPI_Iallgather" ;;
    *) calls="MPI_Allreduce_init MPI_Reduce_scatter_block_init MPI_Allgather_init" ;;
    esac
    for call in $calls; do
        served "np=3 ${form% *}" quant "$call"
    done
done
# On one node nobody has shown that it pays.
mpi_judge "np=3 nonblocking, nothing learned" \
    mpi_deferred nonblocking mpi_start 3 60 "$quant --mca coll_arc_explore_percent 1 --mca coll_arc_verbose 20" quantized -q none
grep -q 'MPI_Iallgather of .* passed down: whether quantizing is faster' "$mpi_scratch/said"
mpi_result $? "np=3 nonblocking, nothing learned: passed down for that reason"
# Which vector gets back what was lost does not depend on the form of the calls, nor on which of them are
# passed down: the others of `carried -m` are, all of them, where they are nonblocking.
fed="--mca coll_quant_error_feedback"
carries="$quant $fed 3 --mca coll_arc_explore_percent 1 --mca coll_arc_verbose 20"
mpi_judge "np=2 feedback, blocking" mpi_for_tests mpi_start 2 60 "$carries" carried -m
grep '^# bits' "$mpi_scratch/out" >"$mpi_scratch/bits"
mpi_judge "np=2 feedback, nonblocking" mpi_deferred nonblocking mpi_for_tests mpi_start 2 60 "$carries" carried -m
mpi_says "the others are passed down" "MPI_Iallreduce of 262144 .* passed down: whether quantizing is faster" 4
grep '^# bits' "$mpi_scratch/out" | cmp -s - "$mpi_scratch/bits"
mpi_result $? "np=2 feedback: the same bits, nonblocking or not"
# The same where the set-up comes with such a call; on one node, and on nodes of several ranks, where coll_quant adds up
# in memory of its own.
# (A persistent request is one vector, and not a sequence of them.)
check_bits() {
    for how in '' nonblocking; do
        mpi_judge "np=8 $1 feedback, ${how:-blocking}" \
            mpi_deferred "$how" mpi_start 8 60 "$always $fed 2 --mca coll_arc_verbose 10 $2" carried
        mpi_says "sums in shared memory" "adds up on each node, in shared memory" "$3"
        grep '^# bits' "$mpi_scratch/out" >"$mpi_scratch/bits.$how"
    done
    cmp -s "$mpi_scratch/bits.nonblocking" "$mpi_scratch/bits."
    mpi_result $? "np=8 $1 feedback: the same bits, nonblocking or not"
}
nodes="--mca coll_arc_ranks_per_node 2"
check_bits "one node" "" 0
check_bits nodes "$nodes" 4

# Nobody waits for a rank that computes, whatever a call is at.
for nodes in "" "--mca coll_arc_ranks_per_node 2"; do
    mpi_run "np=4 a rank that pauses $nodes" 4 60 "$at_once $nodes" paused -b
    mpi_run "np=4 quantized, a rank that pauses $nodes" 4 60 "$always $nodes" paused
done
mpi_run "np=4 nodes of one rank, a rank that pauses" 4 60 "$at_once --mca coll_arc_ranks_per_node 1" paused -b

# Persistent requests that each rank starts in an order of its own.
mpi_run "np=3 any order" 3 60 "" orders
mpi_run "np=2 any order, many" 2 60 "" orders -r 80 -q 40
mpi_run "np=2 any order, long ones" 2 60 "" orders -r 60 -l 200000
for per_node in 1 2; do
    mpi_run "np=4 any order, nodes of $per_node" 4 60 "--mca coll_arc_ranks_per_node $per_node" orders -r 80
done
mpi_run "np=4 any order, puts" 4 60 \
    "--mca coll_arc_ranks_per_node 2 --mca coll_lowlat_nodes_transport puts" orders -r 80
mpi_judge "np=3 any order, more than there is memory for" \
    mpi_start 3 60 "$at_once --mca coll_arc_max_memory 1m --mca coll_arc_verbose 2" orders -r 80 -q 20
served "np=3 any order, more than there is memory for" lowlat MPI_Allreduce_init
mpi_counts "passed  set-up failed on some rank"
mpi_result $? "np=3 any order, more than there is memory for: the others go to the component below"
mpi_counts served "coll_lowlat: MPI_Allreduce calls"
mpi_result $? "np=3 any order, more than there is memory for: the communicator has its own"
mpi_run "np=2 any order, quantized" 2 60 "$always" orders -r 120 -t 0.02
mpi_run "np=3 any order, verified" 3 60 "$always --mca coll_quant_verify_every 3" orders -r 80 -t 0.02
mpi_run "np=4 any order, quantized, nodes" 4 60 "$always $nodes" orders -r 80 -t 0.02

# What feedback keeps, whatever keys are set; and that of nonblocking sums of 16-bit floats.
fed_each="$fed 2 --mca coll_arc_explore_percent 0 --mca coll_quant_min_bytes 4 --mca coll_quant_format int8"
mpi_run "np=2 feedback" 2 60 "$fed_each --mca coll_quant_enable 1" feedback -p
mpi_run "np=2 feedback of 16-bit floats" 2 60 "$fed_each --mca coll_arc_setup_calls 0 \
    --mca coll_quant_types bf16" feedback -u -T bf16

# A start does not wait for an operation that runs; many communicators need few stacks.
for nodes in "" "--mca coll_arc_ranks_per_node 1"; do
    mpi_run "np=2 an operation that takes a lock $nodes" 2 60 "$at_once $nodes" threads -w locked -n 1000
done
mpi_run "np=2 little address space" 2 60 "$at_once --mca coll_arc_ranks_per_node 1" stacks
mpi_run "np=2 little address space, all pending" 2 60 "$at_once --mca coll_arc_ranks_per_node 1" stacks -c 100 -p
mpi_run "np=2 less address space, all pending" 2 60 "$at_once --mca coll_arc_ranks_per_node 1" \
    stacks -c 100 -p -m 96

# What blocking calls promise.
for how in nonblocking persistent; do
    mpi_deferred $how mpi_run "np=3 $how" 3 120 "$at_once" matrix -f -l 70000
    mpi_deferred $how mpi_run "np=4 $how nodes" 4 120 "$at_once --mca coll_arc_ranks_per_node 2" matrix -f -l 3000
    mpi_deferred $how mpi_run "np=3 $how" 3 60 "$at_once" user_types
    mpi_deferred $how mpi_run "np=4 $how" 4 60 "$at_once" stress -n 500
    mpi_deferred $how mpi_run "np=3 $how" 3 60 "--mca coll_lowlat_reproducible 1" reproducible -l 70001
    mpi_deferred $how mpi_run "np=2 $how" 2 120 "" threads -n 300
    mpi_deferred $how mpi_run "np=3 $how bf16" 3 60 "--mca coll_lowlat_uint16_as bf16" sixteen -f bf16 -l 2000
    mpi_deferred $how mpi_run "np=4 $how bf16, nodes" 4 60 \
        "--mca coll_lowlat_uint16_as bf16 --mca coll_arc_ranks_per_node 2" sixteen -f bf16 -l 2000
done
for ranks in 2 3; do
    mpi_run "np=$ranks from thread to thread" "$ranks" 120 "$at_once" threads -w handed -n 2000
done
mpi_run "np=2 from thread to thread, nodes" 2 120 "$at_once --mca coll_arc_ranks_per_node 1" threads -w handed -n 300

# A rank that does not come is named, and so is the call.
for elements in 8 200000; do
    for nodes in "" "--mca coll_arc_ranks_per_node 1"; do
        mpi_deferred nonblocking mpi_in_time mpi_missing "np=3 $elements elements, rank 1 is late $nodes" \
            "rank [02]: MPI_Iallreduce failed: .*waiting for .*rank 1\b" \
            3 "$at_once $nodes" -n $elements -r 1
    done
done
mpi_done
