#!/bin/sh
# Error feedback of coll_quant; feedback.c has the promises.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup components

few="--mca coll_quant_enable 1 --mca coll_quant_min_bytes 4"
fed="$few --mca coll_quant_error_feedback 1"
for format in int4 int8; do
    mpi_run "np=2 $format" 2 60 "$fed --mca coll_quant_format $format" feedback -m
done
for types in "all double" "bf16 bf16"; do
    mpi_run "np=3 int4, several vectors, types ${types% *}" 3 60 "$fed \
        --mca coll_quant_format int4 --mca coll_quant_types ${types% *}" feedback -l -T "${types#* }"
done
# What int8, int6 and int4 meet on 2 ranks without feedback, and not with it.
for target in 7e-5 1.2e-3 2.2e-2; do
    mpi_run "np=2" 2 60 "$fed --mca coll_quant_target_nmse $target" feedback -t $target
done
# Buckets of a training.
for format in int4 int8; do
    on="$fed --mca coll_quant_collectives all --mca coll_quant_format $format"
    for scatters in "" -s; do
        # shellcheck disable=SC2086
        mpi_run "np=3 $format buckets $scatters" 3 60 "$on" feedback -b fixed $scatters
    done
done
on="$fed --mca coll_quant_collectives all --mca coll_quant_format int4"
on="$on --mca coll_quant_types all"
mpi_run "np=2 allreduce of doubles" 2 60 "$on" feedback -b fixed -T double
mpi_run "np=2 allreduce of 16-bit floats" 2 60 "$fed --mca coll_quant_format int4 \
    --mca coll_quant_types bf16" feedback -b fixed -T bf16
mpi_run "np=3 reduce_scatter of doubles" 3 60 "$on" feedback -b fixed -s -T double
mpi_run "np=3 reduce_scatter of 16-bit floats" 3 60 "$fed --mca coll_quant_format int4 \
    --mca coll_quant_collectives all --mca coll_quant_types bf16" feedback -b fixed -s -T bf16
on="$few --mca coll_quant_collectives all --mca coll_quant_format int4 --mca coll_quant_types all"
for places in moving one; do
    mpi_run "np=2 allreduce, $places" 2 60 "$on --mca coll_quant_error_feedback 5" \
        feedback -b $places
done
mpi_run "np=3 reduce_scatter, moving" 3 60 "$on --mca coll_quant_error_feedback 5" \
    feedback -b moving -s
# What is not so: told once.
mpi_start 2 60 "$on --mca coll_quant_error_feedback 4" feedback -b fixed
cp "$mpi_scratch/err" "$mpi_scratch/said" # that sums are off is what is asked for
mpi_label="np=2 a sequence of another length"
mpi_says "one warning" "coll_quant_error_feedback is not the number of calls that repeat" 1
mpi_run "np=2 the info key again and again" 2 60 \
    "--mca coll_quant_min_bytes 4 --mca coll_quant_error_feedback 3" feedback -r
kept="--mca coll_arc_max_memory $((16 * 70001 * 4))"
mpi_run "np=2 as many vectors as there is room for" 2 60 "$fed $kept" feedback -v 16
mpi_judge "np=2 more vectors than there is room for" mpi_start 2 60 "$fed $kept" feedback -v 17
mpi_says "one warning" "error feedback forgets a vector of 70001 numbers" 1
mpi_run "np=2 room for three vectors" 2 60 \
    "$fed --mca coll_arc_max_memory $((3 * 70001 * 4)) --mca coll_arc_verbose 0" feedback -k
mpi_judge "np=2 a vector that is too long" mpi_start 2 60 "$fed --mca coll_arc_max_memory 64k" feedback -v 2
mpi_says "one warning" "no error feedback for a vector of 70001 numbers: coll_arc_max_memory allows 65536" 1
mpi_judge "np=2 stages" mpi_start 2 60 "$fed --mca coll_quant_collectives all" feedback -h
mpi_says "one warning" "coll_quant_error_feedback is for sums and has no effect on MPI_Allgather" 1
mpi_done
