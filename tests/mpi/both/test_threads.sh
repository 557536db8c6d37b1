#!/bin/sh
# MPI_THREAD_MULTIPLE with a communicator per thread; threads.c says how.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup

mpi_run "np=2" 2 120 "" threads
mpi_run "np=4" 4 120 "" threads -n 300
# Where processors are not shared staging is tried.
mpi_for_tests mpi_run "small stacks" 2 120 "--mca coll_arc_setup_calls 0" threads -n 110 -s 24
mpi_done
