#!/usr/bin/python3
"""SLEPc's eigensolver, Krylov-Schur: the smallest eigenvalues of a Laplacian.

    mpirun -n 4 /usr/bin/python3 eigen.py [SOLVES]

The matrix is that of bench/krylov.py, on a grid of 64 x 64. Printed are the number of restarts,
which rounding can change, and eight eigenvalues, which it must not.

Needs Debian's python3-slepc4py.

Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import glob
import os
import sys

sys.dont_write_bytecode = True  # nothing beside the source
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, os.pardir, os.pardir, "bench"))
# Where Debian has it, without the package libslepc-real-dev.
sys.path += glob.glob("/usr/lib/slepcdir/slepc*/*-real/lib/python3/dist-packages")
from krylov import PETSc, laplacian  # noqa: E402

try:
    from slepc4py import SLEPc
except ImportError:
    sys.exit("eigen.py needs slepc4py: Debian package python3-slepc4py")

GRID = 64
WANTED = 8
TOLERANCE = 1e-8
MOST_RESTARTS = 10000


def solve(matrix):
    solver = SLEPc.EPS().create()
    solver.setOperators(matrix)
    solver.setProblemType(SLEPc.EPS.ProblemType.HEP)
    solver.setWhichEigenpairs(SLEPc.EPS.Which.SMALLEST_REAL)
    solver.setDimensions(WANTED)
    solver.setTolerances(TOLERANCE, MOST_RESTARTS)
    solver.solve()
    if solver.getConverged() < WANTED:
        sys.exit(f"only {solver.getConverged()} of {WANTED} eigenvalues converged")
    return solver.getIterationNumber(), [solver.getEigenvalue(i).real for i in range(WANTED)]


def main():
    solves = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    matrix = laplacian(GRID)
    for _ in range(solves):
        restarts, values = solve(matrix)
    PETSc.Sys.Print(f"{restarts} restarts")
    for value in values:
        PETSc.Sys.Print(f"eigenvalue {value:.10f}")


if __name__ == "__main__":
    main()
