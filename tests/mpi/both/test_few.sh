#!/bin/sh
# A few runs of nearly all programs, for `check.sh --quick` and for components that are built with sanitizers
# (configure with --enable-sanitizers): no access outside memory, no undefined behaviour, no leak of ours.  With
# these first that a wrong access is noticed at all.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
. "$(dirname "$0")/../lib/mpi_nodes.sh"
mpi_setup components

# notices LABEL "MCA ARGUMENTS" FLOATS FUNCTION: who reads behind the vector is told, and is FUNCTION
notices() {
    (
        mpi_inspect() {
            cat "$mpi_scratch"/sanitizer.* >"$mpi_scratch/said"
        }
        mpi_symbolize=1
        mpi_start 2 60 "$2" overrun -n "$3"
    )
    grep -q 'AddressSanitizer: heap-buffer-overflow' "$mpi_scratch/said" && grep -q "$4" "$mpi_scratch/said"
    mpi_result $? "$1: who reads behind a vector is noticed"
}
if [ -n "${ARC_PRELOAD-}" ]; then
    notices "lowlat" "" 1 'in lowlat_.* [^ ]*common/node/'
    notices "lowlat, staged" "--mca coll_lowlat_algorithm twoshot" 100000 'in lowlat_.* [^ ]*common/node/'
    notices "quant" "--mca coll_quant_enable 1" 100000 'in quant_.* [^ ]*coll_quant/'
fi

# run "RANKS MCA ARGUMENTS" PROGRAM ...
run() {
    mpi_ranks=${1%% *}
    mpi_mca=${1#"$mpi_ranks"}
    shift
    mpi_run "np=$mpi_ranks$mpi_mca $*" "$mpi_ranks" 120 "$mpi_mca" "$@"
}

run "3" matrix -l 2000
run "2" matrix -b
for algorithm in $(mpi_lowlat_algorithms node); do
    mpi_for_tests run "5 --mca coll_lowlat_algorithm $algorithm" matrix -f -t -l 2000
done
for algorithm in $(mpi_lowlat_algorithms nodes); do
    mpi_for_tests run "5 --mca coll_arc_ranks_per_node 2 --mca coll_lowlat_algorithm $algorithm" \
        matrix -f -t -l 1100
    run "3 --mca coll_arc_ranks_per_node 1 --mca coll_lowlat_algorithm $algorithm" stress -n 100 -s 3
done
run "4 --mca coll_arc_ranks_per_node 2 --mca coll_lowlat_nodes_transport puts" stress -n 200
mpi_for_tests run "3 --mca coll_arc_ranks_per_node 1 --mca coll_lowlat_nodes_transport puts" stress -n 200
run "3 --mca coll_lowlat_staging streaming" stress -n 200
run "4 --mca coll_arc_ranks_per_node 2 --mca coll_lowlat_uint16_as bf16" sixteen -f bf16 -l 2000
run "2" lifecycle
run "4 --mca coll_arc_ranks_per_node 2" lifecycle -n 61
run "3" user_types
run "4 --mca coll_arc_ranks_per_node 2" user_types
run "2" user_types -x -b 8000
run "3" growth -g -a 4194304
run "4" pool -c 100 -l 100
run "3 --mca coll_lowlat_reproducible 1 --mca coll_lowlat_uint16_as bf16" reproducible -h bf16 -l 70001
run "4" fallback -r 3
run "2" threads -n 110
run "3" origins
run "2" origins -n 30 unfreed session dups
run "4 --mca coll_arc_ranks_per_node 2" origins -n 20 nested unordered unfreed
run "2" windows -n 10
run "1" spawned spawn 2

on="--mca coll_quant_enable 1"
all="$on --mca coll_quant_collectives all"
run "2 $on" lifecycle -q
for algorithm in $(mpi_algorithms quant | grep -vx hierarchical); do
    run "3 $all --mca coll_quant_algorithm $algorithm --mca coll_quant_segment_bytes 16k" \
        quantized -a "$algorithm" -q rsg -n 262144
done
run "4 $on --mca coll_arc_ranks_per_node 2" levels -p 2
run "2 $on --mca coll_quant_format int4" quantized -n 262144 -c 1.157e-2
run "2 $on --mca coll_quant_format bf16" quantized -n 262144 -c 2.75e-6
run "3 $on --mca coll_quant_types all --mca coll_quant_algorithm full_loop" quantized -t double -c 3.55e-5
fed="$on --mca coll_quant_min_bytes 4 --mca coll_quant_error_feedback 1"
run "3 $fed --mca coll_arc_max_memory 840012 --mca coll_arc_verbose 0" feedback -k
run "3 $all --mca coll_quant_min_bytes 4 --mca coll_quant_error_feedback 5" \
    feedback -b moving -s
run "2 $on --mca coll_quant_verify_every 1" verified -e 1
run "2 $on --mca coll_quant_format fp32 --mca coll_quant_min_bytes 4 --mca coll_quant_types fp16" \
    sixteen -f fp16
run "2 --mca coll_arc_verbose 0" info_key
mpi_for_tests run "2 $on --mca coll_arc_explore_percent 1" learn -w quantized -l 300000

# Nonblocking and persistent ones, in fibers, too.
at_once="--mca coll_arc_setup_calls 0"
always="$all --mca coll_arc_setup_calls 0 --mca coll_arc_explore_percent 0"
run "3 $at_once" pending -o 500 -f
run "4 $at_once --mca coll_arc_ranks_per_node 2" pending -o 200 -b -f
mpi_for_tests run "4 $at_once --mca coll_arc_ranks_per_node 2 --mca coll_arc_explore_percent 1" explored -n 30 -p 3
run "2 $at_once" threads -w handed -n 300
run "3" orders -r 100
run "4 --mca coll_arc_ranks_per_node 2" orders -r 60
run "3 $always --mca coll_quant_min_bytes 4" orders -r 60 -t 0.02
run "2 $at_once" threads -w locked -n 200
run "3 $always --mca coll_quant_min_bytes 4 --mca coll_quant_verify_every 3" pending -o 200 -t 0.02
run "4 $always --mca coll_quant_min_bytes 4 --mca coll_arc_ranks_per_node 2" paused
mpi_deferred nonblocking run "3 $always" quantized -q rsg

# Two hosts, as Open MPI sees it: messages by its TCP transport.
mpi_nodes
two="$(mpi_nodes_of 2 2)"
run "4 $two --mca coll_lowlat_algorithm halving" fallback -r 2
run "4 $two $on" quantized -a hierarchical -p 2 -n 262144
mpi_done
