#!/bin/sh
# The test cluster is what it promises: nodes that Open MPI takes for hosts of their own, links of
# the given rate, right sums over them, and nothing left behind. Needs root.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../mpi/lib/mpi_run.sh"
mpi_setup
unset OMPI_MCA_btl_tcp_if_include # `cluster run` sets it to the network of the nodes

cluster=$(dirname "$0")/cluster
python=/usr/bin/python3 # Debian's, whose packages these are
probe="$python $(cd "$(dirname "$0")" && pwd)/cluster_probe.py"
# probes WHAT: can it run?  Otherwise WHAT is skipped.
probes() {
    $python -c 'import mpi4py, numpy' 2>/dev/null && return
    mpi_skip "$1" "needs python3-mpi4py and python3-numpy"
    return 1
}
# The cluster's state goes there: this test meets no other cluster.
TMPDIR=$mpi_scratch
export TMPDIR
state=$mpi_scratch/arc-cluster-arc
trap '"$cluster" down 2>/dev/null; rm -rf "$mpi_scratch"' EXIT
# The rate of a ring, Mbit/s: low, so that the links decide also where others use the cores, too.
ring_rate=250 ring_least=175
bucket_bytes=12500 # of a link of 1gbit: nodes.sh

# cluster_start SECONDS ARGUMENTS OF RUN ...: as mpi_start
cluster_start() {
    mpi_seconds=$1
    shift
    # shellcheck disable=SC2086
    "$cluster" run --timeout "$mpi_seconds" "$@" \
        >"$mpi_scratch/out" 2>"$mpi_scratch/err" </dev/null
    mpi_status=$?
}

# cluster_check LABEL SECONDS ARGUMENTS OF RUN ...: a program that prints TAP
cluster_check() {
    label=$1
    shift
    cluster_start "$@"
    mpi_report "$label"
}

# says TEXT DESCRIPTION: the last run printed these lines, in any order, and ended well.
says() {
    sort "$mpi_scratch/out" >"$mpi_scratch/sorted"
    test "$mpi_status" -eq 0 && printf '%s\n' "$1" | cmp -s - "$mpi_scratch/sorted"
    mpi_result $? "$2"
    cmp -s "$mpi_scratch/sorted" /dev/null || mpi_show "$mpi_scratch/sorted"
    mpi_show "$mpi_scratch/err"
}

# within WORD LEAST MOST: the last run printed a line of this word and a number in these bounds.
within() {
    awk -v word="$1" -v least="$2" -v most="$3" '
        $1 == word { good = $2 >= least && $2 <= most }
        END { exit !good }' "$mpi_scratch/out"
}

# within_soon WORD LEAST MOST ARGUMENTS: of `cluster run`; in one of three runs, as others may use
# the cores meanwhile, too
within_soon() {
    soon_word=$1
    soon_least=$2
    soon_most=$3
    shift 3
    for _ in 1 2 3; do
        cluster_start 60 "$@"
        within "$soon_word" "$soon_least" "$soon_most" && return
    done
    return 1
}

# What a cluster could leave in the machine. Only ours: others may come and go meanwhile.
remains() {
    ls -d "$state" 2>/dev/null
    cat /proc/[0-9]*/mountinfo 2>/dev/null | grep -F "$state"
    for inode in $net_inodes; do
        find /proc/[0-9]*/ns/net -maxdepth 0 -lname "net:\[$inode\]" 2>/dev/null
    done
    ip -o link | grep -wE 'port[0-9]+|switch'
    ip netns list | grep -w arc
}

