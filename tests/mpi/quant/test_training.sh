#!/bin/sh
# A training that knows nothing of ARC (bench/train.py) ends with the same parameters on all ranks
# when its gradients are quantized, and learns as much as with exact sums; also as ZeRO does it.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup components

python=/usr/bin/python3
script=$(dirname "$0")/../../bench/train.py
[ -x $python ] || mpi_skip_all "no $python"
$python -c 'import mpi4py' 2>/dev/null || mpi_skip_all "no mpi4py (Debian: python3-mpi4py)"
$python -c 'import numpy' 2>/dev/null || mpi_skip_all "no numpy (Debian: python3-numpy)"

ranks=4
epochs=3
samples=4096
batch=32
percent=1 # int8 changes the loss by a tenth of it
steps=$((epochs * samples / ranks / batch))
# One thread for each rank, whatever library numpy multiplies with.
OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
export OMP_NUM_THREADS OPENBLAS_NUM_THREADS

# train NAME "MCA ARGUMENTS" CALLS UPDATE: leaves the losses, one per epoch, in $mpi_scratch/NAME
train() {
    mpi_start $ranks 180 "$2 --mca coll_arc_verbose 2" $python "$script" \
        --epochs $epochs --samples $samples --held-out 1024 --batch $batch --update "$4"
    mpi_result "$mpi_status" "$1: ends well"
    [ "$mpi_status" -eq 0 ] || mpi_show "$mpi_scratch/err"
    grep -q '^# the parameters of all ranks are the same bytes$' "$mpi_scratch/out"
    mpi_result $? "$1: the same parameters on all ranks"
    calls=$(awk '/calls of rank 0$/ { mine = /coll_quant/ }
        mine && $1 == "served" { calls += $3 } END { print calls + 0 }' "$mpi_scratch/err")
    test "$calls" -eq "$3"
    mpi_result $? "$1: $calls sums of gradients are quantized, of $steps"
    awk '$1 ~ /^[0-9]+$/ { print $2 }' "$mpi_scratch/out" >"$mpi_scratch/$1"
    test "$(wc -l <"$mpi_scratch/$1")" -eq $epochs
    mpi_result $? "$1: a loss for each epoch: $(tr '\n' ' ' <"$mpi_scratch/$1")"
}

int8="--mca coll_quant_enable 1"
train exact "--mca coll_quant_enable 0" 0 all
train int8 "$int8" $steps all
awk 'NR == 1 { first = $1 } END { exit !($1 < first / 2) }' "$mpi_scratch/int8"
mpi_result $? "int8: the loss falls to less than half of that of the first epoch"
train shards "$int8 --mca coll_quant_collectives all --mca coll_quant_error_feedback 1" \
    $steps shards
train copies "$int8 --mca coll_quant_collectives all" $((2 * steps)) copies
for name in int8 shards copies; do
    paste "$mpi_scratch/exact" "$mpi_scratch/$name" | awk -v percent=$percent '
        { low = $1 * (1 - percent / 100); high = $1 * (1 + percent / 100) }
        END { exit !(NR > 0 && low <= $2 && $2 <= high) }'
    mpi_result $? "$name: the last loss is within $percent % of that of exact sums"
done
mpi_done
