#!/bin/sh
# Limits of the error of every element: coll_quant_target_abs and coll_quant_target_rel; limits.c
# has the promises.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup components
on="--mca coll_quant_enable 1 --mca coll_quant_types all"
limit="--mca coll_quant_target"

for ranks in 2 3 4; do
    for most in 1 1e-2; do
        mpi_run "np=$ranks abs $most" "$ranks" 60 "$on ${limit}_abs $most" limits -a $most -q
    done
    for most in 0.1 1e-3; do
        mpi_run "np=$ranks rel $most" "$ranks" 60 "$on ${limit}_rel $most" limits -r $most -q
    done
done
mpi_run "np=3 doubles, abs" 3 60 "$on ${limit}_abs 1e-2" limits -a 1e-2 -d -q
mpi_run "np=3 doubles, rel" 3 60 "$on ${limit}_rel 1e-3" limits -r 1e-3 -d -q
mpi_run "np=2 rel, many lengths" 2 60 "$on ${limit}_rel 0.1" limits -r 0.1 -l 24 -q
mpi_run "np=4 both" 4 60 "$on ${limit}_abs 1e-2 ${limit}_rel 1e-2" limits -a 1e-2 -r 1e-2 -q
# The program has new buffers in each call, of which a warning would tell.
mpi_run "np=4 feedback" 4 60 "$on ${limit}_rel 1e-2 --mca coll_quant_error_feedback 1 \
    --mca coll_arc_verbose 0" limits -r 1e-2 -q
mpi_run "np=2 verified" 2 60 "$on ${limit}_rel 1e-2 --mca coll_quant_verify_every 1" \
    limits -r 1e-2 -q
mpi_run "np=4 hierarchical" 4 60 "$on ${limit}_rel 1e-2 --mca coll_arc_ranks_per_node 2" \
    limits -r 1e-2 -q
# No format does: the calls go down, but for those that try again.
mpi_judge "np=3 abs 1e-5" mpi_start 3 60 "$on ${limit}_abs 1e-5 --mca coll_arc_verbose 2" limits -a 1e-3
mpi_says "the report tells why" "passed  no format keeps target_abs or target_rel with these numbers .* [1-9]" 1
# Totals that are exact anyway tell nothing.
mpi_judge "np=3 abs 1e-2, stages rs" \
    mpi_start 3 60 "$on ${limit}_abs 1e-2 --mca coll_quant_stages rs --mca coll_arc_verbose 2" limits -a 1e-2 -q
mpi_says "no call is passed down" "passed  no format keeps .* [1-9]" 0
# What a limit meets seldom.
edges="$on ${limit}_rel 1e-2 --mca coll_arc_setup_calls 0 --mca coll_arc_explore_percent 0"
mpi_run "np=2 feedback of larger numbers" 2 60 "$edges --mca coll_quant_error_feedback 1" limit_edges -f
for ranks in 2 3; do
    mpi_run "np=$ranks a NaN" "$ranks" 60 "$edges" limit_edges -n
    mpi_run "np=$ranks a NaN, and feedback" "$ranks" 60 "$edges --mca coll_quant_error_feedback 3" limit_edges -n
done
mpi_judge "np=2 no memory on one rank" mpi_start 2 60 "$edges" limit_edges -m
mpi_says "one warning" "a call stays exact: some rank has no memory" 1
# A named format is taken where it does.
mpi_run "np=2 int8" 2 60 "$on ${limit}_abs 1 --mca coll_quant_format int8" limits -a 1 -q
mpi_run "np=2 int4, where it does not" 2 60 "$on ${limit}_abs 1e-3 --mca coll_quant_format int4" \
    limits -a 1e-3

mpi_done
