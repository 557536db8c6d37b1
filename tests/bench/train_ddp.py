"""A training with PyTorch's DistributedDataParallel, whose buckets of gradients MPI adds.

    mpirun -n 4 python3 train_ddp.py --seed 1

The hook is what a program needs to have DistributedDataParallel add with MPI; the rest is as with
any other backend, and nothing here knows of ARC. The hook adds a bucket with one MPI_Allreduce of
MPI_FLOAT, in place, by mpi4py, or with --nonblocking one MPI_Iallreduce, which is waited for at
the end of the backward pass. DistributedDataParallel itself starts with gloo, by which it hands
the first parameters to all ranks.

A network learns to classify sequences of tokens: an embedding, of which most rows have no gradient
on a rank in a step, the mean over the sequence, linear layers with biases, ReLU and layer norms
between them, softmax, cross entropy, Adam with a rate that falls linearly to nothing. The last
bucket holds the embedding, norms, biases and the first linear layer, whose gradients have very
different sizes.

The data are generated, the same in every run: tokens of Zipf's frequencies, which a random network,
the teacher, puts into classes. A part of the labels for training is replaced by random ones; those
of the held-out set are right. --seed is about the rest: the first parameters and the order of the
data.

It prints what train.py prints, and has its exit status.

Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import os
import sys
import tempfile

import numpy
import torch
from mpi4py import MPI
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

sys.dont_write_bytecode = True  # nothing beside the source
from train import (  # noqa: E402
    COLUMNS, WORLD, WRONG_LABELS, batches_of_epoch, make_parser, mean_of_ranks, parsed, print_end,
    print_epoch,
)  # fmt: skip

DATA_SEED = 21
VOCABULARY, LENGTH, CLASSES = 500, 8, 10
TEACHER_FEATURES = 4
EMBEDDED, HIDDEN, LAYERS = 64, 256, 3
BUCKET_MIB = 0.25


def parse_arguments():
    parser = make_parser(__doc__, epochs=2, samples=8192, rate=0.002)
    parser.add_argument("--nonblocking", action="store_true", help="MPI_Iallreduce for each bucket")
    return parsed(parser)


class Mean(torch.nn.Module):
    """Over the sequence."""

    def forward(self, embedded):
        return embedded.mean(dim=1)


def make_network():
    widths = [EMBEDDED] + [HIDDEN] * (1 + LAYERS)
    parts = [torch.nn.Embedding(VOCABULARY, EMBEDDED), Mean(), torch.nn.LayerNorm(EMBEDDED)]
    for inputs, outputs in zip(widths, widths[1:]):
        parts += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU(), torch.nn.LayerNorm(outputs)]
    return torch.nn.Sequential(*parts, torch.nn.Linear(HIDDEN, CLASSES))


class Adder:
    """Its add() is the hook; the lengths of the buckets of the latest step.

    Nonblocking ones are pending while the backward pass goes on to the next bucket; at the last one
    all are waited for.
    """

    def __init__(self, nonblocking):
        self.nonblocking = nonblocking
        self.pending = []
        self.calls = 0
        self.buckets = []

    def finish(self):
        for request, gradients, future in self.pending:
            request.Wait()
            future.set_result(gradients.div_(WORLD.size))
        self.pending = []

    def add(self, _, bucket):
        gradients = bucket.buffer()
        future = torch.futures.Future()
        start = WORLD.Iallreduce if self.nonblocking else WORLD.Allreduce
        request = start(MPI.IN_PLACE, gradients.numpy(), op=MPI.SUM) or MPI.REQUEST_NULL
        self.pending.append((request, gradients, future))
        self.calls += 1
        if bucket.index() == 0:
            self.buckets = []
        self.buckets.append(gradients.numel() * gradients.element_size())
        if not self.nonblocking or bucket.is_last():
            self.finish()
        return future


def start_gloo():
    """All ranks are taken to be on one machine."""
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    place = tempfile.mkdtemp() if WORLD.rank == 0 else None
    place = WORLD.bcast(place, root=0)
    meeting = os.path.join(place, "meeting")
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{meeting}", rank=WORLD.rank, world_size=WORLD.size
    )
    WORLD.Barrier()
    if WORLD.rank == 0:
        os.unlink(meeting)
        os.rmdir(place)


def distribute(network, nonblocking):
    # Otherwise the first bucket has 1 MiB, whatever the others have.
    torch.distributed._DEFAULT_FIRST_BUCKET_BYTES = int(BUCKET_MIB * 2**20)
    model = DistributedDataParallel(network, bucket_cap_mb=BUCKET_MIB)
    adder = Adder(nonblocking)
    model.register_comm_hook(None, adder.add)
    return model, adder


def generate(arguments):
    """This rank's shards ((samples, labels) to learn from, (samples, labels) held out)."""
    generator = numpy.random.default_rng(DATA_SEED)
    features = generator.normal(0, 1, (VOCABULARY, TEACHER_FEATURES))
    outer = generator.normal(0, 1, (TEACHER_FEATURES, CLASSES))
    frequencies = 1 / (10 + numpy.arange(VOCABULARY))
    frequencies /= frequencies.sum()
    shards = []
    for count, wrong in ((arguments.samples, WRONG_LABELS), (arguments.held_out, 0)):
        samples = generator.choice(VOCABULARY, (count, LENGTH), p=frequencies)
        inner = features[samples].mean(axis=1) * numpy.sqrt(LENGTH)
        labels = (numpy.tanh(inner) @ outer).argmax(axis=1)
        other = generator.integers(0, CLASSES, count)
        labels = numpy.where(generator.random(count) < wrong, other, labels)
        shards.append([torch.from_numpy(data[WORLD.rank :: WORLD.size].copy()) for data in (samples, labels)])
    return shards


