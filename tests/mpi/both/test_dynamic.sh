#!/bin/sh
# What a program does beside its sums: processes that it starts or meets on the way (spawned.c), windows
# (windows.c), children (forked.c); and no MPI_Init, but a session (sessions.c).
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_alone "$@"
mpi_setup

# Set up at once, and in the middle of the program's calls.
late="--mca coll_arc_setup_calls 5"
two_a_node="--mca coll_arc_ranks_per_node 2"

# run_served LABEL RANKS PROGRAM ...: on one node, where the components have the sums to themselves
run_served() {
    served_label=$1 served_ranks=$2
    shift 2
    mpi_judge "$served_label" mpi_start "$served_ranks" 60 "--mca coll_arc_verbose 2" "$@"
    mpi_have_plugin || return 0
    mpi_counts served
    mpi_result $? "$served_label: some calls are served"
}

check_spawned() {
    # One and one: what is served is served on the merged communicator.
    run_served "spawn by np=1" 1 spawned spawn 1
    mpi_run "spawn by np=3" 3 60 "" spawned spawn 2
    mpi_run "spawn by np=2, late" 2 60 "$late" spawned spawn 3
    run_served "connect np=2" 2 spawned connect
    mpi_run "connect np=4" 4 60 "" spawned connect
    mpi_run "connect np=3, late" 3 60 "$late" spawned connect
    mpi_run "connect np=4 on declared nodes" 4 60 "$two_a_node" spawned connect
    for form in nonblocking persistent; do
        mpi_deferred $form mpi_run "spawn by np=2, $form" 2 60 "" spawned spawn 2
        mpi_deferred $form mpi_run "connect np=4, $form, late" 4 60 "$late" spawned connect
    done
}

# Children without the components, or with other parameters than their parents; they may say so.
check_strangers() {
    mpi_have_plugin || return 0
    for setting in coll=^lowlat,quant coll_lowlat_priority=5 coll_lowlat_rules=below:64-inf coll_quant_enable=1; do
        printf '#!/bin/sh\nOMPI_MCA_%s exec %s\n' "$setting" "$(realpath "$(mpi_find spawned)")" \
            >"$mpi_scratch/child"
        chmod +x "$mpi_scratch/child"
        mpi_judge "spawned with $setting" mpi_start 2 60 "" spawned spawn 2 "$mpi_scratch/child"
        mpi_deferred nonblocking mpi_judge "spawned with $setting, nonblocking" \
            mpi_start 2 60 "" spawned spawn 2 "$mpi_scratch/child"
    done
}

check_windows() {
    run_served "windows np=2" 2 windows
    mpi_run "windows np=4, late" 4 60 "$late" windows -n 20
    mpi_run "windows np=3 on declared nodes" 3 60 "$two_a_node" windows -n 10
}

check_forked() {
    run_served "forks np=2" 2 forked
    mpi_run "forks np=4, late" 4 60 "$late" forked
    mpi_run "forks np=4 on declared nodes" 4 60 "$two_a_node" forked
}

# Blocking calls, and the others, which look all ranks up before they are set up.
check_sessions() {
    if [ "$mpi_major" -lt 5 ]; then
        mpi_skip "sessions" "this Open MPI has no MPI_Session_init"
        return
    fi
    run_served "sessions np=3" 3 sessions
    mpi_run "sessions np=4, late" 4 60 "$late" sessions
    mpi_run "sessions np=2, MPI_Init between" 2 60 "--mca coll_quant_enable 1 --mca coll_arc_explore_percent 1" sessions -w
    mpi_run "sessions np=4 on declared nodes, quant" 4 60 "$two_a_node --mca coll_quant_enable 1" sessions
    for form in nonblocking persistent; do
        mpi_deferred $form mpi_run "sessions np=3, $form" 3 60 "" sessions
    done
}

mpi_note_shared_memory
for check in spawned strangers windows forked sessions; do
    mpi_beside check_$check
done
mpi_join
mpi_nothing_left
mpi_result $? "nothing of these jobs is left in shared memory"
mpi_done
