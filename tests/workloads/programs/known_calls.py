"""Makes allreduces whose number, lengths and waits are known, for the check of allreduce_time.c:

    calls   of                bytes   how
        7   MPI_Allreduce         8   before one of them rank 1 is 50 ms late
        5   MPI_Allreduce      8192   in place
        2   MPI_Allreduce       100   on MPI_COMM_SELF
        3   MPI_Iallreduce       64   completed in another order than begun
        4   mpi_allreduce_       16   Fortran's

Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import ctypes
import time

import numpy
from mpi4py import MPI

WORLD = MPI.COMM_WORLD
LATE_SECONDS = 0.05


def expect(found, expected):
    if found != expected:
        print(f"rank {WORLD.rank}: a sum is {found} and not {expected}", flush=True)
        WORLD.Abort(1)


for call in range(7):
    total = numpy.zeros(1)
    if call == 3 and WORLD.rank == 1:
        time.sleep(LATE_SECONDS)
    WORLD.Allreduce(numpy.ones(1), total)
    expect(total[0], WORLD.size)
for call in range(5):
    total = numpy.arange(1024.0)
    WORLD.Allreduce(MPI.IN_PLACE, total)
    expect(total[1023], WORLD.size * 1023)
for call in range(2):
    total = numpy.zeros(25, "f4")
    MPI.COMM_SELF.Allreduce(numpy.ones(25, "f4"), total)
    expect(total[0], 1)
parts, totals = numpy.arange(3.0).repeat(8).reshape(3, 8), numpy.zeros((3, 8))
requests = [WORLD.Iallreduce(parts[call], totals[call]) for call in range(3)]
for call in (2, 1, 0):
    requests[call].Wait()
    expect(totals[call][0], WORLD.size * call)
# As a Fortran program would: the symbol is that of the library which comes first.
ctypes.CDLL("libmpi_mpifh.so.40", ctypes.RTLD_GLOBAL)
for call in range(4):
    mine, total = (ctypes.c_double * 2)(WORLD.rank, 1), (ctypes.c_double * 2)()
    numbers = (2, MPI.DOUBLE.py2f(), MPI.SUM.py2f(), WORLD.py2f(), 0)
    ctypes.CDLL(None).mpi_allreduce_(mine, total, *(ctypes.byref(ctypes.c_int(number)) for number in numbers))
    expect(total[1], WORLD.size)
