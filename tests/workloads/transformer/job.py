"""What programs share of MPI: the timed sum over the ranks, and errors that end all ranks.

Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import argparse
import hashlib
import sys

import mpi4py

mpi4py.rc.threads = False  # no locks, and Open MPI's pt2pt windows refuse threads
import numpy  # noqa: E402
from mpi4py import MPI  # noqa: E402

WORLD = MPI.COMM_WORLD
WRONG, USAGE = 1, 2  # exit statuses
WARM_CALLS = 120  # a component that looks at a program's first calls is set up then


def fail(text):
    """Ends the program on all ranks, which all call it, with one line from rank 0."""
    if WORLD.rank == 0:
        print(text, file=sys.stderr)
    sys.exit(USAGE)


class Parser(argparse.ArgumentParser):
    def __init__(self, text):
        super().__init__(
            description=text.partition("Copyright")[0], formatter_class=argparse.RawDescriptionHelpFormatter
        )

    def error(self, message):
        fail(f"{self.prog}: {message}")


def number(kind, least, most):
    """For argparse."""

    def convert(text):
        value = kind(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text}: from {least} to {most}")
        return value

    return convert


def whole_numbers(text):
    """1,16 as [1, 16], for argparse."""
    return [number(int, 1, 1 << 20)(word) for word in text.split(",")]


class Sum:
    """Adds arrays over the ranks, in place; its seconds and calls so far."""

    def __init__(self):
        self.seconds = self.calls = 0

    def __call__(self, array):
        begin = MPI.Wtime()
        WORLD.Allreduce(MPI.IN_PLACE, array)
        self.seconds += MPI.Wtime() - begin
        self.calls += 1

    def warm(self):
        one = numpy.ones(1, "f4")
        for _ in range(WARM_CALLS):
            self(one)


def mean(value):
    return WORLD.allreduce(value) / WORLD.size


def largest(value):
    return WORLD.allreduce(value, MPI.MAX)


def identical(array):
    """Whether all ranks have the same bits."""
    return len(set(WORLD.allgather(hashlib.sha256(array).digest()))) == 1


def say(*words):
    """A line of tab-separated words, from rank 0."""
    if WORLD.rank == 0:
        print(*words, sep="\t", flush=True)
