#!/bin/sh
# Every cause for passing a call down gives right answers and no message, under
# the default limits and under tight ones.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup

for ranks in 1 2 3 5 8; do
    mpi_run "np=$ranks" "$ranks" 90 "" fallback
done
mpi_run "np=2 longer than an int" 2 600 "--mca coll_quant_enable 1" counts
if mpi_have_plugin; then
    mpi_run "np=4 up to 8 bytes" 4 90 "--mca coll_lowlat_rules below:8-inf" fallback
    mpi_run "np=4 up to 16 MiB" 4 90 "--mca coll_lowlat_rules below:16m-inf" fallback
    for algorithm in $(mpi_lowlat_algorithms node); do
        mpi_run "np=4 $algorithm" 4 90 "--mca coll_lowlat_algorithm $algorithm" fallback
    done
    mpi_run "np=4 quant enabled" 4 90 "--mca coll_quant_enable 1 --mca coll_quant_min_bytes 4" \
        fallback
fi
mpi_done
