"""What the universal algorithm is compared with, on matrices in one 2D block for each process, row by row of the grid.

    summa    panels of A and B are broadcast along the rows and columns of the grid (van de Geijn and Watts)
    cannon   square grids: blocks of A and B go around in rows and columns
    pdgemm   ScaLAPACK's product, in floats (Debian: libscalapack-openmpi-dev)

Each has a function run() as Multiplier of matmul.py; 0 is the time in which replicas are added up: there are none.

Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import ctypes
import ctypes.util

import numpy
from blas import gemm
from mpi4py import MPI
from slicing import Refused, pieces


class Blocks:
    """The block of each matrix of this process."""

    def __init__(self, matrices, world):
        self.layouts = {name: matrix.layout for name, matrix in matrices.items()}
        self.grid = self.layouts["C"].grid
        self.place = divmod(world.rank, self.grid[1])
        self.row, self.column = world.Split(self.place[0], world.rank), world.Split(self.place[1], world.rank)
        tiles = {name: layout.tiles[world.rank] for name, layout in self.layouts.items()}
        if not all(tiles.values()):
            raise Refused("a baseline needs a block of each matrix on every process")
        self.block = {name: matrices[name].tile(tiles[name][0])[0] for name in matrices}


class Summa(Blocks):
    def run(self):
        c = self.block["C"]
        c[:] = 0
        for begin, end in pieces(self.layouts, "k", 0, self.layouts["A"].shape[1]):
            panels = []
            for name, side, comm, across in (("A", 1, self.row, len(c)), ("B", 0, self.column, c.shape[1])):
                owner, first = divmod(begin, self.layouts[name].tile_shape[side])
                panel = numpy.empty((across, end - begin) if side else (end - begin, across), "f4")
                if owner == self.place[side]:
                    span = slice(first, first + end - begin)
                    panel[:] = self.block[name][:, span] if side else self.block[name][span]
                comm.Bcast(panel, owner)
                panels.append(panel)
            gemm(*panels, c, 1)()
        return 0


class Cannon(Blocks):
    def __init__(self, matrices, world):
        super().__init__(matrices, world)
        shapes = [side % self.grid[0] for layout in self.layouts.values() for side in layout.shape]
        if self.grid[0] != self.grid[1] or any(shapes):
            raise Refused("cannon needs a square grid, and sides that it divides")

    def run(self):
        a, b, c = (self.block[name].copy() if name != "C" else self.block[name] for name in "ABC")
        row, column = self.place
        c[:] = 0
        for step in range(self.grid[0]):
            for panel, comm, at, by in ((a, self.row, column, row), (b, self.column, row, column)):
                by = by if step == 0 else 1  # at first so far that the inner parts meet
                comm.Sendrecv_replace(panel, (at - by) % comm.size, 0, (at + by) % comm.size, 0)
            gemm(a, b, c, 1)()
        return 0


class Pdgemm(Blocks):
    """For ScaLAPACK, which reads by columns, these are the blocks of the transposed matrices: C' = B' A'."""

    def __init__(self, matrices, world):
        super().__init__(matrices, world)
        name = ctypes.util.find_library("scalapack-openmpi")
        if not name:
            raise Refused("pdgemm needs ScaLAPACK (Debian: libscalapack-openmpi-dev)")
        self.library = ctypes.CDLL(name)
        context = ctypes.c_int()
        self.library.Cblacs_get(0, 0, ctypes.byref(context))
        self.library.Cblacs_gridinit(ctypes.byref(context), b"C", self.grid[1], self.grid[0])
        self.described = {}
        for name, layout in self.layouts.items():
            described, wrong = (ctypes.c_int * 9)(), ctypes.c_int()
            numbers = [*layout.shape[::-1], *layout.tile_shape[::-1], 0, 0, context, self.block[name].shape[1]]
            self.call("descinit_", described, *numbers, wrong)
            assert wrong.value == 0
            self.described[name] = described

    def call(self, name, *arguments):
        """Fortran takes all by reference."""
        getattr(self.library, name)(
            *(ctypes.byref(ctypes.c_int(one) if isinstance(one, int) else one) for one in arguments)
        )

    def run(self):
        sizes = (*self.layouts["C"].shape[::-1], self.layouts["A"].shape[1])
        operands = {}
        for name, block in self.block.items():
            memory = ctypes.c_float.from_address(block.ctypes.data)
            operands[name] = (memory, 1, 1, self.described[name])
        n = ctypes.c_char(b"N")
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        self.call("psgemm_", n, n, *sizes, one, *operands["B"], *operands["A"], zero, *operands["C"])
        return 0


BASELINES = {"summa": Summa, "cannon": Cannon, "pdgemm": Pdgemm}
