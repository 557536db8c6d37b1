#!/bin/sh
# Error feedback of coll_quant; feedback.c has the promises.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "${srcdir:-$(dirname "$0")}/mpi_run.sh"
mpi_setup
mpi_have_plugin || mpi_skip_all "needs the components"

fed="--mca coll_quant_enable 1 --mca coll_quant_min_bytes 4 --mca coll_quant_error_feedback 1"
for format in int4 int8; do
    mpi_run "np=2 $format" 2 60 "$fed --mca coll_quant_format $format" feedback -m
    for types in all bf16; do
        mpi_run "np=3 $format, several vectors, types $types" 3 60 "$fed \
            --mca coll_quant_format $format --mca coll_quant_types $types" feedback -l $types
    done
done
# What int8, int6 and int4 meet on 2 ranks without feedback, and not with it.
for target in 7e-5 1.2e-3 2.2e-2; do
    mpi_run "np=2" 2 60 "$fed --mca coll_quant_target_nmse $target" feedback -t $target
done
# What is not so: told once.
mpi_run "np=2 as many vectors as are known" 2 60 "$fed" feedback -v 16
mpi_start 2 60 "$fed" feedback -v 17
mpi_judge "np=2 more vectors than are known"
mpi_says "np=2 more vectors than are known: one warning" \
    "error feedback knows 16 vectors of a communicator" 1
mpi_start 2 60 "$fed --mca coll_quant_collectives all" feedback -h
mpi_judge "np=2 stages"
mpi_says "np=2 stages: one warning" \
    "coll_quant_error_feedback is for MPI_Allreduce and has no effect on MPI_Reduce_scatter_block" 1
mpi_done
