"""Data-parallel training as any program does it with mpi4py and numpy; nothing here knows of ARC.

    mpirun -n 4 python3 train.py --seed 1

A network with two hidden layers learns to classify; softmax, cross entropy, SGD with momentum.
Every rank has all parameters and a shard of the data. A step takes a batch of the shard on every
rank, adds the gradients and divides by the ranks. The rate of learning falls linearly to nothing.
How a step adds, --update says:

    all       one MPI_Allreduce of MPI_FLOAT, in place; every rank updates all parameters
    shards    as ZeRO does: MPI_Reduce_scatter_block gives each rank the gradients of its share of
              the parameters, which it updates; MPI_Allgather, in place, hands all shares to all
    copies    the same, but a rank keeps its share beside the parameters that it computes with, and
              gathers from there, not in place: these parameters may be approximate then

The data are generated, the same in every run: normals that a random network, the teacher, puts into
classes. A part of the labels for training is replaced by random ones; those of the held-out set are
right. --seed is about the rest: the first parameters and the order of the data.

Rank 0 prints a line for each epoch, tab-separated:

    loss           mean over the batches of the epoch, before each was learnt from
    held_out_loss  at the end of the epoch, on data never learnt from
    accuracy       part of these that is classified right

Exit status: 1 if in the end the parameters of all ranks are not the same bytes.

Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import argparse

import numpy
from mpi4py import MPI

WORLD = MPI.COMM_WORLD
COLUMNS = ["epoch", "loss", "held_out_loss", "accuracy"]
DATA_SEED = 20
FEATURES, HIDDEN, CLASSES = 32, 256, 10
MOMENTUM = 0.9
TEACHER_HIDDEN = 8
WRONG_LABELS = 0.05


def make_parser(text, epochs, samples, rate):
    """With the options that each training has."""
    parser = argparse.ArgumentParser(
        description=text.partition("Copyright")[0], formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--epochs", type=int, default=epochs, help="default: %(default)s")
    parser.add_argument("--samples", type=int, default=samples, help="to learn from, of all ranks (%(default)s)")
    parser.add_argument("--held-out", type=int, default=4096, help="samples (%(default)s)")
    parser.add_argument("--batch", type=int, default=32, help="of each rank (%(default)s)")
    parser.add_argument("--rate", type=float, default=rate, help="of learning, at first (%(default)s)")
    return parser


def parsed(parser):
    arguments = parser.parse_args()
    if arguments.samples // WORLD.size < arguments.batch:
        parser.error("a rank's shard has less than one batch")
    return arguments


def parse_arguments():
    parser = make_parser(__doc__, epochs=5, samples=16384, rate=0.05)
    parser.add_argument("--update", choices=["all", "shards", "copies"], default="all", help="%(default)s")
    return parsed(parser)


class Network:
    """Layers (weights, biases) that are parts of one vector, and so are their gradients."""

    def __init__(self, widths, generator, multiple=1):
        pairs = list(zip(widths, widths[1:]))
        count = sum(inputs * outputs + outputs for inputs, outputs in pairs)
        self.parameters = numpy.zeros(count + -count % multiple, dtype=numpy.float32)
        self.gradient = numpy.zeros_like(self.parameters)
        self.layers = self.parts(self.parameters, pairs)
        self.layer_gradients = self.parts(self.gradient, pairs)
        for weights, _ in self.layers:
            # He's variance, which keeps that of the activations behind a ReLU.
            weights[:] = generator.normal(0, numpy.sqrt(2 / weights.shape[0]), weights.shape)

    @staticmethod
    def parts(vector, pairs):
        layers, start = [], 0
        for inputs, outputs in pairs:
            middle, end = start + inputs * outputs, start + (inputs + 1) * outputs
            layers.append((vector[start:middle].reshape(inputs, outputs), vector[middle:end]))
            start = end
        return layers

    def forward(self, samples):
        """What goes into each layer, and what comes out of the last one."""
        activations = [samples]
        for number, (weights, biases) in enumerate(self.layers, 1):
            output = activations[-1] @ weights + biases
            activations.append(output if number == len(self.layers) else numpy.maximum(output, 0))
        return activations

    def learn(self, samples, labels):
        """Sets the gradient of the mean loss, and returns that loss."""
        activations = self.forward(samples)
        probabilities = softmax(activations[-1])
        loss = cross_entropy(probabilities, labels)
        error = probabilities
        error[numpy.arange(len(labels)), labels] -= 1
        error /= len(labels)
        for number in reversed(range(len(self.layers))):
            weights, biases = self.layer_gradients[number]
            weights[:] = activations[number].T @ error
            biases[:] = error.sum(axis=0)
            if number > 0:
                error = (error @ self.layers[number][0].T) * (activations[number] > 0)
        return loss


class UpdateOfAll:
    """Every rank updates all parameters."""

    sums = 0  # that may be approximate

    def __init__(self, network):
        self.network = network
        self.velocity = numpy.zeros_like(network.parameters)

    def step(self, rate):
        WORLD.Allreduce(MPI.IN_PLACE, self.network.gradient, op=MPI.SUM)
        self.sums += 1
        self.velocity *= MOMENTUM
        self.velocity -= rate / WORLD.size * self.network.gradient
        self.network.parameters += self.velocity


class UpdateOfShards:
    """Every rank updates its share, of which it may have a copy of its own."""

    sums = 0

    def __init__(self, network, copies):
        self.network, self.copies = network, copies
        share = network.parameters.reshape(WORLD.size, -1)[WORLD.rank]
        self.share = share.copy() if copies else share
        self.gradient = numpy.zeros_like(self.share)
        self.velocity = numpy.zeros_like(self.share)

    def step(self, rate):
        WORLD.Reduce_scatter_block(self.network.gradient, self.gradient, op=MPI.SUM)
        self.velocity *= MOMENTUM
        self.velocity -= rate / WORLD.size * self.gradient
        self.share += self.velocity
        WORLD.Allgather(self.share if self.copies else MPI.IN_PLACE, self.network.parameters)
        self.sums += 2 if self.copies else 1


def softmax(outputs):
    powers = numpy.exp(outputs - outputs.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def cross_entropy(probabilities, labels):
    likely = probabilities[numpy.arange(len(labels)), labels].astype(numpy.float64)
    return -numpy.log(numpy.maximum(likely, numpy.finfo(numpy.float32).tiny)).mean()


def generate(arguments):
    """This rank's shards ((samples, labels) to learn from, (samples, labels) held out)."""
    generator = numpy.random.default_rng(DATA_SEED)
    inner = generator.normal(0, 1, (FEATURES, TEACHER_HIDDEN))
    outer = generator.normal(0, 1, (TEACHER_HIDDEN, CLASSES))
    shards = []
    for count, wrong in ((arguments.samples, WRONG_LABELS), (arguments.held_out, 0)):
        samples = generator.normal(0, 1, (count, FEATURES)).astype(numpy.float32)
        labels = (numpy.tanh(samples @ inner / numpy.sqrt(FEATURES)) @ outer).argmax(axis=1)
        other = generator.integers(0, CLASSES, count)
        labels = numpy.where(generator.random(count) < wrong, other, labels)
        shards.append((samples[WORLD.rank :: WORLD.size], labels[WORLD.rank :: WORLD.size]))
    return shards


