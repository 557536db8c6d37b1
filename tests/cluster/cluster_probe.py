"""What MPI sees of the test cluster.

    cluster_probe.py                a line per rank: rank, host, ranks that share memory with it
    cluster_probe.py ring BYTES COUNT
                                    from each rank to the next one, all at the same time: COUNT
                                    messages of BYTES in a row
    cluster_probe.py burst BYTES COUNT
                                    from the first rank to the last one, COUNT times a message of
                                    BYTES behind a pause in which nothing is sent

Rates are of data only, without the headers that are on the wire too. One ring before the timed ones
opens the connections and TCP's window; the best of a few is printed, as other work of the machine
can only slow them down. The nodes are one machine with one clock: a message carries the time at
which it was sent.

Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import statistics
import sys
import time

import mpi4py

mpi4py.rc.threads = False  # no locks
import numpy  # noqa: E402
from mpi4py import MPI  # noqa: E402

WORLD = MPI.COMM_WORLD
LAST = WORLD.size - 1
WINDOW = 8  # messages under way: the wire never waits for a receive
RINGS = 4  # the first one is not timed
BURSTS_BEFORE = 5  # untimed: they open the connection and TCP's window
PAUSE_SECONDS = 5e-3  # long enough to fill any bucket of the link


def time_ring(data, count):
    """Seconds for COUNT messages from every rank to the next one."""
    pairs = [[MPI.REQUEST_NULL] * 2 for _ in range(WINDOW)]
    WORLD.Barrier()
    begin = time.monotonic()
    for i in range(count):
        slot = i % WINDOW
        MPI.Request.Waitall(pairs[slot])
        pairs[slot] = [
            WORLD.Irecv(data[slot], (WORLD.rank - 1) % WORLD.size), WORLD.Isend(data[WINDOW], (WORLD.rank + 1) % WORLD.size)
        ]  # fmt: skip
    MPI.Request.Waitall(sum(pairs, []))
    WORLD.Barrier()
    return time.monotonic() - begin


def time_bursts(message, count):
    """On the last rank, seconds from the begin of a send to the end of its receive."""
    found = []
    for _ in range(BURSTS_BEFORE + count):
        WORLD.Barrier()
        time.sleep(PAUSE_SECONDS)
        if WORLD.rank == 0:
            message[:8].view("f8")[0] = time.monotonic()
            WORLD.Send(message, LAST)
        elif WORLD.rank == LAST:
            WORLD.Recv(message, 0)
            found.append(time.monotonic() - message[:8].view("f8")[0])
    return found[BURSTS_BEFORE:]


what, size, count = (*sys.argv[1:], "", "0", "0")[:3]
data = numpy.zeros((WINDOW + 1, int(size)), "u1")
if what == "ring":
    seconds = min([time_ring(data, int(count)) for _ in range(RINGS)][1:])
    if WORLD.rank == 0:
        print(f"ring {8 * int(size) * int(count) / seconds / 1e6:.1f} Mbit/s")
elif what == "burst":
    times = time_bursts(data[0], int(count))
    if WORLD.rank == LAST:
        print(f"burst {1e6 * min(times):.1f} us, median {1e6 * statistics.median(times):.1f} us")
else:
    node = WORLD.Split_type(MPI.COMM_TYPE_SHARED)
    # In one piece, or lines of ranks would mix.
    sys.stdout.write(f"rank {WORLD.rank} on {MPI.Get_processor_name()} shares memory with {node.size - 1}\n")
