#!/bin/sh
# coll_quant as a program sees it; quantized.c has the promises. Every algorithm, with every cut of the messages,
# is in test_stages.sh and test_levels.sh.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup components

on="--mca coll_quant_enable 1"
mpi_run "np=8 4M elements" 8 240 "$on --mca coll_quant_algorithm full_loop" quantized -n 4194304
for ranks in 2 3 4 5; do
    usual=full_loop # what auto takes
    [ "$ranks" -le 4 ] || usual=semi_loop
    mpi_run "np=$ranks 1M elements" "$ranks" 120 "$on" quantized -a "$usual" -n 1048576
done
# Short vectors go by doubling, from the least length on that is quantized by default, 8 KiB.
mpi_min_bytes=$OMPI_MCA_coll_quant_min_bytes
unset OMPI_MCA_coll_quant_min_bytes
for ranks in 4 5 6; do
    mpi_run "doubling np=$ranks" "$ranks" 120 "$on" quantized -a doubling -n 8192 -m 8192
done
mpi_run "doubling np=4 over TCP, no eager messages" 4 120 "$on --mca pml ob1 --mca btl self,tcp \
    --mca btl_tcp_eager_limit 128 --mca btl_tcp_rndv_eager_limit 128" quantized -a doubling -n 8192 -m 8192
OMPI_MCA_coll_quant_min_bytes=$mpi_min_bytes
export OMPI_MCA_coll_quant_min_bytes
# Every format by its error, c of docs/format.md, on a communicator with the format as its key.
mpi_run "np=3 formats" 3 120 "$on" quantized -n 1048576 -f "$(tr '\n' ' ' <<'END'
int4 1.157e-2
int5 2.521e-3
int6 5.90e-4
int7 1.432e-4
int9 8.931e-6
int10 2.224e-6
int11 5.549e-7
int12 1.386e-7
int13 3.463e-8
int14 8.655e-9
int16 5.41e-10
fp8_e4m3 6.29e-4
fp8_e5m2 2.51e-3
bf16 2.75e-6
fp16 4.31e-8
END
)"
# Parameters about how messages are cut must not change the error.
mpi_for_tests mpi_run "np=4 small segments" 4 120 "$on --mca coll_quant_segment_bytes 16k" quantized -n 1048576
# Calls cut by their length: blocks of 64 at first, so that the usual errors have to come out, and of
# any length in the calls after it; the longest blocks.
flat=$(mpi_algorithms quant | grep -vx hierarchical)
by_length="--mca coll_quant_minishards 64 --mca coll_quant_microshards 5"
for algorithm in $flat; do
    mpi_run "$algorithm np=4 minishards 64, microshards 5" 4 120 \
        "$on --mca coll_quant_algorithm $algorithm $by_length" quantized -a "$algorithm" -n 1048576
done
mpi_run "hierarchical np=4 minishards 64, microshards 5" 4 120 "$on $by_length \
    --mca coll_quant_algorithm hierarchical --mca coll_arc_ranks_per_node 2" \
    quantized -a hierarchical -p 2 -n 1048576
mpi_run "np=2 minishards 1, microshards 1" 2 120 "$on --mca coll_quant_minishards 1 \
    --mca coll_quant_microshards 1" quantized -n 1048576 -c 7.518e-5
mpi_run "np=4 block 4096" 4 120 "$on --mca coll_quant_block 4096" quantized -n 1048576 -c 7.518e-5
mpi_judge "np=2 minishards 64, microshards 5, told" \
    mpi_start 2 60 "$on --mca coll_arc_verbose 10 $by_length" quantized -n 1048576 -c 4.195e-5
mpi_says "said" "block up to 4096, up to 262144 numbers a message, minishards 64, microshards 5" 1
# Naming the component asks for it, too.
mpi_run "np=2 named in --mca coll" 2 60 \
    "--mca coll lowlat,quant,tuned,basic,libnbc,self" quantized -n 1048576
# The key over the life of a communicator; unknown words are part of it, and verbose 0 silences them.
for ranks in 2 3; do
    mpi_run "np=$ranks info key" "$ranks" 120 "--mca coll_arc_verbose 0" info_key
    mpi_run "np=$ranks info key, enabled" "$ranks" 60 "$on --mca coll_arc_verbose 0" info_key -p
done
# Exact: by format, and switched off in so many words although the list names it.
mpi_run "np=3 fp32" 3 60 "$on --mca coll_quant_format fp32" agree
mpi_run "np=2 off though named in --mca coll" 2 60 \
    "--mca coll lowlat,quant,tuned,basic,libnbc,self --mca coll_quant_enable 0" agree

# Doubles, where they are asked for.
mpi_run "np=3 floats only" 3 60 "$on" quantized -t double -q none
loop="--mca coll_quant_algorithm full_loop"
for ranks in 2 3 4; do
    mpi_run "np=$ranks types all" "$ranks" 60 "$on $loop --mca coll_quant_types all \
        --mca coll_quant_verify_every 2" quantized -t double -c 3.55e-5
done
int16="$on $loop --mca coll_quant_types double --mca coll_quant_format int16"
mpi_run "np=3 types double, of floats" 3 60 "$int16" quantized -t float -q none
mpi_run "np=3 types double, int16" 3 60 "$int16" quantized -t double -c 5.39e-10
mpi_done
