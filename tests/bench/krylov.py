#!/usr/bin/python3
"""PETSc's conjugate gradients, cg and the overlapping pipecg and groppcg, and SLEPc's eigensolver.

    mpirun -n 4 /usr/bin/python3 krylov.py [-r ROUNDS] [-s SOLVER,...]
    mpirun -n 4 /usr/bin/python3 krylov.py -e SOLVES

Solves a 5-point Laplacian on a square grid of 64 x 64 points with a Jacobi
preconditioner. cg calls MPI_Allreduce, the others MPI_Iallreduce and do the product with the matrix
meanwhile. The solvers take turns; printed are for each the iterations to a relative residual of
1e-8, which must not depend on who adds, and the median time of an iteration in microseconds. -e finds
the smallest eigenvalues of that matrix by Krylov-Schur in place of that: printed are the number of
restarts, which rounding can change, and eight eigenvalues, which it must not.

Needs Debian's python3-petsc4py, for -e python3-slepc4py.

Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import argparse
import glob
import statistics
import sys
import time

# Where Debian has them, without the packages libpetsc-real-dev and libslepc-real-dev.
for name in ("petsc", "slepc"):
    sys.path += glob.glob(f"/usr/lib/{name}dir/{name}*/*-real/lib/python3/dist-packages")
try:
    import petsc4py
except ImportError:
    sys.exit("krylov.py needs petsc4py: Debian package python3-petsc4py")

petsc4py.init(sys.argv[:1])
from petsc4py import PETSc  # noqa: E402

SOLVERS = ("cg", "pipecg", "groppcg")
TOLERANCE = 1e-8
POINTS, ITERATIONS, MOST_ITERATIONS = 64, 500, 10000
EIGENVALUES = 8


def laplacian(points):
    grid = PETSc.DMDA().create([points, points], stencil_width=1)
    matrix = grid.createMatrix()
    row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
    (x_begin, x_end), (y_begin, y_end) = grid.getRanges()
    for y in range(y_begin, y_end):
        for x in range(x_begin, x_end):
            row.index = (x, y)
            for index, value in (
                ((x, y), 4.0),
                ((x - 1, y), -1.0),
                ((x + 1, y), -1.0),
                ((x, y - 1), -1.0),
                ((x, y + 1), -1.0),
            ):
                if 0 <= index[0] < points and 0 <= index[1] < points:
                    column.index = index
                    matrix.setValueStencil(row, column, value)
    matrix.assemble()
    return matrix


def make_solver(name, matrix, tolerance, most):
    solver = PETSc.KSP().create()
    solver.setOperators(matrix)
    solver.setType(name)
    solver.getPC().setType("jacobi")
    solver.setTolerances(rtol=tolerance, atol=0, max_it=most)
    return solver


def print_eigenvalues(matrix, solves):
    try:
        from slepc4py import SLEPc
    except ImportError:
        sys.exit("krylov.py -e needs slepc4py: Debian package python3-slepc4py")
    for _ in range(solves):
        solver = SLEPc.EPS().create()
        solver.setOperators(matrix)
        solver.setProblemType(SLEPc.EPS.ProblemType.HEP)
        solver.setWhichEigenpairs(SLEPc.EPS.Which.SMALLEST_REAL)
        solver.setDimensions(EIGENVALUES)
        solver.setTolerances(TOLERANCE, MOST_ITERATIONS)
        solver.solve()
        if solver.getConverged() < EIGENVALUES:
            sys.exit(f"only {solver.getConverged()} of {EIGENVALUES} eigenvalues converged")
    PETSc.Sys.Print(f"{solver.getIterationNumber()} restarts")
    for i in range(EIGENVALUES):
        PETSc.Sys.Print(f"eigenvalue {solver.getEigenvalue(i).real:.10f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-r", "--rounds", type=int, default=5)
    parser.add_argument("-s", "--solvers", default=",".join(SOLVERS), help="default: %(default)s")
    parser.add_argument("-e", "--eigenvalues", type=int, metavar="SOLVES")
    options = parser.parse_args()
    solvers = options.solvers.split(",")
    if not set(solvers) <= set(SOLVERS):
        parser.error(f"--solvers: of {', '.join(SOLVERS)}, not {options.solvers}")
    matrix = laplacian(POINTS)
    if options.eigenvalues:
        print_eigenvalues(matrix, options.eigenvalues)
        return
    solution, right = matrix.createVecs()
    right.set(1.0)

    needed = {}
    for name in solvers:
        solver = make_solver(name, matrix, TOLERANCE, MOST_ITERATIONS)
        solver.solve(right, solution)
        needed[name] = solver.getIterationNumber()
    timed = {name: make_solver(name, matrix, 1e-300, ITERATIONS) for name in solvers}
    times = {name: [] for name in solvers}
    for _ in range(options.rounds):
        for name, solver in timed.items():
            PETSc.COMM_WORLD.barrier()
            begin = time.perf_counter()
            solver.solve(right, solution)
            took = time.perf_counter() - begin
            times[name].append(took / solver.getIterationNumber() * 1e6)
    for name in solvers:
        PETSc.Sys.Print(f"{name:8} {needed[name]:6d} {statistics.median(times[name]):10.2f}")


if __name__ == "__main__":
    main()
