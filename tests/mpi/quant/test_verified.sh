#!/bin/sh
# Guarantees of coll_quant: targets, verification, limits, and what is told of them; verified.c has the
# promises.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup components
on="--mca coll_quant_enable 1"
all="$on --mca coll_quant_collectives all"
limited="--mca coll_quant_verify_every 4 --mca coll_quant_max_nmse 1e-3"
exceeds="has a normalized mean square error of"

for collective in allreduce reduce_scatter_block allgather; do
    for ranks in 2 4; do
        mpi_run "np=$ranks $collective, every call" "$ranks" 60 \
            "$all --mca coll_quant_verify_every 1" verified -c "$collective" -e 1
    done
    mpi_run "np=3 $collective, every third call" 3 60 \
        "$all --mca coll_quant_verify_every 3" verified -c "$collective" -e 3
done
# By default only allreduces are verified, as they are quantized.
mpi_run "np=2 every call" 2 60 "$on --mca coll_quant_verify_every 1" verified -e 1
# A limit that no error exceeds changes nothing.
mpi_run "np=2 a high limit" 2 60 \
    "$on --mca coll_quant_verify_every 2 --mca coll_quant_max_nmse 0.5" verified -e 2
mpi_judge "np=2 a limit, and no verification" mpi_start 2 60 "$on --mca coll_quant_max_nmse 1e-3" quantized -n 262144
mpi_says "that is said once" "coll_quant_max_nmse has no effect: coll_quant_verify_every is 0" 1
# over_limit RANKS COLLECTIVE CALL: its sixth call is, where it is verified
over_limit() {
    mpi_judge "np=$1 $2, a limit that is exceeded" \
        mpi_start "$1" 60 "$all --mca coll_quant_verify_every 6 --mca coll_quant_max_nmse 1e-12 \
        --mca coll_arc_verbose 2" verified -c "$2" -s 6
    mpi_says "one warning" "not used any more: a verified $3 $exceeds .* allows 1.000e-12" 1
    mpi_says "the report tells the reason" "passed  a verified call was less accurate than max_nmse .* [1-9]" 1
    mpi_says "the report tells the error" "verified 1 calls: normalized mean square error at most [1-9]" 1
}
# short_of_memory COLLECTIVE
short_of_memory() {
    mpi_judge "np=2 $1, no memory on one rank" \
        mpi_start 2 120 "$all --mca coll_quant_verify_every 2" verified -c "$1" -m 2
    mpi_says "one warning" "a call is not verified: some rank has no memory" 1
}
over_limit 3 allreduce MPI_Allreduce
over_limit 3 reduce_scatter_block MPI_Reduce_scatter_block
over_limit 3 allgather MPI_Allgather
for collective in allreduce reduce_scatter_block allgather; do
    short_of_memory $collective
done

# What is told of the last call, whatever that was, and of each communicator.
for ranks in 2 4; do
    mpi_run "np=$ranks variables of a communicator" "$ranks" 60 "--mca coll_arc_verbose 0 \
        --mca coll_quant_verify_every 3 --mca coll_quant_max_nmse 1e-3" comm_pvars
done
mpi_run "np=2 variables of a communicator, with a limit" 2 60 "$on --mca coll_quant_target_rel 1e-2" comm_pvars -r
halves="$on --mca coll_arc_explore_percent 0 --mca coll_quant_types fp16 --mca coll_quant_verify_every 2"
mpi_run "np=2 fp16" 2 60 "$halves" limit_edges -v
mpi_run "np=4 fp16, nodes of 2" 4 60 "$halves --mca coll_quant_algorithm hierarchical \
    --mca coll_arc_ranks_per_node 2" limit_edges -v
mpi_run "np=3 the bound that is told" 3 60 "$on --mca coll_quant_format bf16" told

# What MPI_Comm_get_info shows.
mpi_run "np=3 what is shown of coll_quant" 3 60 "$limited --mca coll_arc_verbose 0" shown quant
mpi_run "np=3 what is shown after nonblocking calls" 3 60 "--mca coll_quant_enable 1" shown nonblocking
mpi_run "np=3 what is shown of coll_lowlat" 3 60 "" shown lowlat "-inf"
mpi_run "np=3 what is shown of coll_lowlat between nodes" 3 60 \
    "--mca coll_arc_ranks_per_node 1" shown lowlat "(3 nodes) "

# What is chosen for each number of ranks: tests/unit/test_quant_choose.c.
for row in "1e-2 8" "1e-3 5" "1e-4 2" "1e-5 8" "1e-6 5" "1e-8 2"; do
    mpi_run "np=${row#* }" "${row#* }" 60 "$on --mca coll_quant_target_nmse ${row% *}" \
        verified -t "${row% *}"
done
for algorithm in $(mpi_algorithms quant); do
    mpi_run "np=4 $algorithm" 4 60 "$on --mca coll_quant_algorithm $algorithm \
        --mca coll_arc_ranks_per_node 2 \
        --mca coll_quant_target_nmse 5e-5" verified -t 5e-5
done
# Nothing is that accurate, or not what was named: exact sums, and the reason in the report.
for wish in "target_nmse 1e-12" "target_nmse 1e-6 --mca coll_quant_format int8"; do
    mpi_judge "np=3 $wish" mpi_start 3 60 "$on --mca coll_arc_verbose 2 --mca coll_quant_$wish" agree
    mpi_says "the report tells why" "passed  nothing allowed is below target_nmse here .* [1-9]" 1
done
mpi_judge "np=2 a target that is no number" \
    mpi_start 2 60 "$on --mca coll_quant_format fp32 --mca coll_quant_target_nmse low" agree
mpi_says "one message" \
    'the value "low" of parameter coll_quant_target_nmse cannot be used; it must be a number from 0 to 1' 1
mpi_judge "np=3 a key that is refused" mpi_start 3 60 "$limited" shown quant
mpi_says "one message" \
    'the value "most" of info key arc_quant is not understood and changes nothing; use' 1
mpi_done
