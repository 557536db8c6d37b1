#!/bin/sh
# Shared memory that grows with the messages (growth.c): up to its limit, and
# where no more is to be had everything goes on without.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_alone "$@"
mpi_setup components

said="--mca coll_arc_verbose 10"
# What a communicator needs at most, 2 MiB and its head, fits into the second region.
limit_bytes=$((4 << 20))

mpi_note_shared_memory
for ranks in 2 5; do
    mpi_run "np=$ranks" "$ranks" 60 "" growth -g -a $limit_bytes
done
for algorithm in $(mpi_lowlat_algorithms node); do
    options="--mca coll_lowlat_algorithm $algorithm $said"
    mpi_judge "np=3 $algorithm in 1 MiB" mpi_start 3 60 "$options --mca coll_arc_max_memory 1m" growth -c 4 -r 7 -t 2
    # Each communicator asks once; what the first ones had is there for the second ones.
    mpi_says "two times four do not grow" "stays at 73728 bytes" 8
done
mpi_judge "np=3 twelve communicators in 2 MiB" mpi_start 3 60 "$said --mca coll_arc_max_memory 2m" growth -c 12
mpi_serves 1
# One of them grows while there is room; the last ones find none.
mpi_says "six have none" "not used: .*max_memory is reached" 6

# A long first message asks for more than there may be, and gets what there is.
mpi_start 2 60 "--mca coll ^quant --mca coll_arc_verbose 10 --mca coll_arc_max_memory 1m" \
    arc_allreduce -m 1048576:1048576 -i 5 -x 0 -c
mpi_label="np=2 a long first message in 1 MiB"
mpi_result "$mpi_status" "$mpi_label: sums are right"
cp "$mpi_scratch/err" "$mpi_scratch/said"
mpi_serves 1

plain="$(mpi_find growth) -c 4"
poor="env OMPI_MCA_coll_arc_max_memory=300k $plain"
for rank in 0 1; do
    [ $rank = 0 ] && first=$poor second=$plain || first=$plain second=$poor
    mpi_judge "a limit on rank $rank only" mpi_start_each 60 "$said" "$first" "$second"
    mpi_serves 1
    mpi_says "two communicators have none" "not used: .*max_memory is reached" 2
    mpi_says "two do not grow" "stays at 73728 bytes" 2
done
mpi_run "np=2 250 communicators" 2 240 "--mca coll_arc_max_memory 256m" \
    growth -c 250 -r 1 -m 100000
mpi_nothing_left
mpi_result $? "nothing of these jobs is left in shared memory"
mpi_done
