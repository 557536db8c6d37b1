# What coll_lowlat's puts promise over verbs; machine.sh reads it. Between nodes that are processes with host names of
# their own, over one soft-RoCE adapter.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
puts="--mca coll_lowlat_nodes_transport puts"
doubling="$puts --mca coll_lowlat_algorithm doubling"

over 2 1 60 "" mpi/both/stress -n 50
right "no adapter"
grep -q "connected" /tmp/out
result $((! $?)) "no adapter: nothing is connected"

adapter

# ---- beside messages, by default ----

# Messages take a millisecond more, and puts are not held up.  Beside other work an emulated processor can make the
# puts of a run slower than that, so one run of three has to learn.
tc qdisc add dev lo root netem delay 1ms
for _ in 1 2 3; do
    over 2 1 60 "--mca coll_arc_explore_percent 20" arc_allreduce -m 64:64 -x 0 -i 1000 --back-to-back --validation
    [ $status -eq 0 ] && ! grep -q "^ranks=1:nodes=2:over=puts:" /tmp/out || break
done
tc qdisc del dev lo root
result $status "slow messages: right"
says "slow messages" "connected: puts over rc_verbs/rxe0:1"
says "slow messages" "^ranks=1:nodes=2:over=puts:"
# Packets of ud are dropped: the network opens, and nobody answers.
UCX_UD_VERBS_ETH_DGID_CHECK=y over 2 1 60 "-x UCX_UD_VERBS_ETH_DGID_CHECK" mpi/both/stress -n 300 -t 4
right "no answer"
says "no answer" "auto: messages are used between the nodes; on some rank: the ranks cannot all reach each other"

# ---- packets of a call ----

setup_packets=60
# promise BYTES CALLS MOST: and not far fewer, or something else than the vector was sent
promise() {
    count "$1" "$2" "$doubling"
    awk -v n="$sent" -v calls="$2" -v most="$3" -v ok="$((status == 0))" \
        "BEGIN { exit !(ok && n >= 0.94 * calls * most && n <= calls * most + $setup_packets) }"
    result $? "$1 bytes: at most $3 packets a call: $sent for $2 calls"
}
promise 1024 500 4.1
promise 65536 50 50
promise 1048576 10 850

# ---- puts only: right sums ----

over 2 1 60 "$puts" mpi/both/matrix -f -t -l 100
right "2 nodes"
says "2 nodes" "; puts over rc_verbs/rxe0:1"
over 2 2 60 "$puts" mpi/both/stress -n 15
right "2 nodes of 2"
over 3 1 60 "$puts" mpi/both/stress -n 40
right "3 nodes"
over 2 1 60 "$puts" mpi/both/pending -o 100 -l 300
right "nonblocking"
over 2 1 60 "$puts" mpi/lowlat/growth
right "growth"
over 2 1 60 "$puts" mpi/lowlat/reproducible -g 1,1 -l 2011
right "bits"
# Communicators come and go; their memory regions, one or more for each and rank, do not add up, and UCX's own buffers
# are few: by its defaults it pins 75 MiB.
regions() { rdma resource show | sed 's/.* mr \([0-9]*\).*/\1/'; }
over 2 1 40 "$doubling" mpi/both/lifecycle -c -n 60 &
most=0 pinned=0
while kill -0 $! 2>/dev/null; do
    held=$(regions)
    most=$((held > most ? held : most))
    for rank in $(pgrep -x lifecycle); do
        kilobytes=$(sed -n 's/^VmPin:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$rank/status" 2>/dev/null)
        pinned=$((${kilobytes:-0} > pinned ? kilobytes : pinned))
    done
    sleep 1
done
made=$(grep -c "puts over" /tmp/out)
[ "$most" -gt 0 ] && [ "$made" -gt 20 ] && [ "$most" -lt $((made / 2 + 8)) ]
result $? "memory regions do not add up: at most $most are held, of $made communicators"
[ "$pinned" -gt 1024 ] && [ "$pinned" -lt 16384 ]
result $? "a process pins $pinned kB at most"
[ "$(regions)" -eq 0 ]
result $? "no memory region is left"

# killed: a rank that dies ends the sums of the others, who name it; mpirun counts it as a failure
over 2 1 60 "$doubling --enable-recovery -x UCX_RC_TIMEOUT=100ms -x UCX_RC_RETRY_COUNT=2" mpi/lowlat/killed -r 1
says "a rank is killed" "the connection to rank 1 is broken"
