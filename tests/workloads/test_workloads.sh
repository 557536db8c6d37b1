#!/bin/sh
# The workloads at a small size: what they compute is right, with ARC and without.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
here=$(dirname "$0")
. "$here/../mpi/lib/mpi_run.sh"
mpi_setup components
for workload in "$here"/*/run; do
    name=$(basename "$(dirname "$workload")")
    timeout -k 5 300 "$workload" --small >"$mpi_scratch/out" 2>&1 </dev/null
    mpi_status=$?
    case $mpi_status in
    77) mpi_skip "$name" "$(tail -n 1 "$mpi_scratch/out")" ;;
    *)
        mpi_result $mpi_status "$name: what it computes is right"
        [ $mpi_status -eq 0 ] || mpi_show "$mpi_scratch/out"
        ;;
    esac
done
mpi_done