def mean_of_ranks(values):
    """Of a few numbers, in double precision."""
    total = numpy.array(values, dtype=numpy.float64)
    WORLD.Allreduce(MPI.IN_PLACE, total, op=MPI.SUM)
    return total / WORLD.size


def print_epoch(epoch, results):
    if WORLD.rank == 0:
        print(epoch, *(f"{result:.6f}" for result in results), sep="\t", flush=True)


def print_end(calls, same):
    if WORLD.rank == 0:
        verdict = "the same bytes" if same else "NOT THE SAME"
        print(f"# {calls}\n# the parameters of all ranks are {verdict}", flush=True)


def describe(arguments):
    return (
        f"{WORLD.size} ranks, {arguments.samples} samples, batches of {arguments.batch} a rank,"
        f" {arguments.epochs} epochs, {arguments.epochs * batches_of_epoch(arguments)} steps,"
        f" rate {arguments.rate:g}, momentum {MOMENTUM:g}"
    )


def batches_of_epoch(arguments):
    """The same number on every rank, or one would wait for a gradient that never comes."""
    return arguments.samples // WORLD.size // arguments.batch


def run_epoch(arguments, epoch, network, update, shard, generator):
    """Returns the mean loss of this rank's batches; epochs count from 1."""
    samples, labels = shard
    batches = batches_of_epoch(arguments)
    order = generator.permutation(len(labels))[: batches * arguments.batch]
    loss = 0.0
    for step, batch in enumerate(order.reshape(batches, arguments.batch), (epoch - 1) * batches):
        rate = arguments.rate * (1 - step / (arguments.epochs * batches))
        loss += network.learn(samples[batch], labels[batch]) / batches
        update.step(rate)
    return loss


def test(network, shard):
    samples, labels = shard
    outputs = network.forward(samples)[-1]
    return cross_entropy(softmax(outputs), labels), (outputs.argmax(axis=1) == labels).mean()


def same_everywhere(vector):
    reference = vector.copy()
    WORLD.Bcast(reference, root=0)
    return WORLD.allreduce(reference.tobytes() == vector.tobytes(), op=MPI.LAND)


def main():
    arguments = parse_arguments()
    shard, held_out = generate(arguments)
    widths = [FEATURES, HIDDEN, HIDDEN, CLASSES]
    multiple = 1 if arguments.update == "all" else WORLD.size
    network = Network(widths, numpy.random.default_rng([arguments.seed]), multiple)
    update = UpdateOfAll(network) if arguments.update == "all" else UpdateOfShards(network, arguments.update == "copies")
    generator = numpy.random.default_rng([arguments.seed, 1 + WORLD.rank])
    if WORLD.rank == 0:
        print(f"# {describe(arguments)}, {network.gradient.nbytes} bytes of gradient")
        print("\t".join(COLUMNS), flush=True)
    for epoch in range(1, arguments.epochs + 1):
        loss = run_epoch(arguments, epoch, network, update, shard, generator)
        print_epoch(epoch, mean_of_ranks([loss, *test(network, held_out)]))
    same = same_everywhere(network.parameters)
    print_end(f"{update.sums} calls that may be approximate", same)
    return 0 if same else 1


if __name__ == "__main__":
    raise SystemExit(main())
