#!/bin/sh
# Every component of this Open MPI that can be given a priority, above ours, between them and below,
# on one node and on several: results are right and nothing crashes. coll_han of Open MPI 4.1 calls
# with another module than ours where each node has one rank.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
. "$(dirname "$0")/../lib/mpi_nodes.sh"
mpi_setup components

above=95 between=45 below=35 # of coll_lowlat, 40, and coll_quant, 50
ours="--mca coll_quant_enable 1 --mca coll_quant_collectives all --mca coll_quant_min_bytes 4"
components=$(ompi_info --parsable | sed -n 's/^mca:coll:\([^:]*\):version:.*component.*/\1/p' |
    grep -vx -e lowlat -e quant | sort -u)
# That of Open MPI 6.0.0rc2 crashes in each MPI_Comm_free, without our components, too.
[ "$mpi_major" -lt 6 ] || components=$(echo "$components" | grep -vx sync)
test -n "$components"
mpi_result $? "ompi_info lists components"

# arguments_of COMPONENT PRIORITY
arguments_of() {
    case $1 in
    monitoring) echo "--mca pml_monitoring_enable 1" ;; # has no priority of its own
    sync) echo "--mca coll_sync_priority $2 --mca coll_sync_barrier_before 10" ;;
    *) echo "--mca coll_$1_priority $2" ;;
    esac
}

# stack LABEL RANKS "ARGUMENTS" COMPONENT PRIORITY
stack() {
    # Runs side by side must not make the session directories of one node at the same time.
    TMPDIR=$mpi_scratch
    export TMPDIR
    mpi_run "$1, $4 at $5" "$2" 60 "$3 $(arguments_of "$4" "$5") $ours" stacked
    # What lies below is called by coll_lowlat in the run before, too.
    [ "$5" = $above ] || [ "$4" = han ] || return 0
    mpi_run "$1, $4 at $5, lowlat alone" "$2" 60 \
        "$3 $(arguments_of "$4" "$5") --mca coll ^quant" stacked -l 10
}

# priorities_of COMPONENT PRIORITY ...: those that make a difference to it
priorities_of() {
    [ "$1" != monitoring ] || set -- "$1" $above
    shift
    echo "$@"
}

for component in $components; do
    for priority in $(priorities_of "$component" $above $between $below); do
        mpi_beside stack "one node" 2 "" "$component" $priority
    done
done
if mpi_nodes_possible; then
    mpi_nodes
    for component in $components; do
        for priority in $(priorities_of "$component" $above $below); do
            mpi_beside stack "2 nodes of 1" 2 "$(mpi_nodes_of 2 1)" "$component" $priority
        done
    done
    # Only han makes a difference between nodes and ranks on them.
    for priority in $above $between $below; do
        mpi_beside stack "2 nodes of 2" 4 "$(mpi_nodes_of 2 2)" han $priority
        mpi_beside stack "4 nodes of 1" 4 "$(mpi_nodes_of 4 1)" han $priority
    done
else
    mpi_skip "several nodes" "no right to set a host name"
fi
mpi_join
mpi_done
