#!/bin/sh
# coll_lowlat's puts between nodes, on declared nodes of this machine: UCX over shared memory.
# Right sums whatever the lengths, the arrival of the ranks and the pieces; communicators that come
# and go; messages where there can be no puts.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
. "$(dirname "$0")/../lib/mpi_nodes.sh"
mpi_alone "$@"
mpi_setup components

puts="--mca coll_lowlat_nodes_transport puts"

mpi_note_shared_memory

# Or everything below would be tried on messages.
mpi_judge "np=4, 2 on a node" \
    mpi_start 4 60 "$puts --mca coll_arc_ranks_per_node 2 --mca coll_arc_verbose 10" stress -n 300
mpi_says "puts are what is used" "; puts over posix; " 2
mpi_run "closed to others" 4 60 "$puts --mca coll_arc_ranks_per_node 2" closed

for per_node in 2 1; do
    mpi_run "np=8, $per_node on a node, doubling" 8 180 \
        "$puts --mca coll_arc_ranks_per_node $per_node --mca coll_lowlat_algorithm doubling" \
        matrix -f -l 1100
done
for algorithm in $(mpi_lowlat_algorithms nodes); do
    nodes="$puts --mca coll_lowlat_algorithm $algorithm --mca coll_arc_ranks_per_node"
    mpi_run "np=4, 2 on a node, $algorithm" 4 180 "$nodes 2" matrix -f -l 1100
    # Few and small pieces: waiting for room is the rule.
    mpi_for_tests mpi_run "np=9, 3 on a node, $algorithm, small pieces" 9 180 "$nodes 3" matrix -f -l 100
    mpi_for_tests mpi_run "np=4, 1 on a node, $algorithm, small pieces" 4 120 "$nodes 1" \
        stress -s 32 -n 3000
    mpi_for_tests mpi_run "np=5, 2 on a node, $algorithm, small pieces" 5 120 "$nodes 2" \
        stress -s 33 -n 3000
done
# Ranks drift apart: 30,000 operations of random lengths, random delays now and then.
mpi_run "np=4, 2 on a node, drift" 4 120 \
    "$puts --mca coll_lowlat_algorithm doubling --mca coll_arc_ranks_per_node 2" \
    stress -s 34 -n 30000 -x 11
mpi_run "np=4, 1 on a node, drift" 4 120 \
    "$puts --mca coll_lowlat_algorithm doubling --mca coll_arc_ranks_per_node 1" \
    stress -s 36 -n 30000 -x 11

for per_node in 1 2; do
    mpi_run "np=4, $per_node on a node, communicators" 4 240 \
        "$puts --mca coll_lowlat_algorithm doubling \
        --mca coll_arc_ranks_per_node $per_node" lifecycle -n 200
done
mpi_run "np=4, 2 on a node, threads" 4 120 \
    "$puts --mca coll_lowlat_algorithm doubling --mca coll_arc_ranks_per_node 2" threads

# refused LABEL TEXT "MCA ARGUMENTS": no puts: right sums over messages, and one line tells why
refused() {
    mpi_judge "np=4, $1" mpi_start 4 60 "$puts --mca coll_arc_ranks_per_node 2 $3" stress -n 300
    mpi_says "one line tells why" "messages are used between the nodes; on some rank: $2" 1
}
refused "little memory" "no memory, or coll_arc_max_memory is reached" \
    "--mca coll_arc_max_memory 1m"
for list in tcp,self ^sm; do
    refused "UCX_TLS $list" "the ranks cannot all reach each other" "-x UCX_TLS=$list"
done
for list in all posix,self; do
    mpi_judge "np=4, UCX_TLS $list" mpi_start 4 60 "$puts --mca coll_arc_ranks_per_node 2 --mca coll_arc_verbose 10 \
        -x UCX_TLS=$list" stress -n 300
    mpi_says "puts" "; puts over [a-z,]*; " 2
done

# Between hosts: a network over which UCX only emulates puts, by messages that the peer's program must drive.
if mpi_nodes_possible; then
    mpi_nodes
    mpi_judge "2 hosts, emulated puts" mpi_start 2 60 "$puts $(mpi_nodes_of 2 1) -x UCX_TLS=tcp" stress -n 100
    mpi_says "one line tells why" \
        "messages are used between the nodes; on some rank: UCX has no transport here that puts" 1
fi

