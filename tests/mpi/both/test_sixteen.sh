#!/bin/sh
# Sums of 16-bit floats in MPI_UINT16_T, by each way that they can take (sixteen.c); integers where
# nobody asked for floats, or not all ranks did.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup components

lowlat="--mca coll_arc_verbose 2 --mca coll_lowlat_uint16_as"
exact="--mca coll_quant_enable 1 --mca coll_quant_min_bytes 4 --mca coll_arc_verbose 2"
sixteen=$(mpi_find sixteen)

for type in bf16 fp16; do
    for ranks in 2 5; do
        mpi_judge "np=$ranks $type" mpi_start "$ranks" 60 "$lowlat $type" sixteen -f $type
        mpi_says "no vector is passed down" 'passed  no algorithm here is for messages.* [1-9]' 0
    done
    for memory in 1g 64k; do # enough of it, and too little for a set-up
        mpi_run "np=3 $type nonblocking, $memory" 3 60 "--mca coll_lowlat_uint16_as $type \
            --mca coll_arc_max_memory $memory --mca coll_arc_verbose 0" sixteen -f $type -i
    done
    mpi_judge "np=3 $type passed down" \
        mpi_start 3 60 "$lowlat $type --mca coll_lowlat_rules below:16-inf" sixteen -f $type
    mpi_says "longer vectors are passed down" 'passed  no algorithm here is for messages.* [1-9][0-9]* ' 1
    for stages in "--mca coll_quant_format fp32" "--mca coll_quant_stages none"; do
        mpi_judge "np=4 $type by coll_quant, ${stages##*_}" \
            mpi_start 4 60 "$exact $stages --mca coll_quant_types $type" sixteen -f $type
        mpi_serves 1 quant
    done
    mpi_judge "np=3 $type by coll_quant, verified" \
        mpi_start 3 60 "$exact --mca coll_quant_format fp32 --mca coll_quant_types $type \
        --mca coll_quant_verify_every 2" sixteen -f $type
    mpi_serves 1 quant
done
mpi_run "np=3 bf16, all collectives" 3 60 "--mca coll_quant_enable 1 --mca coll_quant_min_bytes 4 \
    --mca coll_quant_format fp32 --mca coll_quant_types bf16 --mca coll_quant_collectives all" sixteen -f bf16 -l 1000
# Between nodes: as floats, rounded once; or as 16-bit floats, and each step from node to node rounds.
# check_rounded RANKS PER_NODE ROUNDINGS: the bits are tested by test_reproducible.sh, here the error.
check_rounded() {
    for type in bf16 fp16; do
        nodes="--mca coll_arc_ranks_per_node $2 --mca coll_lowlat_reproducible 1 --mca coll_lowlat_uint16_as $type"
        [ "$1$2" != 42 ] || mpi_run "np=$1 nodes of $2 $type" "$1" 60 "$nodes" rounded -f $type
        mpi_run "np=$1 nodes of $2 $type, 16 bits between them" "$1" 60 \
            "$nodes --mca coll_lowlat_nodes_16bit 1" rounded -f $type -r "$3"
    done
}
check_rounded 3 1 2
check_rounded 4 2 2
check_rounded 8 1 3
mpi_run "np=4 fp16, evenly distributed" 4 60 "--mca coll_arc_setup_calls 0 --mca coll_lowlat_uint16_as fp16" \
    rounded -f fp16 -e
mpi_run "np=4 nodes of 2 fp16 exact" 4 60 "--mca coll_arc_ranks_per_node 2 --mca coll_lowlat_reproducible 1 \
    --mca coll_lowlat_uint16_as fp16" sixteen -f fp16 -l 70001

# Open MPI's own type says what it is.
mpi_run "np=3 MPIX_C_FLOAT16" 3 60 "--mca coll_arc_setup_calls 0" sixteen -f fp16 -n
mpi_run "np=4 nodes of 2 MPIX_C_FLOAT16" 4 60 "--mca coll_arc_ranks_per_node 2 \
    --mca coll_lowlat_reproducible 1" sixteen -f fp16 -n -l 70001
mpi_judge "np=3 MPIX_C_FLOAT16 by coll_quant" \
    mpi_start 3 60 "--mca coll ^lowlat $exact --mca coll_quant_format fp32 --mca coll_quant_types fp16" \
    sixteen -f fp16 -n

# Both know; coll_quant takes the long ones only.
mpi_run "np=3 both components" 3 60 "--mca coll_quant_enable 1 --mca coll_quant_format fp32 \
    --mca coll_quant_min_bytes 100k --mca coll_quant_types fp16 --mca coll_lowlat_uint16_as fp16" \
    sixteen -f fp16
mpi_run "np=3 coll_quant is not enabled" 3 60 "--mca coll_quant_types bf16" \
    sixteen -f bf16
mpi_run "np=3 none" 3 60 "" sixteen
mpi_judge "np=2 a value that there is not" mpi_start 2 60 "--mca coll_lowlat_uint16_as fp8" sixteen
mpi_says "said once" '"fp8" of parameter coll_lowlat_uint16_as' 1

# Data of the benchmark are numbers of their type, and of no other.
for type in bf16 fp16; do
    mpi_start 2 60 "--mca coll_lowlat_uint16_as $type" \
        arc_allreduce -m 2:4k -i 5 -x 0 -c --alter -T $type
    test "$mpi_status" -eq 0 && test "$(grep -c Pass "$mpi_scratch/out")" -eq 12
    mpi_result $? "np=2 arc_allreduce has $type"
    mpi_start 2 60 "" arc_allreduce -m 4k:4k -i 5 -x 0 -c --alter -T $type
    grep -q Fail "$mpi_scratch/out"
    mpi_result $? "np=2 arc_allreduce notices $type added as integers"
