#!/bin/sh
# The components leave the process around them as it was: bystander.c prints facts
# about it, which must be the same with and without them.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup components

# compare_facts LABEL "MCA ARGUMENTS": run with them, compare with $mpi_scratch/facts_without.
compare_facts() {
    mpi_start 2 60 "$2" bystander
    mpi_result "$mpi_status" "$1: the program ends well"
    sort "$mpi_scratch/out" >"$mpi_scratch/facts"
    for fact in signal code threads variable float affinity umask directory; do
        grep "^rank [0-9]* $fact" "$mpi_scratch/facts_without" >"$mpi_scratch/expected"
        grep "^rank [0-9]* $fact" "$mpi_scratch/facts" >"$mpi_scratch/got"
        # No variable appears in a plain run of some builds; every other fact has lines.
        [ -s "$mpi_scratch/expected" ] || [ $fact = variable ]
        mpi_result $? "without the components: $fact has facts"
        diff "$mpi_scratch/expected" "$mpi_scratch/got" >"$mpi_scratch/diff"
        mpi_result $? "$1: $fact as without the components"
        mpi_show "$mpi_scratch/diff"
    done
    grep -v '^rank [0-9]* \(signal\|code\|threads\|variable\|float\|affinity\|umask\|directory\)' \
        "$mpi_scratch/facts" >"$mpi_scratch/diff"
    test ! -s "$mpi_scratch/diff"
    mpi_result $? "$1: nothing else on stdout"
    mpi_show "$mpi_scratch/diff"
    sed 's/[0-9][0-9]*//g' "$mpi_scratch/err" | diff "$mpi_scratch/err_without" - \
        >"$mpi_scratch/diff"
    mpi_result $? "$1: stderr as without the components"
    mpi_show "$mpi_scratch/diff"
}

mpi_start_without_plugin 2 60 "" bystander
mpi_result $? "without the components: the program ends well"
sort "$mpi_scratch/out" >"$mpi_scratch/facts_without"
# Process numbers in messages differ from run to run.
sed 's/[0-9][0-9]*//g' "$mpi_scratch/err" >"$mpi_scratch/err_without"
compare_facts "default" ""
compare_facts "quant enabled" "--mca coll_quant_enable 1"
mpi_done