# down_leaves_nothing DESCRIPTION
down_leaves_nothing() {
    net_inodes=
    for pin in "$state"/*/net; do
        net_inodes="$net_inodes $(stat -L -c %i "$pin")"
    done
    remains >"$mpi_scratch/before"
    "$cluster" down
    down_status=$?
    remains >"$mpi_scratch/after"
    test $down_status -eq 0 && test -s "$mpi_scratch/before" && ! test -s "$mpi_scratch/after"
    mpi_result $? "$1"
    mpi_show "$mpi_scratch/after"
}

"$cluster" up 3 none 2>"$mpi_scratch/err"
case $? in
0) ;;
77) mpi_skip_all "$(cat "$mpi_scratch/err")" ;;
*)
    echo "Bail out! $(cat "$mpi_scratch/err")"
    exit 1
    ;;
esac

! "$cluster" up 2 2>"$mpi_scratch/err" && grep -q 'arc is up' "$mpi_scratch/err"
mpi_result $? "up is refused where the cluster is up"

if probes "host names and locality"; then
    cluster_start 30 --ppn 2,1,1 $probe
    says "rank 0 on arc0 shares memory with 1
rank 1 on arc0 shares memory with 1
rank 2 on arc1 shares memory with 0
rank 3 on arc2 shares memory with 0" "uneven nodes: host names and locality"
    cluster_start 30 -n 5 --map-by node $probe
    says "rank 0 on arc0 shares memory with 1
rank 1 on arc1 shares memory with 1
rank 2 on arc2 shares memory with 0
rank 3 on arc0 shares memory with 1
rank 4 on arc1 shares memory with 1" "ranks placed cyclically"
fi

# shellcheck disable=SC2016
cluster_start 30 --ppn 1 sh -c '
    touch "/dev/shm/$(hostname)"
    sleep 1
    echo /dev/shm/* /sys/class/net/*'
says "/dev/shm/arc0 /sys/class/net/eth0 /sys/class/net/lo
/dev/shm/arc1 /sys/class/net/eth0 /sys/class/net/lo
/dev/shm/arc2 /sys/class/net/eth0 /sys/class/net/lo" "each node has its own /dev/shm and devices"

test "$("$cluster" enter arc1 sh -c 'hostname; pwd')" = "arc1
$PWD"
mpi_result $? "a command runs on one node"

if mpi_have_plugin; then
    # shellcheck disable=SC2016
    cluster_start 30 --ppn 1 sh -c 'for component in lowlat quant; do
        ompi_info --param coll $component --level 9 --parsable |
            grep -q "coll_${component}_priority:value" && echo "$(hostname) $component"
    done'
    says "arc0 lowlat
arc0 quant
arc1 lowlat
arc1 quant
arc2 lowlat
arc2 quant" "Open MPI finds the components on all nodes"
    OMPI_MCA_coll_quant_enable=1
    export OMPI_MCA_coll_quant_enable
    cluster_start 30 --ppn 1 printenv OMPI_MCA_coll_quant_enable
    says "1
1
1" "parameters in the environment reach all nodes"
    cluster_check "3 nodes, quant" 60 --ppn 2,1,1 "$(mpi_find quantized)" -n 100000
    unset OMPI_MCA_coll_quant_enable
    for algorithm in $(mpi_lowlat_algorithms nodes); do
        cluster_check "3 nodes of 3,1,2 ranks, $algorithm" 120 --ppn 3,1,2 \
            --mca coll_lowlat_algorithm "$algorithm" "$(mpi_find matrix)" -l 100
        cluster_check "3 nodes of 3,1,2 ranks, $algorithm, communicators" 120 --ppn 3,1,2 \
            --mca coll_lowlat_algorithm "$algorithm" "$(mpi_find origins)" nested unordered
    done
    cluster_check "3 nodes of 3,1,2 ranks, quant and ring" 120 --ppn 3,1,2 \
        --mca coll_quant_enable 1 --mca coll_lowlat_algorithm ring \
        "$(mpi_find quantized)" -a semi_loop -n 300000
    # Nodes as Open MPI sees them; dealt: the ranks of a node are far apart.
    hierarchical="--mca coll_quant_enable 1 --mca coll_quant_algorithm hierarchical"
    # shellcheck disable=SC2086
    cluster_check "3 nodes of 2 ranks, hierarchical" 120 --ppn 2 $hierarchical \
        "$(mpi_find quantized)" -a hierarchical -p 2 -n 300000
    # shellcheck disable=SC2086
    cluster_check "3 nodes of 2 ranks, dealt, hierarchical" 120 --ppn 2 --map-by node $hierarchical \
        "$(mpi_find quantized)" -a hierarchical -p 2 -n 300000
    cluster_check "3 nodes of 2 ranks, auto" 120 --ppn 2 --mca coll_quant_enable 1 \
        "$(mpi_find levels)" -p 2
fi
cluster_check "3 nodes" 60 --ppn 2,1,1 "$(mpi_find matrix)" -l 1000
cluster_check "3 nodes, nonblocking and persistent" 120 --ppn 2,1,1 "$(mpi_find pending)" -o 1000
cluster_check "3 nodes, requests in any order" 120 --ppn 2,1,1 "$(mpi_find orders)" -r 80
if mpi_have_plugin; then
    cluster_check "3 nodes, nonblocking and persistent, set up by such calls" 120 --ppn 2,1,1 "$(mpi_find pending)" \
        -b -f -o 500
    cluster_check "3 nodes, nonblocking and persistent, quant" 120 --ppn 2,1,1 --mca coll_quant_enable 1 \
        --mca coll_quant_collectives all --mca coll_quant_min_bytes 4 "$(mpi_find pending)" -o 300 -t 0.02
    cluster_check "3 nodes, requests in any order, quant" 120 --ppn 2,1,1 --mca coll_quant_enable 1 \
        --mca coll_quant_collectives all --mca coll_quant_min_bytes 4 "$(mpi_find orders)" -r 80 -t 0.02
fi
cluster_start 60 --ppn 1 "$mpi_bin/arc_allreduce" -c -m 4:1048576 -i 5 -x 1
test $mpi_status -eq 0
mpi_result $? "3 nodes: right sums up to 1 MiB"
mpi_show "$mpi_scratch/err"

cluster_start 2 --ppn 1 sleep 100
test $mpi_status -eq 124 && "$cluster" status | grep -q '^3 processes'
mpi_result $? "the time limit ends what runs in the nodes"

"$cluster" enter arc2 sh -c 'sleep 1000 & echo $!' >"$mpi_scratch/sleeper"
down_leaves_nothing "down leaves nothing"
# A zombie has no command line.
! grep -q sleep "/proc/$(cat "$mpi_scratch/sleeper")/cmdline" 2>/dev/null
mpi_result $? "down ends processes that others started in a node"
"$cluster" down
mpi_result $? "down where nothing is up"

"$cluster" up 100 1gbit >/dev/null 2>&1 &
up_pid=$!
until [ -f "$state/arc1/holder" ]; do
    kill -0 $up_pid 2>/dev/null || break
    sleep 0.05
done
kill -KILL $up_pid
wait $up_pid 2>/dev/null
! "$cluster" status 2>/dev/null
mpi_result $? "a cluster whose making was killed is not up"
down_leaves_nothing "down cleans up behind a killed up"

"$cluster" up 4 1gbit
if probes "the rate of links"; then
    for kib in 32 64 128; do
        least=$(((kib * 1024 - bucket_bytes) / 125)) # bytes that 1gbit carries in a us
        most=$((kib * 1024 / 125 * 3 / 2))
        within_soon burst $least $most \
            -n 2 --ppn 1 $probe burst $((kib * 1024)) 30
        mpi_result $? "1gbit: $kib KiB after a pause need the wire's time but for a bucket: $least to $most us"
        mpi_show "$mpi_scratch/out"
    done
fi
if mpi_have_plugin; then
    # A quarter of the bytes: nothing else on this machine decides.
    cluster_check "1gbit: calls teach to quantize" 120 -n 2 --ppn 1 --mca coll_quant_enable 1 \
        --mca coll_quant_collectives all --mca coll_arc_explore_percent 1 \
        --mca coll_arc_setup_calls 0 \
        "$(mpi_find learn)" -c allreduce -c reduce_scatter_block -c allgather -w quantized -l 300000
fi
down_leaves_nothing "down leaves nothing of a cluster with a rate"

"$cluster" up 4 ${ring_rate}mbit
if probes "links carry their rate both ways"; then
    # Without ob1's put protocol: it hardly sends and receives at the same time.
    for nodes in 2 4; do
        within_soon ring $ring_least $ring_rate \
            -n $nodes --ppn 1 --mca btl_tcp_flags 1 $probe ring 262144 20
        mpi_result $? "${ring_rate}mbit: $nodes nodes in a ring, each with $ring_least to $ring_rate Mbit/s of data"
        mpi_show "$mpi_scratch/out"
    done
fi
"$cluster" down

# The shapes that are measured (docs/benchmarks_nodes.md), with what is chosen on them.
if mpi_have_plugin; then
    while read -r shape rate; do
        "$cluster" up "${shape%x*}" "$rate"
        cluster_check "$shape, rate $rate" 60 --ppn "${shape#*x}" "$(mpi_find matrix)" -l 30
        "$cluster" down
    done <<ROWS
2x1 none
2x2 1gbit
3x1 1gbit
3x2 none
4x1 none
4x2 1gbit
4x2 none
5x1 1gbit
ROWS
fi
mpi_done
