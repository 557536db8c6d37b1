#!/bin/sh
# MPI_Reduce_scatter_block and MPI_Allgather of coll_quant, and MPI_Allreduce beside them by every algorithm;
# quantized.c has the promises.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup components

on="--mca coll_quant_enable 1"
all="$on --mca coll_quant_collectives all"
# One rank is served by nobody here, and exact.
mpi_run "np=1" 1 60 "$all" quantized -q none
# Each number of ranks with another cut of the messages; over TCP one message of each pair of ranks after the other.
for algorithm in $(mpi_algorithms quant | grep -vx hierarchical); do
    mpi_cut= mpi_how=
    for ranks in 2 3 4 5; do
        $mpi_how mpi_run "$algorithm np=$ranks $mpi_how $mpi_cut" "$ranks" 120 \
            "$all --mca coll_quant_algorithm $algorithm $mpi_cut" quantized -a "$algorithm" -q rsg
        case $ranks in
        2) mpi_how=mpi_for_tests ;; # little room for messages
        3) mpi_how='' mpi_cut="--mca coll_quant_segment_bytes 16k" ;;
        4) mpi_how=mpi_for_tests ;;
        esac
    done
    mpi_for_tests mpi_run "$algorithm np=4 over TCP, no eager messages" 4 120 "$all --mca pml ob1 \
        --mca btl self,tcp --mca btl_tcp_eager_limit 128 --mca btl_tcp_rndv_eager_limit 128 \
        --mca coll_quant_algorithm $algorithm" quantized -a "$algorithm" -q rsg
done
for ranks in 4 6; do
    mpi_run "hierarchical np=$ranks" "$ranks" 120 "$all --mca coll_quant_algorithm hierarchical \
        --mca coll_arc_ranks_per_node 2" quantized -a hierarchical -p 2 -q rsg
done

# Scale domains and messages by the length of a block: of 64 numbers in those that are measured.
mpi_run "np=3 minishards 32, microshards 3" 3 60 "$all --mca coll_quant_minishards 32 \
    --mca coll_quant_microshards 3" quantized -n 393216 -q rsg

# What is named, and what its stage is.
mpi_run "np=3 by default" 3 60 "$on" quantized -o
mpi_run "np=3 off" 3 60 "--mca coll_quant_collectives all" quantized -q none
mpi_run "np=3 reduce_scatter_block" 3 60 "$on --mca coll_quant_collectives reduce_scatter_block" \
    quantized -q s -o
mpi_run "np=3 allgather" 3 60 "$on --mca coll_quant_collectives allgather" quantized -q g -o
mpi_run "np=3 all, stages rs" 3 60 "$all --mca coll_quant_stages rs" quantized -q Rs -o
mpi_run "np=3 all, stages ag" 3 60 "$all --mca coll_quant_stages ag" quantized -q Rg -o
mpi_run "np=3 all, fp32" 3 60 "$all --mca coll_quant_format fp32" quantized -q none
mpi_run "np=3 info key" 3 120 "--mca coll_quant_collectives all --mca coll_arc_verbose 0" info_key -a
# Types, and verified calls of each.
ring="$all --mca coll_quant_algorithm full_loop"
for verify in "" "--mca coll_quant_verify_every 1"; do
    mpi_run "np=3 doubles $verify" 3 60 "$ring --mca coll_quant_types all $verify" \
        quantized -t double -c 3.56e-5 -q rsg
    mpi_run "np=3 bf16 $verify" 3 60 "$ring --mca coll_quant_types bf16 $verify" \
        quantized -t bf16 -c 3.56e-5 -q rsg
done
# 16-bit floats are added as such also where that is exact.
for how in "ag Rg" "none none"; do
    mpi_run "np=3 bf16, stages ${how% *}" 3 60 "$ring --mca coll_quant_types bf16 --mca coll_quant_stages ${how% *}" \
        quantized -t bf16 -q "${how#* }" -o
