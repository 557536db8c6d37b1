"""Allreduce of numpy arrays and Python objects through mpi4py.

Prints one line per type, operation and size with a checksum of the result. Data
are integers, so that every order of summation gives the same bits.

Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import zlib

import numpy
from mpi4py import MPI

DTYPES = ["i1", "u1", "i2", "i4", "u4", "i8", "f4", "f8", "c8", "c16"]
SIZES = [1, 2, 7, 14, 15, 1000, 1025, 20000, 100003]
OPERATIONS = {"sum": MPI.SUM, "max": MPI.MAX, "min": MPI.MIN, "prod": MPI.PROD}
FOLDS = {
    "sum": numpy.add.reduce,
    "max": numpy.maximum.reduce,
    "min": numpy.minimum.reduce,
    "prod": numpy.multiply.reduce,
}
WORLD = MPI.COMM_WORLD
ANSWERS = []


def vector_of(rank, dtype, name, size):
    """Small integers: no sum or product of them leaves an 8-bit type."""
    generator = numpy.random.default_rng([rank, size, DTYPES.index(dtype)])
    low, high = (1, 3 if rank < 4 else 2) if name == "prod" else (0, 10)
    return generator.integers(low, high, size).astype(dtype)


def check(dtype, name, size):
    vectors = [vector_of(rank, dtype, name, size) for rank in range(WORLD.size)]
    expected = FOLDS[name](numpy.stack(vectors), axis=0).astype(dtype)
    mine = vectors[WORLD.rank]
    result = numpy.empty_like(mine)
    WORLD.Allreduce(mine, result, op=OPERATIONS[name])
    in_place = mine.copy()
    WORLD.Allreduce(MPI.IN_PLACE, in_place, op=OPERATIONS[name])
    good = numpy.array_equal(result, expected) and numpy.array_equal(in_place, expected)
    verdict = "right" if good else "WRONG"
    ANSWERS.append(
        f"rank {WORLD.rank} {dtype} {name} {size}: {zlib.crc32(result.tobytes()):08x} {verdict}"
    )
    return good


def main():
    good = True
    for dtype in DTYPES:
        for name in OPERATIONS:
            if dtype.startswith("c") and name in ("max", "min"):
                continue
            for size in SIZES:
                good = check(dtype, name, size) and good
    # Objects travel pickled, the operation is a Python function.
    total = WORLD.allreduce({WORLD.rank: 1}, op=lambda a, b: {**a, **b})
    ANSWERS.append(f"rank {WORLD.rank} objects: {sorted(total)}")
    # From one rank: lines of several ranks may mix on their way to one file.
    for answers in WORLD.gather(ANSWERS) or []:
        print("\n".join(answers))
    return 0 if good and sorted(total) == list(range(WORLD.size)) else 1


if __name__ == "__main__":
    raise SystemExit(main())
