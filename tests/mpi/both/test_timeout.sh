#!/bin/sh
# A rank that does not come: with a time limit the others get an error, stderr
# names the missing rank, and the job ends by itself (late.c).
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_alone "$@"
mpi_setup components

away_seconds=15 # at most, where the limit is one; those who waited wake the late one up

# check_late LABEL RANKS MISSING "MCA ARGUMENTS" ELEMENTS [OPTION ...]
check_late() {
    mpi_judge "$1" mpi_start "$2" 60 "$4" late -r "$3" -n "$5" -w $away_seconds ${6:+"$6"} ${7:+"$7"}
    grep -Eq "rank[s]?( [0-9]+)*,? $3\\b" "$mpi_scratch/said"
    mpi_result $? "$1: stderr names rank $3"
    mpi_show "$mpi_scratch/said"
}

# check_only LABEL RANKS MISSING: all others said in the last check_late that they wait for the
# missing rank and for nobody else.
check_only() {
    test "$(grep -c "MPI_Allreduce failed: .*; waiting for rank $3\. " "$mpi_scratch/said")" \
        -eq $(($2 - 1))
    mpi_result $? "$1: every rank names rank $3 and no other"
}

# check_set_up LABEL RANKS MISSING "MCA ARGUMENTS" TIMES OPTION ...: the ranks agree on something before
# the call that one stays away from.  All others name it; so many ranks say that they cannot agree.
check_set_up() {
    set_up_label=$1 set_up_ranks=$2 set_up_missing=$3 set_up_mca=$4 set_up_times=$5
    shift 5
    mpi_judge "$set_up_label" mpi_start "$set_up_ranks" 60 "$set_up_mca" late -r "$set_up_missing" -w $away_seconds "$@"
    test "$(grep -c "failed: .* to agree; waiting for rank $set_up_missing\. " "$mpi_scratch/said")" \
        -eq $((set_up_ranks - 1)) &&
        test "$(grep -c "failed: .* to agree; " "$mpi_scratch/said")" -eq "$set_up_times"
    mpi_result $? "$set_up_label: all others name rank $set_up_missing, in an agreement"
    mpi_show "$mpi_scratch/said"
}

# check_first LABEL RANKS MISSING "MCA ARGUMENTS": the first call on a communicator.  The missing rank says
# that the others have waited for it when it comes, or whom it waits for in vain.
check_first() {
    check_set_up "$1" "$2" "$3" "$4" "$2" -f
}

# check_neighbours LABEL RANKS MISSING: each message of the last check_late names a neighbour in the
# ring of the rank that prints it, and the one after the missing rank names that.
check_neighbours() {
    sed -n 's/.*: rank \([0-9]*\): MPI_Allreduce failed: .*waiting for .*rank\([ ,0-9]*\).*/\1 \2/p' \
        "$mpi_scratch/said" |
        tr -d , | awk -v ranks="$2" -v missing="$3" '
            NF < 2 { bad = 1 }
            {
                for (i = 2; i <= NF; i++) {
                    if (($1 + 1) % ranks != $i && ($i + 1) % ranks != $1) { bad = 1 }
                    if ($1 == (missing + 1) % ranks && $i == missing) { named = 1 }
                }
            }
            END { exit bad || !named || NR != ranks - 1 }'
    mpi_result $? "$1: every message names a neighbour, that of the next rank the missing one"
    mpi_show "$mpi_scratch/said"
}

# check_far ARGUMENTS OF check_late: a rank of another node, too, names the missing one.
check_far() {
    check_late "$@"
    sed -n "s/.*: rank \([0-9]*\): MPI_Allreduce failed: .*waiting for rank $3\..*/\1/p" \
        "$mpi_scratch/said" |
        awk -v missing="$3" '
            int($1 / 2) != int(missing / 2) { far = 1 }
            END { exit !far }'
    mpi_result $? "$1: a rank of the other node names rank $3"
}

# late_to_all LABEL RANKS MISSING "MCA ARGUMENTS" ELEMENTS: and every rank waits for that one
late_to_all() {
    check_late "$@"
    check_only "$1" "$2" "$3"
}

# late_in_ring: as late_to_all, where ranks wait for neighbours
late_in_ring() {
    check_late "$@"
    check_neighbours "$1" "$2" "$3"
}

# check_long LABEL: a sum of small messages over TCP, in little memory, takes longer than the limit.
check_long() {
    mpi_for_tests mpi_run "$1" 8 120 "$quant --mca pml ob1 --mca btl self,tcp --mca coll_quant_segment_bytes 2k \
        --mca coll_quant_block 8" late -n 2097152 -l "$mpi_limit.5"
}

