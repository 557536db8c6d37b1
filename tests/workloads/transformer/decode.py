"""Steps of tensor-parallel decode, or prefill, of models that no small machine holds: the sums over the ranks are real,
what is computed between them is a wait (waits.py).

    mpirun -n 4 /usr/bin/python3 decode.py -m 8B,70B -b 1,16

-b is the tokens at a time: decode has one of each text of its batch, prefill all of a text. A sum has tokens x width
floats, or bf16 numbers in MPI_UINT16_T. All layers are alike, so only as many run as fit the time -s. Prints a line for
each model and number of tokens: layer, name, tokens, bytes of a sum, seconds of a layer, layers, share of the time in
sums, seconds of a sum, waited time over wanted, error (mean square over mean square). Exit status 1 if the ranks differ
in a bit, or a sum by more than -d.

Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import sys

sys.dont_write_bytecode = True  # nothing beside the source
import numpy  # noqa: E402
from job import WORLD, WRONG, MPI, Parser, Sum, identical, largest, mean, number, say, whole_numbers  # noqa: E402
from waits import MODELS, Accelerator, add_options  # noqa: E402

LEAST_LAYERS, MOST_LAYERS = 4, 100000
CHUNK = 1 << 20  # numbers that are made at a time
TYPES = {"float": (numpy.dtype("f4"), MPI.FLOAT), "bf16": (numpy.dtype("u2"), MPI.UINT16_T)}


def parse_arguments():
    parser = Parser(__doc__)
    parser.add_argument("-m", dest="models", default="8B,70B,405B", metavar="LIST", help="(%(default)s)")
    parser.add_argument("-b", dest="batches", type=whole_numbers, default=[1, 4, 16, 64], metavar="LIST")
    parser.add_argument("-s", dest="seconds", type=number(float, 1e-6, 1e6), default=0.25, help="(%(default)s)")
    parser.add_argument("-d", dest="tolerance", type=float, default=1e-12, help="(%(default)s)")
    parser.add_argument("-t", dest="type", choices=TYPES, default="float", help="(%(default)s)")
    add_options(parser)
    options = parser.parse_args()
    options.models = options.models.split(",")
    if not set(options.models) <= set(MODELS):
        parser.error(f"-m: of {', '.join(MODELS)}")
    return options


def chunks(count):
    return [slice(begin, min(begin + CHUNK, count)) for begin in range(0, count, CHUNK)]


def contribution(random, count):
    """The next of a rank's numbers, which have heavier tails than normal ones, as activations have."""
    uniform = 2 * random.random(count) - 1
    return (uniform / (1.1 - abs(uniform))).astype("f4")


def to_type(floats, dtype):
    """The upper half of a float is a bf16; half of the last place makes cutting a rounding."""
    return floats if dtype == floats.dtype else ((floats.view("u4") + 0x8000) >> 16).astype(dtype)


def to_floats(numbers):
    return numbers if numbers.dtype == "f4" else (numbers.astype("u4") << 16).view("f4")


class Bench:
    def __init__(self, options, model, tokens):
        self.model, self.tokens = model, tokens
        dtype, datatype = TYPES[options.type]
        self.source = numpy.empty(tokens * model.width, dtype)
        random = numpy.random.default_rng(WORLD.rank)
        for part in chunks(len(self.source)):
            self.source[part] = to_type(contribution(random, part.stop - part.start), dtype)
        self.target = numpy.zeros_like(self.source)
        self.buffers = [self.source, datatype], [self.target, datatype]
        self.accelerator = Accelerator(options)
        self.sum_seconds = 0

    def add(self):
        begin = MPI.Wtime()
        WORLD.Allreduce(*self.buffers)
        self.sum_seconds += MPI.Wtime() - begin

    def run(self, layers):
        """Seconds of them."""
        begin = MPI.Wtime()
        for _ in range(layers):
            self.accelerator.layer(self.model, WORLD.size, self.tokens, self.add)
        return MPI.Wtime() - begin

    def error(self):
        """The largest of the ranks' mean square errors, over the mean square of the right sum."""
        squares = errors = 0
        randoms = [numpy.random.default_rng(rank) for rank in range(WORLD.size)]
        for part in chunks(len(self.target)):
            right = sum(contribution(random, part.stop - part.start).astype("f8") for random in randoms)
            squares += (right**2).sum()
            errors += ((to_floats(self.target[part]) - right) ** 2).sum()
        return largest(float(errors / squares))


def measure(options, name, tokens):
    bench = Bench(options, MODELS[name], tokens)
    bench.run(LEAST_LAYERS)  # first touch, connections
    fit = int(LEAST_LAYERS * options.seconds / bench.run(LEAST_LAYERS))
    layers = WORLD.bcast(min(max(fit, LEAST_LAYERS), MOST_LAYERS))
    bench.accelerator.waited = bench.accelerator.wanted = 0
    WORLD.Barrier()
    bench.sum_seconds = 0
    seconds = bench.run(layers)
    summing, seconds = mean(bench.sum_seconds), largest(seconds)
    waited = mean(bench.accelerator.waited / bench.accelerator.wanted)
    error, same = bench.error(), identical(bench.target)
    say(
        "layer", name, tokens, bench.source.nbytes, f"{seconds / layers:.7f}", bench.model.layers,
        f"{summing / seconds:.4f}", f"{summing / (2 * layers):.7f}", f"{waited:.3f}", f"{error:.2e}",
    )  # fmt: skip
    return same and error <= options.tolerance


def main():
    options = parse_arguments()
    Sum().warm()
    right = [measure(options, name, tokens) for name in options.models for tokens in options.batches]
    return 0 if all(right) else WRONG


sys.exit(main())
