#!/bin/sh
# coll_lowlat_reproducible: the bits of rank order, whatever the length of the message, the place in
# it and the algorithm (reproducible.c). The runs without it show that the program would notice.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "${srcdir:-$(dirname "$0")}/mpi_run.sh"
mpi_setup
mpi_have_plugin || mpi_skip_all "needs the components"

on="--mca coll_lowlat_reproducible 1 --mca coll_lowlat_uint16_as bf16"
for ranks in 2 4; do
    mpi_run "np=$ranks" "$ranks" 60 "$on" reproducible -h bf16
done
for ranks in 3 5 8; do
    mpi_run "np=$ranks" "$ranks" 60 "$on" reproducible -h bf16 -l 300007
done
mpi_for_tests mpi_run "np=4 small blocks and chunks" 4 60 "$on" reproducible -h bf16 -l 70001
mpi_run "np=4 max_bytes does not count" 4 60 "$on --mca coll_lowlat_max_bytes 1k" \
    reproducible -h bf16 -l 70001
for algorithm in oneshot twoshot; do
    mpi_run "np=5 $algorithm" 5 60 "$on --mca coll_lowlat_algorithm $algorithm" \
        reproducible -h bf16 -l 70001
done
for algorithm in butterfly half_butterfly; do
    mpi_start 4 60 "$on --mca coll_lowlat_algorithm $algorithm" reproducible -h bf16 -l 300007
    mpi_judge "np=4 $algorithm is not used"
    mpi_says "np=4 $algorithm is not used: said once" "coll_lowlat_algorithm $algorithm is ignored" 1
    for ranks in 4 5; do
        mpi_run "np=$ranks $algorithm" "$ranks" 60 "--mca coll_lowlat_algorithm $algorithm" \
            reproducible -d -l 20011
    done
done
mpi_done
