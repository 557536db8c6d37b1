#!/bin/sh
# The floating-point environment of the program: quantized sums (fenv.c), and the set-up, what is learned
# and the time limit of coll_lowlat, on communicators of several shapes (trapped.c); and sums that are pending
# while it changes (polled.c).
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup components

mpi_run "np=4" 4 60 "--mca coll_quant_enable 1" fenv
mpi_run "np=4 nodes of 2, shared memory" 4 60 \
    "--mca coll_quant_enable 1 --mca coll_arc_ranks_per_node 2" fenv
mpi_run "np=3 in turn" 3 60 "--mca coll_quant_enable 1 --mca coll_quant_block 8" fenv
# All formats.  coll_lowlat does not matter here.
mpi_judge "np=3 formats" mpi_start 3 120 "--mca coll ^lowlat --mca coll_quant_enable 1 --mca coll_arc_verbose 2 \
    --mca coll_quant_min_bytes 4" fenv $(mpi_algorithms quant format)
mpi_serves 1 quant
mpi_says "no call is passed down" 'passed  .* [1-9][0-9]* ' 0
for limit in abs rel; do
    mpi_run "np=3 target_$limit" 3 60 "--mca coll_quant_enable 1 --mca coll_quant_min_bytes 4 \
        --mca coll_quant_target_$limit 1e-3" fenv auto
done
mpi_run "np=4 one node" 4 60 "" trapped
mpi_run "np=4 one node, set up late" 4 60 "--mca coll_arc_setup_calls 5" trapped
mpi_run "np=4 time limit" 4 60 "--mca coll_arc_timeout 20" trapped
for per_node in 1 2; do
    mpi_run "np=4 set-up, $per_node a node" 4 60 "--mca coll_arc_ranks_per_node $per_node" trapped
    mpi_run "np=4 set-up, $per_node a node, time limit" 4 60 \
        "--mca coll_arc_ranks_per_node $per_node --mca coll_arc_timeout 20" trapped
done
mpi_run "np=4 puts" 4 60 "--mca coll_arc_ranks_per_node 2 --mca coll_lowlat_nodes_transport puts" trapped
at_once="--mca coll_arc_setup_calls 0"
for options in "" -t; do
    mpi_run "np=3 polled $options" 3 60 "$at_once" polled $options
    mpi_run "np=3 polled $options, nodes of 1" 3 60 "$at_once --mca coll_arc_ranks_per_node 1" polled $options
    mpi_run "np=4 polled $options, nodes of 2" 4 60 "$at_once --mca coll_arc_ranks_per_node 2" polled $options
    mpi_run "np=4 polled $options, puts" 4 60 \
        "$at_once --mca coll_arc_ranks_per_node 2 --mca coll_lowlat_nodes_transport puts" polled $options
done
mpi_done