# Nobody answers: sums by messages, and UCX is left alone, also in MPI_Finalize.  With numbers for tests the
# ranks give up earlier.
mpi_judge "np=4, no answer" mpi_for_tests mpi_start 4 60 "$puts --mca coll_arc_ranks_per_node 1" unanswered
mpi_says "one line tells why" \
    "messages are used between the nodes; on some rank: the ranks cannot all reach each other" 1

# killed ALGORITHM: a rank that dies ends the sums of the others, who name it; mpirun counts it as a failure
killed() {
    mpi_start 3 60 "$puts --mca coll_arc_ranks_per_node 1 --mca coll_lowlat_algorithm $1 \
        --enable-recovery -x UCX_KEEPALIVE_INTERVAL=100ms" killed -r 2
    [ "$mpi_status" -eq 124 ] || mpi_status=0
    mpi_judge "np=3, $1, rank 2 is killed"
    mpi_says "the others name it" \
        "rank [01]: MPI_Allreduce failed: transport error; the connection to rank 2 is broken" 2
}
for algorithm in doubling direct; do # one of steps, and one of a pipe
    killed $algorithm
done

mpi_judge "np=4, a rank that seldom calls MPI" mpi_start 4 90 "$puts --mca coll_arc_ranks_per_node 1 \
    --mca coll_arc_verbose 10" seldom
mpi_says "puts are not given up" "; puts over posix; " 3

# What counts between nodes that are none is messages, unless asked for.
mpi_judge "np=4, auto" mpi_start 4 60 "--mca coll_arc_ranks_per_node 2 --mca coll_arc_verbose 10" stress -n 300
mpi_says "messages" "; messages; " 2
mpi_says "UCX is not opened" "connected" 0

# Puts beside messages, which learning chooses between; only components for tests try that on declared nodes.
beside="--mca coll_arc_ranks_per_node 1 --mca coll_arc_verbose 10"
mpi_judge "puts beside messages" \
    mpi_for_tests mpi_start 2 240 "$beside --mca coll_arc_explore_percent 1" explored -n 2000
mpi_says "on both communicators" "connected: puts over posix" 2
grep -q " bytes, after .* puts doubling " "$mpi_scratch/said"
mpi_result $? "puts beside messages: they are timed"
for program in "stress -n 3000" "lifecycle -n 100" "pending" "matrix -f -l 1100" "threads"; do
    # shellcheck disable=SC2086
    mpi_for_tests mpi_run "puts beside messages, $program" 4 120 \
        "--mca coll_arc_ranks_per_node 2" $program
done
mpi_for_tests mpi_run "puts beside messages, bits" 4 120 \
    "--mca coll_arc_ranks_per_node 2 --mca coll_lowlat_reproducible 1" reproducible -g 2,2 -l 70001
# The user's rules decide between them, too.
mpi_judge "a rule for puts" \
    mpi_for_tests mpi_start 2 120 "$beside --mca coll_lowlat_rules over=puts:doubling:0-inf" explored -n 300
mpi_says "is followed" "goes on with over=puts:doubling:0-inf (the user's)" 2
# Those that nobody answers are given up, in two seconds; those that are slow: test_slow_puts.sh.
mpi_judge "no answer beside messages" mpi_for_tests mpi_start 2 60 "$beside" unanswered -t 3
mpi_says "one line tells why" \
    "messages are used between the nodes; on some rank: the ranks cannot all reach each other" 1
mpi_says "the next communicator does not ask" "no puts: the ranks could not all reach each other before" 1
# Partners of a communicator that is freed before they have answered have time to do so.
mpi_judge "a late answer to a communicator that was freed" mpi_for_tests mpi_start 2 60 "$beside" unanswered -d 3 -t 1
mpi_says "puts for the next one" "connected: puts over posix" 1

# A rank that does not come is named by one of the other node, and the job ends by itself.
for algorithm in halving ring; do
    mpi_in_time mpi_missing "np=4, $algorithm, rank 3 is missing" \
        'rank [01]: MPI_Allreduce failed: .*waiting for rank 3\.' \
        4 "$puts --mca coll_arc_ranks_per_node 2 --mca coll_lowlat_algorithm $algorithm" \
        -r 3 -n 200000
done

mpi_nothing_left
mpi_result $? "nothing of these jobs is left in shared memory"

mpi_start 4 3 "$puts --mca coll_arc_ranks_per_node 2" stress -n 100000000
mpi_nothing_left "$mpi_files_of_killed"
mpi_result $? "nothing is left in shared memory by a job that was ended in the middle"
mpi_done
