#!/bin/sh
# A rank that does not come: with a time limit the others get an error, stderr
# names the missing rank, and the job ends by itself (late.c).
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "${srcdir:-$(dirname "$0")}/mpi_run.sh"
mpi_setup
mpi_have_plugin || mpi_skip_all "needs the components"

# check_late LABEL RANKS MISSING "MCA ARGUMENTS" ELEMENTS
check_late() {
    mpi_start "$2" 40 "$4" late -r "$3" -n "$5"
    cp "$mpi_scratch/err" "$mpi_scratch/messages"
    : >"$mpi_scratch/err" # messages are what this test asks for
    mpi_report "$1"
    grep -Eq "rank[s]?( [0-9]+)*,? $3\\b" "$mpi_scratch/messages"
    mpi_result $? "$1: stderr names rank $3"
    mpi_show "$mpi_scratch/messages"
}

limit="--mca coll_lowlat_timeout 2"
check_late "lowlat, 8 elements, np=3" 3 1 "$limit" 8
check_late "lowlat, 5000 elements, np=4" 4 3 "$limit" 5000
for algorithm in $(mpi_algorithms lowlat); do
    check_late "lowlat $algorithm, np=2" 2 1 "$limit --mca coll_lowlat_algorithm $algorithm" 8
done
check_late "quant, np=2" 2 1 "--mca coll_quant_enable 1 --mca coll_quant_timeout 2" 300000
mpi_done
