#!/bin/sh
# Communicators come and go without leaks inside the processes (lifecycle.c), and
# a finished job, also one that was killed, leaves nothing in shared memory.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "${srcdir:-$(dirname "$0")}/mpi_run.sh"
mpi_setup

# Names in /dev/shm and System V segments of this user.
shared_memory() {
    ls /dev/shm 2>/dev/null
    awk -v user="$(id -u)" 'NR > 1 && $8 == user { print "sysv", $2 }' /proc/sysvipc/shm \
        2>/dev/null
}

# Other programs may hold shared memory for a while: only what stays counts.
nothing_new_stays() {
    turns=0
    while [ $turns -lt 20 ]; do
        shared_memory | sort >"$mpi_scratch/shm_after"
        comm -13 "$mpi_scratch/shm_before" "$mpi_scratch/shm_after" >"$mpi_scratch/shm_new"
        [ -s "$mpi_scratch/shm_new" ] || return 0
        sleep 0.5
        turns=$((turns + 1))
    done
    mpi_show "$mpi_scratch/shm_new"
    return 1
}

shared_memory | sort >"$mpi_scratch/shm_before"
for ranks in 2 3 4 8; do
    mpi_run "np=$ranks" "$ranks" 120 "" lifecycle
done
if mpi_have_plugin; then
    mpi_run "np=3 quant" 3 120 "--mca coll_quant_enable 1" lifecycle -q
fi
nothing_new_stays
mpi_result $? "nothing of these jobs is left in shared memory"

if mpi_have_plugin; then
    mpi_start 4 3 "" stress -n 100000000
    nothing_new_stays
    mpi_result $? "nothing is left in shared memory by a job that was ended in the middle"
fi
mpi_done
