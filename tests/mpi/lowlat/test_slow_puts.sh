#!/bin/sh
# Puts that are slow are tried between nodes, and not taken: what is timed here needs the processors.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_alone "$@"
mpi_setup components

mpi_judge "slow puts" mpi_for_tests mpi_start 2 60 "--mca coll_arc_ranks_per_node 1 --mca coll_arc_verbose 10 \
    --mca coll_arc_explore_percent 20" unanswered -s 1000 -t 1
grep -q " bytes, after .* puts [a-z]* [0-9.]* us" "$mpi_scratch/said"
mpi_result $? "slow puts are tried"
mpi_says "they are not chosen" "^ranks=.*over=puts" 0
mpi_done