def run_epoch(arguments, model, optimizer, schedule, shard, generator):
    """Returns the mean loss of this rank's batches."""
    samples, labels = shard
    batches = batches_of_epoch(arguments)
    order = generator.permutation(len(labels))[: batches * arguments.batch]
    loss = 0.0
    for batch in torch.from_numpy(order.reshape(batches, arguments.batch)):
        optimizer.zero_grad()
        error = functional.cross_entropy(model(samples[batch]), labels[batch])
        error.backward()
        optimizer.step()
        schedule.step()
        loss += error.item() / batches
    return loss


def test(network, shard):
    samples, labels = shard
    with torch.no_grad():
        outputs = network(samples)
        right = (outputs.argmax(dim=1) == labels).double().mean().item()
        return functional.cross_entropy(outputs, labels).item(), right


def same_everywhere(network):
    own = b"".join(part.detach().numpy().tobytes() for part in network.parameters())
    return WORLD.allreduce(WORLD.bcast(own, root=0) == own, op=MPI.LAND)


def main():
    arguments = parse_arguments()
    shard, held_out = generate(arguments)
    steps = arguments.epochs * batches_of_epoch(arguments)
    torch.manual_seed(arguments.seed)
    generator = numpy.random.default_rng([arguments.seed, 1 + WORLD.rank])
    start_gloo()
    network = make_network()
    model, adder = distribute(network, arguments.nonblocking)
    optimizer = torch.optim.Adam(network.parameters(), lr=arguments.rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
    if WORLD.rank == 0:
        print(
            f"# {WORLD.size} ranks, {arguments.samples} samples, batches of {arguments.batch} a"
            f" rank, {arguments.epochs} epochs, {steps} steps, rate {arguments.rate:g}, Adam"
        )
        print("\t".join(COLUMNS), flush=True)
    for epoch in range(1, arguments.epochs + 1):
        loss = run_epoch(arguments, model, optimizer, schedule, shard, generator)
        print_epoch(epoch, mean_of_ranks([loss, *test(network, held_out)]))
    same = same_everywhere(network)
    buckets = ", ".join(map(str, adder.buckets))
    print_end(f"{adder.calls} calls that may be approximate, of buckets of {buckets} bytes", same)
    torch.distributed.destroy_process_group()
    return 0 if same else 1


if __name__ == "__main__":
    raise SystemExit(main())
