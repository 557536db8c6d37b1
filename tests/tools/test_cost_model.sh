#!/bin/sh
# The cost model (bench/cost_model.py) against figures worked out by hand, and at its limits.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "${top_srcdir:-../..}/tests/lib/tap.sh"
bench=$(cd "${top_srcdir:-../..}/tests/bench" && pwd)
command -v python3 >/dev/null || skip_all "needs python3"

# Numbers to reckon with in the head, no machine's.
cat >"$scratch/by_hand.py" <<'END'
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from cost_model import ALGORITHMS, Link, Model, crossover

ROUND = Model(Link(1, 0.001), Link(10, 0.01), 1.5, 0.0001)
BY_HAND = [
    ("ring", 4, 2, 8000, 280.7),  # 14 steps of 10 + 10; 7/8 of 8000 bytes added
    ("tree", 4, 2, 8000, 163.6),  # 2 in the chain, 4 x 10 in the tree, 3/2 x 80; 2 x 8000 added
    ("doubling", 4, 2, 8000, 191.4),  # one step of 1 + 8, two of 10 + 80; 3 x 8000 bytes added
    # two steps of 1 + 4 inside, two of 10 + 1.5 x 40 between; 4000 + 2 x 4000 bytes added
    ("hierarchical", 4, 2, 8000, 151.2),
    ("hierarchical_printed", 4, 2, 8000, 76.2),  # but 3/4 x 1.5 x 40 for all bytes between nodes
    ("hierarchical_ring", 4, 2, 8000, 130.7),  # six of 10 + 10 between; 4000 + 3/4 x 4000 added
    ("hierarchical_halving", 4, 2, 8000, 110.7),  # four messages of 10, 3/2 x 40 for the bytes
    # no powers of two: fold, one or two steps, unfold
    ("doubling", 3, 1, 1000, 60.2), ("doubling", 3, 2, 6000, 281.8),
    ("hierarchical", 3, 1, 1000, 75.2), ("hierarchical", 7, 1, 1000, 100.3),
    ("hierarchical_halving", 3, 1, 1000, 70.15),
    ("tree", 3, 1, 1000, 40 + 40 / 3 + 0.1),
    # latency alone
    ("ring", 2, 2, 0, 60), ("tree", 2, 2, 0, 22), ("doubling", 2, 2, 0, 11),
    ("hierarchical", 2, 2, 0, 12), ("hierarchical_printed", 2, 2, 0, 12), ("hierarchical_ring", 2, 2, 0, 22),
]


def close(value, wanted):
    assert abs(value - wanted) <= 1e-9 * abs(wanted), f"{value} instead of {wanted}"


def by_hand():
    for name, nodes, local, size, seconds in BY_HAND:
        close(ALGORITHMS[name](ROUND, nodes, local, size), seconds)


def at_the_limits():
    no_network, no_memory = ROUND._replace(inter=Link(1e30, 1e30)), ROUND._replace(intra=Link(1e30, 1e30))
    bytes_only = Model(Link(0, 0), Link(0, 1), 1, 0)
    for name, seconds in ALGORITHMS.items():
        assert seconds(ROUND, 1, 1, 1000) == 0
        close(seconds(no_network, 1, 6, 6000), seconds(ROUND, 1, 6, 6000))
        close(seconds(no_memory, 8, 1, 6000), seconds(ROUND, 8, 1, 6000))
        for power in range(12):
            here = seconds(ROUND, 1 << power, 4, 4096)
            assert here < min(seconds(ROUND, 1 << power, 4, 8192), seconds(ROUND, 2 << power, 4, 4096))
        for nodes in (2, 3, 5, 8, 13):
            # Every rank must get at least 2 (N - 1)/N of a vector through its link.
            least = 2 * (nodes - 1) / nodes * 6720 / (2 if name == "hierarchical_printed" else 1)
            assert seconds(bytes_only, nodes, 1, 6720) >= least * (1 - 1e-12)


def crossovers():
    # 4 nodes of 1: 2 (8 + m/128) = 6 (8 + m/4/128) at m = 8192, exact in binary.
    exact = Model(Link(0, 0), Link(8, 1 / 128), 1, 0)
    assert crossover(exact, "doubling", "ring", 4, 1) == 8192
    for least, most in ((0, 8191), (8192, 1 << 30)):
        assert crossover(exact, "doubling", "ring", 4, 1, least, most) is None
    assert crossover(exact, "ring", "doubling", 4, 1) is None
    found = 0
    for small, of_small in ALGORITHMS.items():
        for large, of_large in ALGORITHMS.items():
            at = crossover(ROUND, small, large, 16, 4)
            if at:
                found += 1
                assert of_small(ROUND, 16, 4, at - 1) < of_large(ROUND, 16, 4, at - 1)
                assert of_small(ROUND, 16, 4, at) >= of_large(ROUND, 16, 4, at)
                assert crossover(ROUND, large, small, 16, 4) is None
    assert found > 0


globals()[sys.argv[2]]()
END
for check in by_hand at_the_limits crossovers; do
    python3 "$scratch/by_hand.py" "$bench" $check 2>"$scratch/err"
    result $? "the cost model: $check" "$scratch/err"
done

tap_done