mpi_note_shared_memory
mpi_beside mpi_in_time check_late "lowlat, 8 elements, np=3" 3 1 "" 8
mpi_beside mpi_in_time check_late "lowlat, 5000 elements, np=4" 4 3 "" 5000
for algorithm in $(mpi_lowlat_algorithms node); do
    forced="--mca coll_lowlat_algorithm $algorithm"
    # Not each of the others exchanges data with the missing one.
    mpi_beside mpi_in_time late_to_all "lowlat $algorithm, 5000 elements, np=5" 5 1 "$forced" 5000
done
for algorithm in $(mpi_lowlat_algorithms nodes); do
    nodes="--mca coll_arc_ranks_per_node 2 --mca coll_lowlat_algorithm $algorithm"
    mpi_beside mpi_in_time check_far "lowlat $algorithm, 2 nodes, 8 elements, np=4: leader missing" 4 2 "$nodes" 8
    mpi_beside mpi_in_time check_far "lowlat $algorithm, 2 nodes, 200000 elements, np=4" 4 1 "$nodes" 200000
    alone="--mca coll_arc_ranks_per_node 1 --mca coll_lowlat_algorithm $algorithm"
    mpi_beside mpi_in_time check_late "lowlat $algorithm, 3 nodes, 200000 elements, np=3" 3 1 "$alone" 200000
done
mpi_join
mpi_nothing_left
mpi_result $? "nothing of these jobs is left in shared memory"
# With both components and with coll_lowlat alone; powers of two, where the late rank finds all messages
# of the first agreement, and others.
for ranks in 2 3 4 7; do
    [ $ranks -eq 4 ] || mpi_beside mpi_in_time check_first "first call, np=$ranks" $ranks $((ranks / 2)) ""
    [ $ranks -eq 3 ] || mpi_beside mpi_in_time check_first "first call, lowlat only, np=$ranks" $ranks $((ranks - 1)) "--mca coll ^quant"
done
mpi_beside mpi_in_time check_first "first call, 2 nodes, np=4" 4 1 "--mca coll_arc_ranks_per_node 2"
for ranks in 2 3 5; do
    mpi_beside mpi_in_time check_set_up "more memory, np=$ranks" $ranks 1 "" $((ranks - 1)) -b 8 -n 200000
done
mpi_join
quant="--mca coll_quant_enable 1"
mpi_beside mpi_in_time check_first "first call, quant, np=5" 5 0 "$quant"
mpi_beside mpi_in_time check_late "quant, np=2" 2 1 "$quant" 300000
for missing in 0 2; do
    mpi_beside mpi_in_time late_in_ring "quant, np=4, rank $missing missing" 4 $missing "$quant" 300000
done
for algorithm in $(mpi_algorithms quant); do
    [ "$algorithm" != hierarchical ] || continue
    mpi_beside mpi_in_time check_late "quant $algorithm, np=3" 3 1 \
        "$quant --mca coll_quant_algorithm $algorithm" 300000
done
mpi_beside mpi_in_time check_late "quant hierarchical, messages, np=4" 4 1 \
    "$quant --mca coll_arc_ranks_per_node 2 --mca coll_quant_microshards 1" 300000
mpi_beside mpi_in_time check_far "quant hierarchical, shared memory, np=4" 4 1 \
    "$quant --mca coll_arc_ranks_per_node 2" 300000
# Also where more memory is needed than for the calls before, which are quantized as well.
more_memory="$quant --mca coll_quant_min_bytes 4 --mca coll_arc_ranks_per_node 2"
mpi_beside mpi_in_time check_late "quant hierarchical, more shared memory, np=4" 4 1 "$more_memory" 1000000 -b 20000
mpi_beside mpi_in_time check_late "quant hierarchical, more shared memory, nonblocking, np=4" 4 1 \
    "$more_memory -x ARC_DEFERRED=nonblocking" 1000000 -b 20000
mpi_beside mpi_in_time check_late "nonblocking, on a freed communicator, np=2" 2 1 "--mca coll_arc_setup_calls 0" 8 -d
mpi_beside mpi_in_time check_late "nonblocking, on a freed communicator, quant, np=3" 3 1 \
    "$quant --mca coll_arc_setup_calls 0" 300000 -d
mpi_beside mpi_in_time check_late "a persistent request, np=2" 2 1 "" 8 -p
mpi_join
# A communicator whose sums are not accurate enough stays exact: nonblocking calls are messages of ours then, of
# which some may still be under way after the error.
exact="$quant --mca coll_quant_collectives all --mca coll_quant_verify_every 1 --mca coll_quant_max_nmse 1e-12"
exact="$exact --mca pml ob1 --mca btl self,tcp -x ARC_DEFERRED=nonblocking"
for call in "an allreduce" "a reduce-scatter -s" "an allgather -g"; do
    mpi_beside mpi_in_time check_late "${call%% -*} of plain messages, np=3, no buffers afterwards" 3 2 "$exact" \
        3000000 -u "$(echo "$call" | sed -n 's/.* -/-/p')"
done
mpi_join
mpi_in_time check_long "quant, np=8, long"
mpi_done
