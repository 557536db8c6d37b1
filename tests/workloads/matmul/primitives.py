"""Times the four primitives of sharded products over lengths: at which one is the rate of the links reached?

    mpirun -n 4 /usr/bin/python3 primitives.py [--most BYTES] [--rounds N] [--least-seconds S]

Lengths V of the whole array are powers of two from 1 KiB on; sums are of floats. All lengths take turns, --rounds times,
and a time is the median of the slowest rank. What comes is checked in the first call of each. Printed for each primitive
and length: microseconds, and MB/s of what any algorithm must send from each of p ranks:

    allgather        (p-1)/p V           each rank has V/p, and gets V
    reduce-scatter   (p-1)/p V           each rank has V, and gets V/p
    allreduce        2 (p-1)/p V         each rank has V, and gets V
    all-to-all       (p-1)/p V/p         each rank has V/p, and gets V/p

and behind the last length, the first one that has 95 % of the rate of long ones, the median of the last four. From Austin et al., "Sharded
Matrices and How to Multiply Them".

Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import argparse
import statistics
import sys

import mpi4py

mpi4py.rc.threads = False  # no locks
import numpy  # noqa: E402
from mpi4py import MPI  # noqa: E402

WORLD = MPI.COMM_WORLD
P = WORLD.size
LEAST = 1024
SHARE = 0.95  # of the rate of long ones
# What is called; what a rank has and gets, and what it must send, in parts of V.
PRIMITIVES = {
    "allgather": (WORLD.Allgather, 1 / P, 1, 1),
    "reduce-scatter": (WORLD.Reduce_scatter_block, 1, 1 / P, 1),
    "allreduce": (WORLD.Allreduce, 1, 1, 2),
    "all-to-all": (WORLD.Alltoall, 1 / P, 1 / P, 1 / P),
}


def seconds(call, calls):
    WORLD.Barrier()
    begin = MPI.Wtime()
    for _ in range(calls):
        call()
    return WORLD.allreduce(MPI.Wtime() - begin, MPI.MAX) / calls


def right(name, has, gets, rank):
    """What a rank gets if all have their number plus the index, modulo 7, in every element."""
    index = numpy.arange(has)
    of_rank = [(one + index) % 7 for one in range(P)]
    if name == "allgather":
        return numpy.concatenate(of_rank)
    if name == "all-to-all":
        return numpy.concatenate([one.reshape(P, -1)[rank] for one in of_rank])
    total = sum(of_rank)
    return total if name == "allreduce" else total.reshape(P, -1)[rank]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=64 << 20, help="bytes (default: 64 MiB)")
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--least-seconds", type=float, default=0.02, help="of a measurement (default: %(default)s)")
    options = parser.parse_args()
    # A whole number of floats for each rank, and for each part of it.
    lengths = [4 * P * P * max(1, LEAST * 2**i // (4 * P * P)) for i in range((options.most // LEAST).bit_length())]
    if WORLD.rank == 0:
        print("primitive\tbytes\tus\tMB/s")
    for name, (function, has, gets, sends) in PRIMITIVES.items():
        calls, times = {}, {length: [] for length in lengths}
        for number in range(options.rounds + 1):
            for length in lengths:
                source = ((WORLD.rank + numpy.arange(round(length / 4 * has))) % 7).astype("f4")
                target = numpy.zeros(round(length / 4 * gets), "f4")
                took = seconds(lambda: function(source, target), calls.get(length, 1))
                if number > 0:
                    times[length].append(took)
                    continue
                if not numpy.array_equal(target, right(name, len(source), len(target), WORLD.rank)):
                    sys.exit(f"{name} of {length} bytes: wrong on rank {WORLD.rank}")
                calls[length] = max(1, round(options.least_seconds / seconds(lambda: function(source, target), 1)))
                calls[length] = WORLD.bcast(calls[length])
        medians = {length: statistics.median(took) for length, took in times.items()}
        rates = {length: sends * (P - 1) / P * length / median / 1e6 for length, median in medians.items()}
        rate = statistics.median([rates[length] for length in lengths[-4:]])
        first = next(length for length in lengths if rates[length] >= SHARE * rate)
        if WORLD.rank == 0:
            for length in lengths:
                print(f"{name}\t{length}\t{1e6 * medians[length]:.1f}\t{rates[length]:.1f}")
            print(f"# {name}: {rate:.1f} MB/s, {100 * SHARE:.0f} % of it from {first} bytes on")


main()
