#!/bin/sh
# Communicators come and go without leaks inside the processes (lifecycle.c), and
# a finished job, also one that was killed, leaves nothing in shared memory. While it runs, that
# memory is closed to other users (closed.c).
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_alone "$@"
mpi_setup

mpi_note_shared_memory
for row in "2 500" "3 500" "4 500" "8 200"; do
    mpi_run "np=${row% *}" "${row% *}" 240 "" lifecycle -n "${row#* }"
done
if mpi_have_plugin; then
    # A leak of 150 bytes in a cycle shows.
    mpi_run "np=4, many cycles" 4 300 "" lifecycle -c -n 4000
    mpi_run "np=4, 2 on a node" 4 120 "--mca coll_arc_ranks_per_node 2" lifecycle
    mpi_run "np=4, 2 on a node, many cycles" 4 120 "--mca coll_arc_ranks_per_node 2" lifecycle -c -n 500
    mpi_run "System V" 2 60 "" closed -s /SYSV
    # Where no System V memory is to be had, in this test's own namespace.
    shmmni=$(cat /proc/sys/kernel/shmmni)
    if [ "${ARC_TEST_ALONE-}" = yes ] && (echo 0 >/proc/sys/kernel/shmmni) 2>/dev/null; then
        mpi_run "memfd" 2 60 "" closed -s /memfd:arc
        echo "$shmmni" >/proc/sys/kernel/shmmni
    else
        mpi_skip "memfd" "no right to limit System V memory"
    fi
    mpi_run "np=3 quant" 3 120 "--mca coll_quant_enable 1" lifecycle -q
    mpi_run "np=4 quant, 2 on a node" 4 120 "--mca coll_quant_enable 1 --mca coll_arc_ranks_per_node 2" lifecycle -q
fi
mpi_nothing_left
mpi_result $? "nothing of these jobs is left in shared memory"

# ended ARGUMENTS OF mpi_start ...: a job that its time limit ends
ended() {
    mpi_start "$@"
    test "$mpi_status" -ge 124
    mpi_result $? "$4 is ended in the middle"
}
if mpi_have_plugin; then
    mpi_beside ended 4 3 "" stress -n 100000000
    mpi_beside ended 4 3 "--mca coll_quant_enable 1 --mca coll_arc_ranks_per_node 2" lifecycle -q -n 100000000
    mpi_join
    mpi_nothing_left "$mpi_files_of_killed"
    mpi_result $? "nothing is left in shared memory by jobs that were ended in the middle"
fi

# Twelve ranks on as many declared nodes: eleven shapes of communicators, each twice.
if mpi_have_plugin; then
    mpi_judge "np=12, eleven shapes" \
        mpi_start 12 120 "--mca coll_arc_ranks_per_node 1 --mca coll_arc_verbose 10" origins shapes
    mpi_says "all begin" " begins with " 22
fi
mpi_done
