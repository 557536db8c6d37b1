"""Trains a character model: every rank has the whole model and a part of each batch, gradients are added by one
MPI_Allreduce a step, and every rank takes the same step of Adam.

    mpirun -n 2 /usr/bin/python3 train.py -t TEXT -v HELD_OUT -o MODEL

The sequences of a batch do not depend on the number of ranks. The rate of learning rises for a twentieth of the steps,
then falls as a cosine to a twentieth. Prints lines of: step, loss of the batch in nats, and at the end the held-out
perplexity and share of characters foretold. Exit status 1 if the ranks' weights differ in a bit.

Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import math
import sys

sys.dont_write_bytecode = True  # nothing beside the source
import numpy  # noqa: E402
from job import USAGE, WORLD, WRONG, MPI, Parser, Sum, fail, identical, mean, number, say  # noqa: E402
from model import VOCABULARY, Model, Pass, Shape, fault, load_text, loss, measure_held_out, windows  # noqa: E402

LINES = 20
HELD_OUT_CHARACTERS = 1 << 15
# Kingma, Ba 2015, algorithm 1, with beta2 for short runs
ADAM_FIRST, ADAM_SECOND, ADAM_EPSILON = 0.9, 0.98, 1e-8
LARGEST_NORM = 1  # of a gradient; a longer one is cut to it
LOWEST_RATE = 0.05  # of the largest


def parse_arguments():
    parser = Parser(__doc__)
    parser.add_argument("-t", dest="text", required=True, metavar="FILE", help="to learn from")
    parser.add_argument("-v", dest="held_out", required=True, metavar="FILE", help="to measure on")
    parser.add_argument("-o", dest="out", required=True, metavar="FILE", help="where the model goes")
    for letter, name, default, text in (
        ("n", "steps", 1200, ""), ("w", "width", 144, ""), ("l", "layers", 3, ""), ("a", "heads", 12, ""),
        ("u", "hidden", 576, "units of an MLP"), ("c", "context", 256, "characters of a sequence"),
        ("b", "batch", 4, "sequences of a batch, of all ranks together"), ("s", "seed", 1, ""),
    ):  # fmt: skip
        parser.add_argument(
            f"-{letter}", dest=name, type=number(int, 1, 1 << 30), default=default, help=f"{text} (%(default)s)"
        )
    parser.add_argument("-r", dest="rate", type=number(float, 1e-9, 1), default=0.003, help="at most (%(default)s)")
    options = parser.parse_args()
    options.shape = Shape(VOCABULARY, options.width, options.layers, options.heads, options.hidden)
    if options.batch % WORLD.size:
        wanted = (options.batch // WORLD.size + 1) * WORLD.size
        parser.error(f"{WORLD.size} ranks cannot share a batch of {options.batch}: use -b {wanted}")
    if wrong := fault(options.shape, 1):
        parser.error(wrong)
    return options


def load_texts(options):
    try:
        texts = load_text(options.text), load_text(options.held_out)
        if WORLD.rank == 0:
            open(options.out, "ab").close()  # not to learn it an hour later
    except OSError as error:
        print(f"train.py: {error}", file=sys.stderr)
        WORLD.Abort(USAGE)
    if min(map(len, texts)) <= options.context:
        fail(f"train.py: texts need more than {options.context} characters")
    return texts


def rate_of(options, step):
    warm = options.steps / 20 + 1
    if step < warm:
        return options.rate * (step + 1) / warm
    return options.rate * (LOWEST_RATE + (1 - LOWEST_RATE) * (1 + math.cos(math.pi * step / options.steps)) / 2)


class Trainer:
    def __init__(self, options, text):
        self.options, self.text = options, text
        self.sequences = options.batch // WORLD.size
        self.model, self.gradient = Model(options.shape), Model(options.shape)
        self.model.draw(options.seed)
        self.first, self.second = numpy.zeros((2, len(self.model.values)), "f4")
        self.one = Pass(self.model, self.sequences, options.context, keep=True)
        self.add = Sum()

    def draw_batch(self, step):
        """Windows of the text for this rank's part of a batch."""
        context, found = self.options.context, []
        for i in range(self.sequences):
            place = step * self.options.batch + WORLD.rank * self.sequences + i
            random = numpy.random.default_rng([self.options.seed, place])
            begin = random.integers(len(self.text) - context)
            found.append(self.text[begin : begin + context + 1])
        return numpy.array(found)

    def take_step(self, step):
        gradient, first, second = self.gradient.values, self.first, self.second
        gradient /= WORLD.size  # it is a sum over the ranks, of means
        length = numpy.sqrt(numpy.square(gradient, dtype="f8").sum())
        gradient *= numpy.float32(min(1, LARGEST_NORM / length) if length else 1)
        first += numpy.float32(1 - ADAM_FIRST) * (gradient - first)
        second += numpy.float32(1 - ADAM_SECOND) * (gradient * gradient - second)
        rate = rate_of(self.options, step) / (1 - ADAM_FIRST ** (step + 1))
        root_bias = 1 / math.sqrt(1 - ADAM_SECOND ** (step + 1))
        root = numpy.sqrt(second) * numpy.float32(root_bias) + numpy.float32(ADAM_EPSILON)
        self.model.values -= numpy.float32(rate) * first / root

    def step(self, step):
        """One batch; the mean loss over all ranks."""
        batch = self.draw_batch(step)
        self.gradient.values[:] = 0
        self.one.past = 0
        self.one.forward(batch[:, :-1])
        came = batch[:, 1:].reshape(-1)
        nats, gradient = loss(self.one.logits(slice(None)), came)
        self.one.backward(batch[:, :-1], gradient, self.gradient)
        self.add(self.gradient.values)
        self.take_step(step)
        return mean(nats / len(came))


def print_held_out(options, model, text):
    """Each rank takes its windows."""
    begins = windows(text, options.context)[: HELD_OUT_CHARACTERS // options.context + 1]
    one = Pass(model, 1, options.context)
    found = numpy.array(measure_held_out(one, text, begins[WORLD.rank :: WORLD.size], options.context))
    WORLD.Allreduce(MPI.IN_PLACE, found)
    say("held_out", "perplexity", f"{math.exp(found[0] / found[3]):.5f}")
    say("held_out", "accuracy", f"{found[1] / found[3]:.5f}")


def main():
    options = parse_arguments()
    text, held_out = load_texts(options)
    begin = MPI.Wtime()
    trainer = Trainer(options, text)
    interval = max(1, options.steps // LINES)
    losses = []
    for step in range(options.steps):
        losses.append(trainer.step(step))
        if (step + 1) % interval == 0:
            say("step", step + 1, f"{sum(losses[-interval:]) / interval:.4f}")
    same = identical(trainer.model.values)
    print_held_out(options, trainer.model, held_out)
    say("training", "weights", len(trainer.model.values))
    say("training", "seconds", f"{MPI.Wtime() - begin:.1f}")
    say("training", "identical", int(same))
    if WORLD.rank == 0:
        trainer.model.save(options.out)
    return 0 if same else WRONG


sys.exit(main())
