"""Multiplies distributed matrices, C = A B, by the universal one-sided algorithm, and times it.

    mpirun -n 4 /usr/bin/python3 matmul.py -m 256 -k 2048 -n 512 'col,row,block*2,C'
    mpirun -n 4 /usr/bin/python3 matmul.py -v 200            random combinations, checked

A job is as in slicing.py. Direct execution: for each product the tiles of the next ones are on their way, what is
there is multiplied, and sums for tiles of C are accumulated while the next product is computed. All ranks keep their
tiles in one window for each matrix, locked for all from the start, so that MPI_Rget and MPI_Raccumulate need nobody's
help. Where C stays, a product adds to the tile in place: no other process writes it. Where A or B stays several
processes may add to a tile, so that every sum goes by accumulate, to an own tile, too.

Printed are tab-separated lines, with a header; times in milliseconds, medians of the slowest rank. Exit status: 1 if a
sum is wrong or other bytes were moved than the lists of products have; 2 and one message for what cannot be.

Source: Brock and Golin, "Slicing Is All You Need", sections 3 and 4.2.

Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import functools
import os
import random
import statistics
import sys

sys.dont_write_bytecode = True  # nothing beside the source
import numpy  # noqa: E402
from blas import gemm  # noqa: E402

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "transformer"))
from job import WORLD, MPI, Parser, fail, number, say  # noqa: E402
from slicing import Refused, draw_job, elements, list_products, moved_bytes, parse_job  # noqa: E402

MOST = 1 << 20  # of a number of the command line
SEEDS = {"A": 0, "B": 1}
COLUMNS = "job ms best_ms reduce_ms tile_bytes reduce_bytes error".split()


@functools.lru_cache(maxsize=None)
def rows_type(rows, columns, width):
    """Rows of a tile that is wider than they are."""
    return MPI.FLOAT.Create_vector(rows, columns, width).Commit()


@functools.lru_cache(maxsize=None)
def ranks_with(member, replicas):
    """The ranks that keep the same tiles: made when first needed, and kept, as a program would."""
    assert WORLD.size % replicas == 0
    return WORLD.Split(member, WORLD.rank)


def make_values(name, box, whole):
    """Those of a box of a matrix: a hash of matrix and place, so that each process makes any part. Whole numbers from
    -4 to 4, whose sums are exact in a float, or uniform in [-1, 1)."""
    row, column = (numpy.arange(*span, dtype=numpy.uint64) for span in box)
    bits = (row[:, None] << 30) + column + (SEEDS[name] << 60)
    bits = (bits + 0x9E3779B97F4A7C15) * numpy.uint64(0xBF58476D1CE4E5B9)  # splitmix64
    bits = (bits ^ (bits >> 27)) * numpy.uint64(0x94D049BB133111EB)
    bits ^= bits >> 31
    return (bits % 9).astype("f4") - 4 if whole else (bits >> 40).astype("f4") / 2**23 - 1


class Matrix:
    """A distributed matrix of floats, whose tiles every rank reads and adds to."""

    def __init__(self, name, layout):
        self.layout = layout
        self.replica, self.member = divmod(WORLD.rank, layout.members)
        count = layout.stored[self.member]
        # A rank without tiles has a window, too.
        self.window = MPI.Win.Allocate(4 * max(count, 1), 4, comm=WORLD)
        self.window.Lock_all(MPI.MODE_NOCHECK)
        self.local = numpy.frombuffer(self.window, "f4", count)
        self.replicas = ranks_with(self.member, layout.replicas) if layout.replicas > 1 else None
        self.moved = 0  # bytes to and from other ranks in a multiplication, by gets and accumulates of this rank

    def free(self):
        self.local = None
        self.window.Unlock_all()
        self.window.Free()

    def tile(self, tile):
        """A tile of this process, and where it begins."""
        (top, bottom), (left, right) = self.layout.bounds(tile)
        place = self.layout.places[tile]
        shape = (bottom - top, right - left)
        return self.local[place : place + shape[0] * shape[1]].reshape(shape), (top, left)

    def target(self, tile, part):
        """Rank, and what MPI wants to know of a part of a tile."""
        bounds = self.layout.bounds(tile)
        (top, bottom), (left, right) = part
        width = bounds[1][1] - bounds[1][0]
        owner = self.replica * self.layout.members + self.layout.owner(tile)
        place = self.layout.places[tile] + (top - bounds[0][0]) * width + left - bounds[1][0]
        self.moved += 4 * elements(part) if owner != WORLD.rank else 0
        if right - left == width or bottom - top == 1:
            return owner, [place, elements(part), MPI.FLOAT]
        return owner, [place, 1, rows_type(bottom - top, right - left, width)]

    def get(self, tile, part, into):
        """A function that starts it."""
        return functools.partial(self.window.Rget, into, *self.target(tile, part))

    def accumulate(self, tile, part, values):
        return functools.partial(self.window.Raccumulate, values, *self.target(tile, part), op=MPI.SUM)

    def synchronize(self):
        """What was stored and accumulated before it, on any rank, is seen after it by all."""
        self.window.Sync()
        WORLD.Barrier()
        self.window.Sync()

    def reduce_replicas(self):
        """Adds up all replicas, in all of them: the one allreduce of a multiplication."""
        if self.replicas:
            self.replicas.Allreduce(MPI.IN_PLACE, self.local, MPI.SUM)


def slice_of(array, start, part):
    return array[tuple(slice(span[0] - begin, span[1] - begin) for span, begin in zip(part, start))]


class Step:
    """A product, as calls that are ready to be made."""

    def __init__(self):
        self.fetches = {}  # {(matrix, buffer): what starts the transfer}
        self.buffers = []  # (matrix, buffer) of what comes from elsewhere
        self.multiply = None
        self.turn = 0  # the buffer of the sums
        self.accumulate = None  # starts the transfer of the sums


class Multiplier:
    """The products of this process, and the buffers of one multiplication, made once for all of them."""

    def __init__(self, matrices, layouts, stays, ahead, sums):
        self.matrices, self.ahead, self.sums = matrices, ahead, sums
        # One buffer more than must be there: a tile may be used again.
        products = list_products(layouts, stays, WORLD.rank, ahead + 2)
        operands = {name: [product.operand[name] for product in products] for name in "AB"}
        most = {name: max([elements(one.part) for one in operands[name] if one.fetch], default=0) for name in "AB"}
        most["C"] = max([elements(product.slice("C")) for product in products], default=0)
        self.buffers = {name: numpy.zeros((ahead + 2, most[name]), "f4") for name in "AB"}
        self.buffers["C"] = numpy.zeros((sums, 0 if stays == "C" else most["C"]), "f4")
        self.steps = []
        for product in products:
            self.steps.append(self.prepare(product, stays))

    def prepare(self, product, stays):
        step = Step()
        a, b = (self.operand(step, product, name) for name in "AB")
        tile, part = product.tile["C"], product.slice("C")
        if stays == "C":
            step.multiply = gemm(a, b, slice_of(*self.matrices["C"].tile(tile), part), 1)
            return step
        before = self.steps[-1] if self.steps else step
        step.turn = (before.turn + (before.accumulate is not None)) % self.sums
        c = self.buffer("C", step.turn, part)
        step.multiply = gemm(a, b, c, 0 if product.first else 1)
        if product.last:
            step.accumulate = self.matrices["C"].accumulate(tile, part, c)
        return step

    def buffer(self, name, slot, part):
        return self.buffers[name][slot][: elements(part)].reshape([end - begin for begin, end in part])

    def operand(self, step, product, name):
        """The slice of a product, which is there once the transfer to its buffer has come to its end."""
        operand, tile = product.operand[name], product.tile[name]
        if operand.local:
            return slice_of(*self.matrices[name].tile(tile), product.slice(name))
        into = self.buffer(name, operand.slot, operand.part)
        step.buffers.append((name, operand.slot))
        if operand.fetch:
            step.fetches[name, operand.slot] = self.matrices[name].get(tile, operand.part, into)
        return slice_of(into, [begin for begin, _ in operand.part], product.slice(name))

    def run(self):
        """Seconds of reduce_replicas."""
        c = self.matrices["C"]
        getting, sending = {}, [MPI.REQUEST_NULL] * self.sums
        started = 0
        c.local[:] = 0
        c.synchronize()  # no sum comes before the zero
        for number, step in enumerate(self.steps):
            for one in self.steps[started : number + self.ahead + 1]:
                getting.update((buffer, start()) for buffer, start in one.fetches.items())
                started += 1
            for buffer in step.buffers:
                getting.pop(buffer, MPI.REQUEST_NULL).Wait()
            sending[step.turn].Wait()
            step.multiply()
            if step.accumulate:
                sending[step.turn] = step.accumulate()
        MPI.Request.Waitall(sending)
        c.window.Flush_all()
        c.synchronize()  # all sums are there
        begin = MPI.Wtime()
        c.reduce_replicas()
        return MPI.Wtime() - begin


def error_of(c, dims, whole):
    """The Frobenius norm of the difference between C and the product of the whole matrices, divided by that of this
    product; of the worst replica."""
    a, b = (make_values(name, [(0, dims[dim]) for dim in sides], whole) for name, sides in (("A", "mk"), ("B", "kn")))
    right = a @ b
    squares = numpy.zeros((c.layout.replicas, 2))
    for tile in c.layout.tiles[c.member]:
        expected = slice_of(right, (0, 0), c.layout.bounds(tile)).astype("f8")
        squares[c.replica] += ((c.tile(tile)[0] - expected) ** 2).sum(), (expected**2).sum()
    WORLD.Allreduce(MPI.IN_PLACE, squares)
    of_each = squares[:, 0] / numpy.where(squares[:, 1] > 0, squares[:, 1], 1)
    return float(numpy.sqrt(of_each).max())  # a NaN stays one


def run_job(job, dims, options):
    """What is printed of it."""
    layouts, stays = parse_job(job, dims, WORLD.size)
    matrices = {name: Matrix(name, layout) for name, layout in layouts.items()}
    for name in "AB":
        for tile in layouts[name].tiles[matrices[name].member]:
            matrices[name].tile(tile)[0][:] = make_values(name, layouts[name].bounds(tile), options.whole)
        matrices[name].synchronize()
    multiplier = Multiplier(matrices, layouts, stays, options.ahead, options.sums)
    times = numpy.zeros((2, options.calls))
    for call in range(-options.warm, options.calls):
        WORLD.Barrier()
        begin = MPI.Wtime()
        reducing = multiplier.run()
        if call >= 0:
            times[:, call] = MPI.Wtime() - begin, reducing
    WORLD.Allreduce(MPI.IN_PLACE, times, MPI.MAX)
    moved = WORLD.allreduce(sum(matrix.moved for matrix in matrices.values()))
    error = error_of(matrices["C"], dims, options.whole)
    for matrix in matrices.values():
        matrix.free()
    expected, reduced = moved_bytes(layouts, stays, options.ahead + 2)
    wrong = (options.whole and error != 0) or moved != expected
    total, reducing = 1e3 * times
    return wrong, [job, statistics.median(total), min(total), statistics.median(reducing), moved, reduced, error]


def run_jobs(options):
    dims = {dim: getattr(options, dim) for dim in "mkn"}
    for job in options.jobs:
        parse_job(job, dims, WORLD.size)
    say(*COLUMNS)
    wrongs = 0
    for job in options.jobs:
        wrong, row = run_job(job, dims, options)
        say(row[0], *(f"{cell:.6g}" for cell in row[1:4]), *map(int, row[4:6]), f"{row[6]:.3g}")
        wrongs += wrong
    return wrongs


def verify(options):
    options.calls = options.warm = 1  # a second multiplication begins where the first has left C
    options.whole = True
    drawn, wrongs = random.Random(options.seed), 0
    for _ in range(options.verify):
        dims, job = draw_job(drawn, WORLD.size)
        wrong, row = run_job(job, dims, options)
        if wrong:
            say(f"wrong by {row[-1]:g}: {dims} {job}")
        wrongs += wrong
    right = options.verify - wrongs
    say(f"{right} of {options.verify} combinations right on {WORLD.size} ranks, seed {options.seed}")
    return wrongs


def main():
    parser = Parser(__doc__)
    for dim, text in (("m", "rows of C"), ("k", "products of each element"), ("n", "columns")):
        parser.add_argument(f"-{dim}", type=number(int, 1, MOST), default=256, help=f"{text} (%(default)s)")
    parser.add_argument("-i", dest="calls", type=number(int, 1, MOST), default=10, help="timed multiplications, after")
    parser.add_argument("-w", dest="warm", type=number(int, 0, MOST), default=3, help="others that are not timed")
    parser.add_argument("-e", dest="whole", action="store_true", help="whole numbers: any other sum is an error")
    parser.add_argument("-p", dest="ahead", type=number(int, 0, 99), default=2, help="products ahead that are fetched")
    parser.add_argument("-a", dest="sums", type=number(int, 1, 99), default=2, help="accumulates under way")
    parser.add_argument("-v", dest="verify", type=number(int, 1, MOST), default=0, help="random combinations, as -e")
    parser.add_argument("-x", dest="seed", type=number(int, 0, MOST), default=1, help="of these")
    parser.add_argument("jobs", metavar="JOB", nargs="*")
    options = parser.parse_args()
    if bool(options.jobs) == bool(options.verify):
        parser.error("use either -v COUNT or jobs, as row,col,block*2,C")
    try:
        wrongs = verify(options) if options.verify else run_jobs(options)
    except Refused as refused:
        fail(f"matmul.py: {refused}")
    return 1 if wrongs else 0


if __name__ == "__main__":
    sys.exit(main())