done
mpi_run "np=3 bf16, not named" 3 60 "$on --mca coll_quant_types bf16" quantized -t bf16 -o
mpi_run "np=3 doubles that stay exact" 3 60 "$ring" quantized -t double -q none
mpi_run "np=3 floats with doubles alone" 3 60 "$ring --mca coll_quant_types double" \
    quantized -t float -q none
# Calls that are verified, of any types; the first one that is above the limit is exact, and so are
# all that follow, of any collective.
mpi_run "np=3 verified" 3 60 "$all --mca coll_quant_verify_every 1" quantized -q rsg
mpi_judge "np=3 verified, a limit that is exceeded" \
    mpi_start 3 60 "$all --mca coll_quant_verify_every 1 --mca coll_quant_max_nmse 1e-12" \
    quantized -q none
mpi_says "one warning" "not used any more: a verified MPI_Allreduce has" 1

# The report has a table of each collective that was called.
mpi_judge "np=3 report" mpi_start 3 60 "$all --mca coll_arc_verbose 20" quantized -q rsg
for call in MPI_Allreduce MPI_Reduce_scatter_block MPI_Allgather; do
    mpi_says "one table of $call" "coll_quant: $call calls of rank 0" 1
    mpi_counts "served  full_loop" "coll_quant: $call calls" &&
        mpi_counts "passed  message is smaller than min_bytes" "coll_quant: $call calls"
    mpi_result $? "np=3 report: calls of $call that were served and passed down"
done
grep -q 'MPI_Allgather of 50 of MPI_FLOAT passed down: message is smaller' "$mpi_scratch/said" &&
    grep -q 'MPI_Reduce_scatter_block of [0-9]* of MPI_FLOAT with MPI_MAX passed down: this datatype' \
        "$mpi_scratch/said"
mpi_result $? "np=3 report: calls passed down are told at verbose level 20"
mpi_says "an allgather in place is passed down for that reason" \
    'passed  in place, where the own block must stay what it is .* [1-9][0-9]* ' 1
# By default nobody looks at the others.
mpi_judge "np=3 report by default" mpi_start 3 60 "$on --mca coll_arc_verbose 2" quantized -o
mpi_says "of MPI_Allreduce only" "coll_quant: MPI_.* calls of rank 0" 1
# A rank that does not come is named, and so is the call.
for stage in "s MPI_Reduce_scatter_block" "g MPI_Allgather"; do
    mpi_in_time mpi_missing "np=3 ${stage#* }, rank 1 is late" \
        "rank [02]: ${stage#* } failed: .*waiting for .*rank 1\b" \
        3 "$all" -n 300000 -r 1 "-${stage%% *}"
done
# check_unpackable RANKS: a rank that cannot pack its type says so, and no other call is taken for that one.
check_unpackable() {
    mpi_judge "np=$1 no memory to pack" mpi_start "$1" 60 "$all" unpackable
    mpi_says "stderr names the rank" "rank $(($1 - 1)): MPI_Allgather failed: out of memory to pack a derived type" 1
}
# check_miscounts RANKS: nor where a rank's counts differ from each other.
check_miscounts() {
    mpi_judge "np=$1 a wrong count" mpi_start "$1" 60 "$all" unpackable -c
    mpi_says "stderr names the call" ": MPI_Allgather failed: " "$1"
}
for ranks in 2 3; do
    mpi_in_time check_unpackable "$ranks"
    mpi_in_time check_miscounts "$ranks"
done
# Whether it is on is compared in the first call, whichever that is.
mpi_judge "np=2 on one rank only" mpi_start_each 60 "--mca coll_quant_collectives all" \
    "env OMPI_MCA_coll_quant_enable=1 $(mpi_find quantized) -q none" \
    "$(mpi_find quantized) -q none"
mpi_says "one warning" "parameters are not the same on all ranks" 1
mpi_done
