#!/bin/sh
# Ranks of one host in containers: namespaces of their own for System V memory, or for processes and
# /dev/shm as well. What they cannot map they do without, on communicators of every origin (origins.c).
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_alone "$@"
mpi_setup components
origins=$(mpi_find origins)
# No single-copy transports and no shared memory: those of Open MPI expect one namespace, too.
plain="--mca pml ob1 --mca btl self,tcp --mca coll_arc_verbose 2"
late="--mca coll_arc_setup_calls 5"
wait_turns=100
holders=

# container NAME OPTIONS OF unshare ...: makes one and leaves the number of a process in it in $inside
container() {
    container_ready=$mpi_scratch/container.$1
    shift
    # shellcheck disable=SC2016
    unshare --fork --kill-child "$@" sh -c \
        'mount -t tmpfs -o mode=1777 shm /dev/shm; : >"$0"; exec sleep 300' "$container_ready" &
    holders="$holders $!"
    turns=0
    until [ -e "$container_ready" ]; do
        turns=$((turns + 1))
        [ $turns -lt $wait_turns ] || return 1
        sleep 0.1
    done
    inside=$(tr -d ' ' <"/proc/$!/task/$!/children")
    [ -n "$inside" ]
}

# unshare --fork does not mind a milder signal, and takes the process inside along.
end_containers() {
    # shellcheck disable=SC2086
    [ -z "$holders" ] || kill -s KILL $holders
    wait 2>/dev/null
    holders=
}
trap 'end_containers; rm -rf "$mpi_scratch"' EXIT

unserved() {
    mpi_judge "$1"
    mpi_serves 0
}

# Memory that none can map: each rank in a container, and pairs of ranks.
check_containers() {
    alone="unshare --ipc --pid --fork --mount-proc $origins"
    mpi_start_each 60 "$plain" "$alone" "$alone" "$alone"
    unserved "each rank in a container"
    mpi_start_each 60 "$plain $late" "$alone" "$alone"
    unserved "each rank in a container, late"
    mpi_judge "each rank in a container, declared nodes" \
        mpi_start_each 60 "$plain --mca coll_arc_ranks_per_node 2" "$alone" "$alone" "$alone" "$alone"
    quantized="unshare --ipc --pid --fork --mount-proc $(mpi_find quantized) -a hierarchical -p 2 -n 300000"
    mpi_judge "each rank in a container, declared nodes, quantized" \
        mpi_start_each 60 "${plain% *} 10 --mca coll_quant_enable 1 --mca coll_arc_ranks_per_node 2" \
        "$quantized" "$quantized" "$quantized" "$quantized"
    mpi_says "messages on the nodes" "adds up on each node" 0
    mpi_judge "rank 1 in a container" mpi_start_each 60 "$plain" "$origins" "$alone" "$origins"
    container a --ipc --pid --mount-proc && a="nsenter -t $inside --ipc --pid --mount --root $origins" &&
        container b --ipc --pid --mount-proc && b="nsenter -t $inside --ipc --pid --mount --root $origins"
    made=$?
    mpi_result $made "two containers start"
    [ $made -eq 0 ] || return
    mpi_judge "two ranks in each of two containers" mpi_start_each 60 "$plain" "$a" "$a" "$b" "$b"
    mpi_judge "two ranks in each of two containers, in turn, late" mpi_start_each 60 "$plain $late" "$a" "$b" "$a" "$b"
    mpi_judge "both ranks in one container" mpi_start_each 60 "$plain" "$a" "$a"
    mpi_serves 1
    end_containers
}

# Memory that has a name everywhere is there, but not that of System V.
check_ipc() {
    alone="unshare --ipc $origins"
    mpi_judge "each rank in an IPC namespace" mpi_start_each 60 "$plain" "$alone" "$alone" "$alone" "$alone"
    mpi_serves 1
    mpi_judge "ranks in two IPC namespaces, declared nodes" \
        mpi_start_each 60 "$plain --mca coll_arc_ranks_per_node 2" "$origins" "$alone" "$origins" "$alone"
}

mpi_note_shared_memory
if unshare --ipc --pid --fork --mount-proc mount -t tmpfs shm /dev/shm 2>/dev/null; then
    check_containers
else
    mpi_skip "ranks in containers" "no right to unshare --ipc --pid --mount"
fi
if unshare --ipc true 2>/dev/null; then
    check_ipc
else
    mpi_skip "ranks in IPC namespaces" "no right to unshare --ipc"
fi
mpi_nothing_left
mpi_result $? "nothing of these jobs is left in shared memory"
mpi_done