done

# Of a call that is passed down or verified all numbers are widened at once.
mpi_judge "np=3 no memory to widen" mpi_start 3 40 "--mca coll_quant_enable 1 --mca coll_quant_min_bytes 1g \
    --mca coll_quant_types bf16" limit_edges -p
mpi_says "stderr names the rank" "rank 2: MPI_Allreduce failed: out of memory to widen 16-bit floats" 1
mpi_judge "np=3 no memory to widen what is to be verified" \
    mpi_start 3 40 "$exact --mca coll_quant_types bf16 --mca coll_arc_timeout 20 \
    --mca coll_quant_verify_every 2" limit_edges -w
mpi_says "one warning" "a call is not verified: some rank has no memory" 1
mpi_judge "np=3 no memory to widen, nor a need for it" \
    mpi_start 3 40 "$exact --mca coll_quant_types bf16 --mca coll_arc_timeout 20 \
    --mca coll_quant_verify_every 1000" limit_edges -w
mpi_says "no warning" "not verified" 0

# Quantized: what is off by the error of the sum does not become infinite when it is rounded.
for type in bf16 fp16; do
    for quantized in "int8 --mca coll_quant_verify_every 2" "bf16" \
        "int4 --mca coll_quant_algorithm direct"; do
        mpi_run "np=3 $type $quantized" 3 60 "--mca coll_quant_enable 1 --mca coll_quant_min_bytes 4 \
            --mca coll_quant_types $type --mca coll_quant_format $quantized" topmost -f $type
    done
done
# In the program's floating-point environment: verified, segment by segment, and passed down.
for way in "verify_every 1" "verify_every 0" "format fp32"; do
    mpi_run "np=3 fp16 $way" 3 60 "--mca coll ^lowlat --mca coll_quant_enable 1 \
        --mca coll_quant_min_bytes 4 --mca coll_quant_types fp16 --mca coll_quant_$way" fenv -u
done

# Floats for all ranks whatever the info key says, and whatever the form of the first call.
for key in "off" "fp32" "fp32 -K off" "int8 -K garbage"; do
    # shellcheck disable=SC2086
    mpi_judge "np=3 bf16, key $key" \
        mpi_start 3 60 "--mca coll_quant_types bf16" sixteen -f bf16 -l 1000 -k $key
    # shellcheck disable=SC2086
    mpi_deferred persistent mpi_judge "np=3 bf16, persistent, key $key" \
        mpi_start 3 60 "--mca coll_quant_types bf16" sixteen -f bf16 -l 1000 -k $key
done
# Nor where no allreduce is to be quantized.
for collective in reduce_scatter_block allgather; do
    mpi_judge "np=3 bf16, $collective only" \
        mpi_start 3 60 "$exact --mca coll_quant_types bf16 --mca coll_quant_collectives $collective" \
        sixteen -f bf16 -l 1000 -i
    mpi_deferred persistent mpi_judge "np=3 bf16, $collective only, persistent" \
        mpi_start 3 60 "$exact --mca coll_quant_types bf16 --mca coll_quant_collectives $collective" \
        sixteen -f bf16 -l 1000
done
# Nor behind a blocking call that found out that the key differs.
floats="--mca coll_quant_types bf16 --mca coll_quant_min_bytes 4"
for key in "off" "garbage"; do
    mpi_judge "np=3 bf16, key int8, last $key, blocking before" \
        mpi_start 3 60 "$floats" sixteen -f bf16 -l 1000 -k int8 -K $key -b
    mpi_deferred persistent mpi_judge "np=3 bf16, key int8, last $key, blocking before persistent" \
        mpi_start 3 60 "$floats" sixteen -f bf16 -l 1000 -k int8 -K $key -b
done
# Where ranks cannot know of each other before a blocking call.
export OMPI_MCA_pmix_base_async_modex=1
mpi_judge "np=3 bf16, asynchronous exchange, installed everywhere" \
    mpi_patiently mpi_start 3 20 "$floats --mca coll_arc_installed_everywhere 1 --mca coll_arc_verbose 0" \
    sixteen -f bf16 -l 1000 -e
# Open MPI can add its own type: nothing is refused.
mpi_judge "np=3 MPIX_C_FLOAT16, asynchronous exchange, nonblocking first" \
    mpi_patiently mpi_start 3 20 "--mca coll_quant_enable 1 --mca coll_quant_types fp16 --mca coll_arc_verbose 0" \
    sixteen -f fp16 -n -l 1000 -o
unset OMPI_MCA_pmix_base_async_modex

# Whatever call finds it out.
for parameter in lowlat_uint16_as quant_types; do
    component=${parameter%%_*}
    for first in "" " -i" " -p" " -p -i"; do
        each=$sixteen$first
        odd="env OMPI_MCA_coll_$parameter=bf16 $each"
        mpi_judge "coll_$component: floats on rank 0 only,$first" mpi_start_each 60 "" "$odd" "$each"
        mpi_says "one warning" "coll_$component: .*parameters are not the same on all ranks; set" 1
        mpi_judge "coll_$component: floats on rank 2 only,$first" mpi_start_each 60 "" "$each" "$each" "$odd"
        mpi_says "one warning" "coll_$component: .*parameters are not the same on all ranks; set" 1
    done
done
mpi_done
