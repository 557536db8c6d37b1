#!/bin/bash
# The first process of the virtual machine that `run` starts: soft-RoCE, then the tests of guest.sh, whose output is
# TAP. $work and $build are from `run`.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
export HOME=/root PATH=$work/tools/usr/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LD_LIBRARY_PATH=$work/tools/usr/lib/x86_64-linux-gnu
mkdir -p /dev/shm /dev/pts /run /lib/modules
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs run /run
hostname arc-vm
ip link set lo up
ulimit -l unlimited
ln -sfn "$work/tools/bin/kmod" /sbin/modprobe
ln -sfn "$work/k/lib/modules/$(uname -r)" "/lib/modules/$(uname -r)"
for module in rdma_rxe ib_uverbs dummy crc32_generic; do
    modprobe $module
done
ip link add rx0 type dummy
ip link set rx0 mtu 4200 up
ip addr add 10.78.0.1/24 dev rx0
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_coll_arc_setup_calls=0
# Plugins that nothing here uses take time in each run. A list of coll that names quant would enable it.
export HWLOC_PLUGINS_PATH=/none OMPI_MCA_osc=sm OMPI_MCA_coll=^adapt,han,monitoring,sync
. "$build/stage/arc.env"
# A remote shell that makes a node of a process: its own host name.
cat >/tmp/agent <<'AGENT'
#!/bin/sh
host=$1
shift
exec unshare -u /bin/sh -c 'hostname "$0"; exec /bin/sh -c "$*"' "$host" "$@"
AGENT
chmod +x /tmp/agent

device=/sys/class/infiniband/rxe0
cases=0
# result STATUS TEXT
result() {
    cases=$((cases + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $cases - $2"
    else
        echo "not ok $cases - $2"
        sed 's/^/#   /' /tmp/out | tail -n 25
    fi
}
packets() { cat $device/ports/1/hw_counters/sent_pkts; }
# over NODES RANKS SECONDS "MCA" PROGRAM ...: RANKS on each of NODES; $status, /tmp/out
over() {
    local nodes=$1 ranks=$2 limit=$3 mca=$4 program=$5
    shift 5
    # shellcheck disable=SC2086
    timeout -k 5 "$limit" mpirun --oversubscribe --bind-to none -n $((nodes * ranks)) \
        -H "$(seq -s , -f "arc-n%g:$ranks" 1 "$nodes")" --mca plm_rsh_agent /tmp/agent \
        --mca oob_tcp_if_include lo --mca btl_tcp_if_include lo --mca btl self,vader,tcp --mca pml ${pml:-ob1} \
        --mca coll_arc_verbose 10 $mca "$build/tests/$program" "$@" >/tmp/out 2>&1 </dev/null
    status=$?
}
# right LABEL: the program's tests are fine
right() {
    [ $status -eq 0 ] && grep -q '^ok' /tmp/out && ! grep -q '^not ok' /tmp/out
    result $? "$1: right (status $status, $SECONDS s)"
}
# adapter: soft-RoCE, for UCX
adapter() {
    rdma link add rxe0 type rxe netdev rx0
    [ -e $device ]
    result $? "soft-RoCE"
    # rxe does not tell the type of a packet, so UCX's ud drops all of IPv4 unless told not to look.
    export UCX_NET_DEVICES=rxe0:1 UCX_UD_VERBS_ETH_DGID_CHECK=n
}
# count BYTES CALLS "MCA": $sent, the packets of so many calls and of the set-up, acknowledgements included, of both nodes
count() {
    local before
    before=$(packets)
    over 2 1 "${count_seconds:-60}" "$3" arc_allreduce -m "$1:$1" -x 0 -i "$2" --back-to-back
    sent=$(($(packets) - before))
}
# says LABEL TEXT
says() {
    grep -q -- "$2" /tmp/out
    result $? "$1: says '$2'"
}
{
    . /share/guest.sh
    echo "1..$cases"
} >/share/tap 2>&1
sync
echo o >/proc/sysrq-trigger
sleep 9
