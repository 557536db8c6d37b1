# Every algorithm between nodes over puts, and the packets of a call beside those of pml ucx over the same adapter:
#
#   ARC_RDMA_SECONDS=900 tests/rdma/run BUILD tests/rdma/rows.sh
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
# The set-up is in the packets of the fewer calls, too. By default, after some calls, what is faster serves them.
ucx="--mca pml_ucx_tls any --mca pml_ucx_devices any"
for row in "8 200" "256 200" "1024 200" "8192 60" "65536 20" "1048576 6"; do
    for way in "1 ob1 lowlat --mca coll_lowlat_nodes_transport puts --mca coll_lowlat_algorithm doubling" \
        "10 ucx default $ucx" "1 ucx tuned $ucx --mca coll ^lowlat,quant"; do
        read -r times pml name mca <<<"$way"
        read -r bytes calls <<<"$row"
        calls=$((times * calls))
        count "$bytes" "$calls" "$mca"
        few=$sent first=$status
        count "$bytes" $((4 * calls)) "$mca"
        [ $((first + status)) -eq 0 ]
        result $? "$name, $bytes bytes: $(((sent - few) * 100 / (3 * calls))) packets of 100 calls"
        grep "^ranks=1:nodes=2:" /tmp/out | sed 's/^/# /'
    done
done
