#!/bin/sh
# Who has a processor of its own: coll_lowlat says what it takes the processors of a node for.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup components
command -v taskset >/dev/null 2>&1 || mpi_skip_all "no taskset command"

says="--mca coll_arc_verbose 10"
# Slots for all: mpirun then does not tell Open MPI to yield.
says="$says --host localhost:8 --bind-to none"
world="coll_lowlat: communicator 0 .* bytes a rank, "

# check LABEL shared|own COMMAND ...: two ranks that each do COMMAND
check() {
    check_label=$1
    check_found="processors $2"
    shift 2
    mpi_judge "$check_label" mpi_start 2 60 "$says" "$@"
    mpi_says "$check_found" "$world$check_found" 1
}

# In a control group of its own that has a quota of $1 microseconds in 100000; false if the system does not
# let us. leave_group goes back.
enter_group() {
    group_home=/sys/fs/cgroup/cpu$(sed -n 's/^[0-9]*:[^:]*\bcpu\b[^:]*://p' /proc/self/cgroup)
    group=$group_home/arc_test_$$
    [ -w "$group_home/cgroup.procs" ] && mkdir "$group" 2>/dev/null || return 1
    trap 'leave_group; rm -rf "$mpi_scratch"' EXIT
    echo 100000 >"$group/cpu.cfs_period_us" && echo "$1" >"$group/cpu.cfs_quota_us" &&
        echo $$ >"$group/cgroup.procs"
}

leave_group() {
    [ -d "$group" ] || return 0
    echo $$ >"$group_home/cgroup.procs"
    rmdir "$group"
}

taskset=$(command -v taskset)
first=$(taskset -pc $$ | sed 's/.*: \([0-9]*\).*/\1/')
if [ "$(nproc)" -ge 2 ]; then
    check "two ranks on two processors" own agree -c 5
    for quota in 150000 200000; do
        found=$([ $quota = 150000 ] && echo shared || echo own)
        label="two ranks with a quota of $quota in 100000"
        if enter_group $quota 2>/dev/null; then
            check "$label" "$found" agree -c 5
        else
            mpi_skip "$label" "no control group of version 1 that this user may change"
        fi
        leave_group
    done
else
    mpi_skip "two ranks with processors of their own" "needs two processors"
fi
check "two ranks bound to one processor" shared "$taskset" -c "$first" "$(mpi_find agree)" -c 5

# One rank of two spends two seconds beside somebody who is busy on the same processor.
cat >"$mpi_scratch/beside" <<'END'
if [ "$OMPI_COMM_WORLD_RANK" = 0 ]; then
    taskset -pc "$1" $$ >/dev/null
    while read -r ran waited rest </proc/self/schedstat && [ $((ran + waited)) -lt 2500000000 ]; do :; done
    taskset -pc "$2" $$ >/dev/null
fi
shift 2
exec "$@"
END
if [ "$(nproc)" -lt 2 ]; then
    mpi_skip "a rank beside a busy process" "needs two processors"
elif [ ! -r /proc/self/schedstat ]; then
    mpi_skip "a rank beside a busy process" "no /proc/self/schedstat"
else
    taskset -c "$first" sh -c 'while :; do :; done' &
    busy=$!
    check "a rank beside a busy process" shared /bin/sh "$mpi_scratch/beside" "$first" \
        "$(taskset -pc $$ | sed 's/.*: //')" "$(mpi_find agree)" -c 5
    kill $busy
fi
mpi_done
