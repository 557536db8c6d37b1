# Every algorithm between nodes over puts, and the packets of a call beside those of pml ucx over the same adapter:
#
#   ARC_RDMA_SECONDS=1200 tests/rdma/run BUILD tests/rdma/rows.sh
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
adapter
for algorithm in doubling halving direct ring; do
    puts="--mca coll_lowlat_nodes_transport puts --mca coll_lowlat_algorithm $algorithm"
    over 2 1 120 "$puts" mpi/both/matrix -t -l 100
    right "$algorithm, 2 nodes"
    says "$algorithm, 2 nodes" "; puts over rc_verbs/rxe0:1"
    over 3 1 90 "$puts" mpi/both/stress -n 40
    right "$algorithm, 3 nodes"
done
# The difference of runs of N and 4 N calls, so that no set-up is in it. By default times choose what serves the calls:
# N is as large as choosing takes.
count_seconds=400
ucx="--mca pml_ucx_tls any --mca pml_ucx_devices any"
for row in "8 200 2000" "256 200 2000" "1024 200 2000" "8192 60 1000" "65536 20 600" "1048576 6 1000"; do
    for way in "ob1 puts --mca coll_lowlat_nodes_transport puts --mca coll_lowlat_algorithm doubling" \
        "ucx default $ucx" "ucx tuned $ucx --mca coll ^lowlat,quant"; do
        read -r pml name mca <<<"$way"
        read -r bytes calls chosen <<<"$row"
        [ "$name" != default ] || calls=$chosen
        count "$bytes" "$calls" "$mca"
        few=$sent first=$status
        count "$bytes" $((4 * calls)) "$mca"
        [ $((first + status)) -eq 0 ]
        result $? "$name, $bytes bytes: $(((sent - few) * 100 / (3 * calls))) packets of 100 calls"
        grep "^ranks=1:nodes=2:" /tmp/out | sed 's/^/# /'
    done
done
