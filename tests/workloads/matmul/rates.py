"""What tiles and products cost between ranks, and what of a transfer hides behind a product.

    mpirun -n 2 /usr/bin/python3 rates.py [CALLS]

Each rank works on a tile of 1 MiB of the next one, all at the same time, as a multiplication does: it gets the tile,
accumulates into it, multiplies as long as a get takes, and gets while it multiplies. Hidden is the part of the shorter
of get and product that costs no time. Printed is a tab-separated line with a header, of medians of the slowest rank.

Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import argparse
import statistics
import sys

sys.dont_write_bytecode = True  # nothing beside the source
import mpi4py  # noqa: E402

mpi4py.rc.threads = False  # Open MPI's pt2pt windows refuse threads
import numpy  # noqa: E402
from blas import gemm  # noqa: E402
from mpi4py import MPI  # noqa: E402

WORLD = MPI.COMM_WORLD
SIDE = 512  # of the tile
SHORT = 192  # of a product


def seconds(function, calls):
    times = numpy.zeros(calls)
    for call in range(-3, calls):
        WORLD.Barrier()
        begin = MPI.Wtime()
        function()
        times[max(call, 0)] = MPI.Wtime() - begin
    WORLD.Allreduce(MPI.IN_PLACE, times, MPI.MAX)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.partition("Copyright")[0], formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("calls", nargs="?", type=int, default=21, help="of each kind (%(default)s)")
    calls = parser.parse_args().calls
    window = MPI.Win.Allocate(4 * SIDE * SIDE, 4, comm=WORLD)
    numpy.frombuffer(window, "f4")[:] = 1
    window.Lock_all(MPI.MODE_NOCHECK)
    tile, (a, b, c) = numpy.ones((SIDE, SIDE), "f4"), numpy.ones((3, SHORT, SHORT), "f4")
    to = (WORLD.rank + 1) % WORLD.size
    multiply = gemm(a, b, c, 0)

    def accumulate():
        window.Accumulate(tile, to, op=MPI.SUM)
        window.Flush(to)

    def overlap():
        request = window.Rget(tile, to)
        compute()
        request.Wait()

    get = seconds(lambda: window.Rget(tile, to).Wait(), calls)
    before = numpy.frombuffer(window, "f4").copy()
    add = seconds(accumulate, calls)
    WORLD.Barrier()
    if not (numpy.frombuffer(window, "f4") - before == calls + 3).all():
        sys.exit(f"rates: wrong sums on rank {WORLD.rank}")
    one = seconds(multiply, calls)
    times = max(1, round(get / one))

    def compute():
        for _ in range(times):
            multiply()

    alone = seconds(compute, calls)
    both = seconds(overlap, calls)
    window.Unlock_all()
    window.Free()
    if WORLD.rank == 0:
        hidden = (get + alone - both) / min(get, alone)
        print("get MB/s\taccumulate MB/s\taccumulate by get\tGflop/s\thidden")
        rate = tile.nbytes / 1e6
        print(f"{rate / get:.0f}\t{rate / add:.0f}\t{get / add:.2f}\t{2e-9 * SHORT**3 / one:.1f}\t{hidden:.2f}")


main()
