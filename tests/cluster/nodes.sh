# Nodes of a test cluster: namespaces, links, and what runs in them. To be sourced by `cluster`,
# which has $self (its path), $name, $state, die() and skip().
#
# $state/arc0/net      pins the net namespace of node arc0; so does $state/switch/net
# $state/arc0/holder   process that holds the node's other namespaces
# $state/arc0/tmp      TMPDIR on that node: Open MPI's session directory
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause

subnet=10.77.0
max_nodes=250

# Jumbo frames: 8948 of 9014 bytes are data, 99.3 %; of 1514 it would be 95.6 %.
mtu_bytes=9000
# What tbf lets pass at once after a pause: its bucket. Messages of this size see no rate at all, so it is
# short; but a packet must fit, and what a late timer does not send is lost. At 1gbit, with one frame and
# 1000, 2000, 3500 bytes, a stream got 900, 980, 990 Mbit/s, and four nodes in a ring on two cores 790, 850
# and 910. So the bucket is what the wire carries in 100 us, and at least a frame and 3500 bytes, which is
# the same at 1gbit. At 10gbit it is 125000 bytes: two cores cannot serve ten times as many timers, and
# with 44000 bytes a stream got 7.5 Gbit/s.
burst_us=100
min_burst_bytes=$((mtu_bytes + 3500))
# What TCP hands to a link in one piece, unless the bucket is smaller: tbf would cut up longer pieces.
max_packet_bytes=65536
# The queue in front of the wire, in time. A full one drops packets, which can cost TCP 200 ms each:
# a fan-in of several nodes to one must fit.
queue_ms=50
# Every kernel has it and allows it in any namespace; the machine's own choice may be anything.
congestion_control=reno
without_ipv6='echo 1 | tee /proc/sys/net/ipv6/conf/*/disable_ipv6 >/dev/null 2>&1'

# Processes in the nodes and the switch, holders included.
pids_inside() {
    for pin in "$state"/*/net; do
        [ -e "$pin" ] || continue
        find /proc/[0-9]*/ns/net -maxdepth 0 -lname "net:\[$(stat -L -c %i "$pin")\]" 2>/dev/null
    done | cut -d / -f 3
}

# end_processes [KEEP]: kill what runs in the nodes, but the pids of KEEP.
end_processes() {
    turns=0
    while [ $turns -lt 100 ]; do
        victims=
        for pid in $(pids_inside); do
            case " ${1-} " in
            *" $pid "*) ;;
            *) victims="$victims $pid" ;;
            esac
        done
        [ -n "$victims" ] || return 0
        # shellcheck disable=SC2086
        kill -KILL $victims 2>/dev/null
        sleep 0.05
        turns=$((turns + 1))
    done
    die "these do not end:$victims"
}

# enter NODE COMMAND ...: becomes the command on that node, in the folder and with the environment
# of the caller.
enter() {
    [ -f "$state/$1/holder" ] || die "$name has no node $1"
    holder=$(cat "$state/$1/holder")
    TMPDIR=$state/$1/tmp
    ARC_CLUSTER_STATE=$state
    export TMPDIR ARC_CLUSTER_STATE
    shift
    # shellcheck disable=SC2016
    exec nsenter --target "$holder" --net --uts --ipc --mount --root --wd -- \
        /bin/sh -c 'cd "$0" || exit 1; exec "$@"' "$PWD" "$@"
}

# Runs in the new namespaces of a node: makes them its own and stays, so that they stay.
hold() {
    host=$1 home=$2
    hostname "$host" &&
        mount -t tmpfs -o mode=1777 shm /dev/shm &&
        mount -t sysfs sysfs "$home/sys" &&
        mount --rbind /sys/fs/cgroup "$home/sys/fs/cgroup" &&
        mount --move "$home/sys" /sys &&
        { [ ! -e /etc/hosts ] || mount --bind "$state/hosts" /etc/hosts; } || exit 1
    echo $$ >"$home/holder.new" && mv "$home/holder.new" "$home/holder"
    exec sleep infinity
}

# ---- network ----

# Bits per second of a rate, or nothing.
bits_per_second() {
    case $1 in
    *gbit) unit=1000000000 ;;
    *mbit) unit=1000000 ;;
    *) return ;;
    esac
    amount=${1%?bit}
    is_number "$amount" && echo $((amount * unit))
}

# Bytes of the bucket at both ends of a link with this rate.
burst_of() {
    bits=$(bits_per_second "$1")
    burst_bytes=$((bits / 8 * burst_us / 1000000))
    [ $burst_bytes -gt $min_burst_bytes ] || burst_bytes=$min_burst_bytes
    echo $burst_bytes
}

# tc's words for the qdisc of one end of a link.
shaper() {
    bits=$(bits_per_second "$1")
    burst_bytes=$(burst_of "$1")
    echo "tbf rate ${bits}bit burst $burst_bytes limit $((bits / 8000 * queue_ms + burst_bytes))"
}

# Can this kernel do it? Tried in a namespace of its own.
probe_kernel() {
    unshare --net --uts --ipc --mount sh -c 'mount -t tmpfs shm /dev/shm' 2>/dev/null ||
        skip "no right to make namespaces and to mount in them"
    unshare --net sh -c 'ip link add switch type bridge &&
        ip link add port0 type veth peer name eth0 &&
        tc qdisc add dev port0 root tbf rate 1gbit burst 20000 limit 100000' 2>/dev/null ||
        skip "this kernel lacks one of: bridge, veth, tbf"
}

make_switch() {
    mkdir "$state/switch" && : >"$state/switch/net" &&
        unshare --net="$state/switch/net" true &&
        nsenter --net="$state/switch/net" sh -c "$without_ipv6
            ip link add switch mtu $mtu_bytes type bridge stp_state 0 && ip link set switch up"
}

# make_node INDEX NAME RATE
make_node() {
    home=$state/$2
    mkdir "$home" "$home/tmp" "$home/sys" && : >"$home/net" && unshare --net="$home/net" true ||
        return 1
    # A session of its own: it does not end with the terminal.
    setsid nsenter --net="$home/net" unshare --uts --ipc --mount \
        "$self" --name "$name" hold "$2" "$home" >"$home/log" 2>&1 </dev/null &
    turns=0
    until [ -f "$home/holder" ]; do
        turns=$((turns + 1))
        [ $turns -lt 200 ] || { cat "$home/log" >&2 && return 1; }
        sleep 0.02
    done
    holder=$(cat "$home/holder")
    qdisc_out=: qdisc_in=:
    if [ "$3" != none ]; then
        packet_bytes=$(burst_of "$3")
        [ "$packet_bytes" -lt $max_packet_bytes ] || packet_bytes=$max_packet_bytes
        qdisc_out="ip link set eth0 gso_max_size $packet_bytes &&
            tc qdisc add dev eth0 root $(shaper "$3")"
        qdisc_in="tc qdisc add dev port$1 root $(shaper "$3")"
    fi
    nsenter --net="$state/switch/net" sh -c "
        ip link add port$1 mtu $mtu_bytes type veth peer name eth0 mtu $mtu_bytes netns $holder &&
        ip link set port$1 master switch up && $qdisc_in" &&
        nsenter --net="$home/net" sh -c "$without_ipv6
            echo $congestion_control >/proc/sys/net/ipv4/tcp_congestion_control
            ip link set lo up && ip address add $subnet.$(($1 + 1))/24 dev eth0 &&
            ip link set eth0 up && $qdisc_out"
}

