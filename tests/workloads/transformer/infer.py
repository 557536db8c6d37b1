"""Tensor-parallel inference with a model of train.py, every rank with its part.

    mpirun -n 4 /usr/bin/python3 infer.py check|prefill -m MODEL -v HELD_OUT

    check     logits of a prefill and of steps of decode against those of the whole model, which every rank also
              computes by itself: the batch, and the largest difference of a logit over the largest logit
    prefill   for texts of several lengths: length, bytes of a sum, median seconds to the first character and in sums;
              of held-out text, when all its sums are made in this way, perplexity and the shares of characters that
              were the most probable one and one of three, and of words

Each line begins with the name of the mode, and says behind that 1 if all ranks have the same bits; prefill also tells
the sums of a text. Exit status 1 if ranks differ in a bit, or check found more than -d; 2 if something cannot be.

Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import math
import statistics
import sys

sys.dont_write_bytecode = True  # nothing beside the source
import numpy  # noqa: E402
from job import (  # noqa: E402
    USAGE, WORLD, WRONG, MPI, Parser, Sum, fail, identical, largest, mean, number, say, whole_numbers,
)  # fmt: skip
from model import RESIDUALS, Model, Pass, fault, load_text, measure_held_out, windows  # noqa: E402

PROMPT, STEPS = 160, 16  # of check: more than a block of queries
WARM_TEXTS = 3


def parse_arguments():
    parser = Parser(__doc__)
    parser.add_argument("mode", choices=["check", "prefill"])
    parser.add_argument("-m", dest="model", required=True, metavar="MODEL")
    parser.add_argument("-v", dest="text", required=True, metavar="HELD_OUT")
    parser.add_argument("-b", dest="numbers", type=whole_numbers, metavar="LIST", help="batches, or lengths")
    parser.add_argument("-n", dest="repeats", type=number(int, 1, 1024), default=32, help="texts to time (%(default)s)")
    parser.add_argument(
        "-q", dest="measured", type=number(int, 0, 1 << 30), default=1 << 15, help="held-out characters (%(default)s)"
    )
    parser.add_argument("-r", dest="residual", choices=RESIDUALS, default=RESIDUALS[0], help="who adds it: model.py")
    parser.add_argument("-d", dest="tolerance", type=float, default=1e-4, help="of check (%(default)s)")
    options = parser.parse_args()
    options.numbers = options.numbers or ([1, 3] if options.mode == "check" else [128, 256, 512, 1024, 2048])
    return options


def logits_of(one, text):
    """Of a prefill of each sequence, then of steps that go on with the text."""
    texts = text[: one.sequences * (PROMPT + STEPS)].reshape(one.sequences, -1)
    one.forward(texts[:, :PROMPT])
    found = [one.logits(slice(None))]
    for step in range(PROMPT, PROMPT + STEPS):
        one.forward(texts[:, step : step + 1])
        found.append(one.logits(slice(None)))
    return numpy.concatenate(found)


def check(options, whole, part, text, add):
    right = True
    for batch in options.numbers:
        if len(text) < batch * (PROMPT + STEPS):
            fail(f"infer.py: -b {batch} needs {batch * (PROMPT + STEPS)} characters")
        alone = logits_of(Pass(whole, batch, PROMPT + STEPS), text)
        split = logits_of(Pass(part, batch, PROMPT + STEPS, add, options.residual), text)
        off = largest(float(abs(split - alone).max() / abs(alone).max()))
        same = identical(split)
        say("check", batch, f"{off:.3e}", int(same))
        right = right and same and off <= options.tolerance  # a NaN is above
    return right


def time_text(one, characters, add):
    """Seconds to the first character, the slowest rank's, and of it in sums, the mean over the ranks."""
    one.past = add.seconds = add.calls = 0
    WORLD.Barrier()
    begin = MPI.Wtime()
    one.forward(characters[None])
    one.logits(slice(-1, None)).argmax()
    return largest(MPI.Wtime() - begin), mean(add.seconds)


def prefill(options, _, part, text, add):
    right = True
    for length in options.numbers:
        begins = windows(text, length)
        if not begins:
            fail(f"infer.py: the text has less than {length + 1} characters")
        one = Pass(part, 1, length, add, options.residual)
        times = []
        for i in range(WARM_TEXTS + options.repeats):
            begin = begins[i % len(begins)]
            times.append(time_text(one, text[begin : begin + length], add))
        sums = add.calls
        first, in_sums = map(statistics.median, zip(*times[WARM_TEXTS:]))
        wanted = begins[: -(-options.measured // length)]
        found = measure_held_out(one, text, wanted, length)
        same = identical(one.logits(slice(None)))
        shares = (found.hits / max(found.count, 1), found.near / max(found.count, 1), found.words_right / max(found.words, 1))
        size = length * part.shape.width * 4
        numbers = (first, in_sums, math.exp(found.loss / max(found.count, 1)), *shares)
        say("prefill", length, size, *(f"{one:.6f}" for one in numbers), int(same), sums)
        right = right and same
    return right


def main():
    options = parse_arguments()
    try:
        whole, text = Model.load(options.model), load_text(options.text)
    except (OSError, ValueError, KeyError) as error:
        print(f"infer.py: {error}", file=sys.stderr)
        WORLD.Abort(USAGE)
    if wrong := fault(whole.shape, WORLD.size):
        fail(f"infer.py: {wrong}")
    add = Sum()
    add.warm()
    right = {"check": check, "prefill": prefill}[options.mode](
        options, whole, whole.split(WORLD.rank, WORLD.size), text, add
    )
    if not right and WORLD.rank == 0:
        print(f"infer.py: ranks differ in a bit, or logits by more than {options.tolerance}", file=sys.stderr)
    return 0 if right else WRONG


sys.exit(main())
