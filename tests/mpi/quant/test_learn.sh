#!/bin/sh
# coll_quant learns from the calls, inside one node, whether quantizing pays: learn.c has the promises.  In
# small messages over a transport that asks before each, it never pays for an allreduce and an allgather;
# components for tests find that it always does.  What comes out otherwise is up to the machine, and then
# only has to be right and told.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup components

told="--mca coll_quant_enable 1 --mca coll_arc_verbose 10"
on="$told --mca coll_arc_explore_percent 1"
never="--mca pml ob1 --mca btl self,tcp --mca btl_tcp_eager_limit 128 --mca btl_tcp_rndv_eager_limit 128 \
    --mca coll_quant_segment_bytes 2k --mca coll_quant_block 8"
all="$on --mca coll_quant_collectives all"
stages="reduce_scatter_block allgather"

# call_of COLLECTIVE: as MPI calls it
call_of() {
    case $1 in
    allreduce) echo MPI_Allreduce ;;
    reduce_scatter_block) echo MPI_Reduce_scatter_block ;;
    allgather) echo MPI_Allgather ;;
    esac
}

# decided COLLECTIVE: what was learned of 1 MiB is told once of each of two communicators, with both times
decided() {
    mpi_says "what was learned is told once" "learned from [1-9][0-9]* calls of $(call_of "$1") of about \
1048576 bytes of floats: the component below [0-9]* us, quantized [0-9]* us: quantized" 2
}

# tells LABEL COLLECTIVE CALLS: the report has so many calls of it, served, or passed down for what was learned
tells() {
    cat "$mpi_scratch/out" "$mpi_scratch/said" | awk -v call="$(call_of "$2")" -v wanted="$3" '
        / calls of rank 0/ { mine = $0 ~ "coll_quant: " call " calls" }
        mine && $1 == "served" { calls += $3 }
        mine && /passed  .*(the component below is faster here|is being learned)/ { calls += $(NF - 1) }
        END { exit calls != wanted }'
    mpi_result $? "$1: the report tells what became of each call"
}

for ranks in 2 4; do
    mpi_judge "np=$ranks" mpi_start "$ranks" 120 "$on" learn -n 12
    tells "np=$ranks" allreduce 72 # three classes on two communicators

    mpi_judge "np=$ranks never" mpi_start "$ranks" 120 "$on $never" learn -w exact -l 300000
    tells "np=$ranks never" allreduce 160

    mpi_judge "np=$ranks always" mpi_for_tests mpi_start "$ranks" 120 "$on" learn -w quantized -l 300000
    decided allreduce
    tells "np=$ranks always" allreduce 160
done

# Where nothing is learned, and over tuned, and with verified calls and a time limit.
mpi_judge "np=3 nothing is learned" mpi_start 3 60 "$told --mca coll_arc_explore_percent 0" quantized
mpi_says "nor told" "learned" 0
mpi_judge "np=3 over tuned" mpi_start 3 60 "$on --mca coll ^lowlat" learn -l 300000 -n 20
mpi_judge "np=3 verified" mpi_for_tests mpi_start 3 60 "$on --mca coll_quant_verify_every 4 --mca coll_arc_timeout 20" \
    learn -w quantized -l 300000
decided allreduce
mpi_says "some calls are" "verified [1-9][0-9]* calls" 1

for ranks in 2 3; do
    mpi_judge "np=$ranks threads" mpi_start "$ranks" 60 "$on" threads -w floats -n 12
done

# The stages: each collective for itself.
for ranks in 2 3; do
    mpi_judge "np=$ranks each" mpi_start "$ranks" 120 "$all" \
        learn -c reduce_scatter_block -c allgather -c allreduce -l 300000 -n 12
    for collective in allreduce $stages; do
        tells "np=$ranks each: $collective" "$collective" 48
    done
    for collective in $stages; do
        label="np=$ranks $collective"
        # (A reduce-scatter below is an allreduce and more, so there quantizing sometimes pays.)
        [ "$collective" = allgather ] && exact="-w exact" || exact=
        mpi_judge "$label never" mpi_start "$ranks" 60 "$all $never" learn -c "$collective" $exact -l 70001
        tells "$label never" "$collective" 80
        mpi_judge "$label always" \
            mpi_for_tests mpi_start "$ranks" 60 "$all" learn -c "$collective" -w quantized -l 300000
        decided "$collective"
        tells "$label always" "$collective" 160
    done
done
for collective in $stages; do
    mpi_judge "np=3 $collective verified" \
        mpi_for_tests mpi_start 3 60 "$all --mca coll_quant_verify_every 4 --mca coll_arc_timeout 20" \
        learn -c "$collective" -w quantized -l 300000
    decided "$collective"
done
mpi_done
