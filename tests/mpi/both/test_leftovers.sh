#!/bin/sh
# mpi_nothing_left, by which other tests judge: it notices what a job leaves in shared memory, and is not
# disturbed by another job of the machine; in namespaces of the test's own (mpi_alone) and without.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
wait_turns=100

# wait_for COMMAND ...: until it is true, 10 seconds at most
wait_for() {
    turns=0
    until "$@"; do
        turns=$((turns + 1))
        [ $turns -lt $wait_turns ] || return 1
        sleep 0.1
    done
}

# This script as a test of its own: `test_leftovers.sh probe KIND FOLDER`. The folder is where both meet.
if [ "${1-}" = probe ]; then
    mpi_alone "$@"
    mpi_setup
    mpi_patience_turns=3
    mpi_note_shared_memory
    : >"$3/noted"
    # shellcheck disable=SC2016
    case $2 in
    file) mpi_start 2 10 "" /bin/sh -c ': >/dev/shm/arc_left.$OMPI_COMM_WORLD_RANK' ;;
    segment) mpi_start 1 10 "" "$(command -v ipcmk)" --shmem 4096 --mode 0600 ;;
    job) mpi_start 2 10 "" stress -n 300 ;;
    esac
    wait_for test -e "$3/go"
    mpi_nothing_left
    left=$?
    # Where it is not alone this is the machine's.
    rm -f /dev/shm/arc_left.[01]
    [ "$2" != segment ] || ipcrm --shmem-id "$(sed 's/.*: *//' "$mpi_scratch/out")"
    [ "$mpi_status" -eq 0 ] || exit 3
    exit $left
fi

mpi_setup
command -v ipcmk >/dev/null || mpi_skip_all "no command ipcmk (package util-linux)"

job_is_there() {
    [ -n "$(mpi_shared_memory | sort | comm -13 "$mpi_scratch/shm_before" -)" ]
}

# probe KIND WANTED [beside]: how the probe ends; another job starts behind its note and stays
probe() {
    folder=$mpi_scratch/probe.$mpi_cases
    mkdir "$folder"
    (
        ARC_TEST_ALONE=$alone
        export ARC_TEST_ALONE
        exec sh "$0" probe "$1" "$folder"
    ) >"$folder/said" 2>&1 &
    probe_pid=$!
    wait_for test -e "$folder/noted"
    other_pid=
    met=0
    if [ "${3-}" = beside ]; then
        mpi_note_shared_memory
        timeout -k 5 60 mpirun --oversubscribe -n 2 $MPI_OPTIONS "$(mpi_find stress)" -n 100000000 \
            >/dev/null 2>&1 </dev/null &
        other_pid=$!
        wait_for job_is_there
        met=$?
    fi
    : >"$folder/go"
    wait $probe_pid
    ended=$?
    if [ -n "$other_pid" ]; then
        kill $other_pid
        wait $other_pid 2>/dev/null
        mpi_nothing_left >/dev/null # before the next one looks
    fi
    test $met -eq 0 && test $ended -eq "$2"
}

for alone in "" no; do
    place=${alone:+"in the machine's namespaces"}
    place=${place:-"in namespaces of its own"}
    if [ -z "$alone" ] && ! unshare --user --map-root-user --ipc --mount true 2>/dev/null &&
        ! unshare --ipc --mount true 2>/dev/null; then
        mpi_skip "$place" "no right to make namespaces"
        continue
    fi
    probe file 1
    mpi_result $? "$place: a file that stays is noticed"
    probe segment 1
    mpi_result $? "$place: a System V segment that stays is noticed"
    probe job 0 beside
    mpi_result $? "$place: another job is none of its business"
    [ "$ended" -eq 0 ] || mpi_show "$folder/said"
done
mpi_done
