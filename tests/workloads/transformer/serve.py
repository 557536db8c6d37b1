"""Serves a trace of requests with a model that no small machine holds: the sums over the ranks are real, what is
computed between them is a wait (waits.py).

    mpirun -n 4 /usr/bin/python3 serve.py -m 70B -p 2

As a serving engine with continuous batching: each step takes a token of every request that has begun to answer, and as
much of the prompts of others as fits into -k. Lengths are drawn from exponential distributions, pauses between requests
from a gamma distribution of shape 2, as table 6 of the NVRAR paper has it. A step of a pipeline is one of -p lanes,
which follow each other from stage to stage; a request stays in its lane. Rank 0 decides what a step has, and the others
learn that from a message. Prints: served, model, requests at a time, requests, answered tokens, seconds, tokens/s,
median and 99th percentile of the seconds from a request's arrival to its first token and to its end.

Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import dataclasses
import statistics
import sys

sys.dont_write_bytecode = True  # nothing beside the source
import numpy  # noqa: E402
from job import WORLD, MPI, Parser, number, say  # noqa: E402
from waits import MODELS, Accelerator, add_options  # noqa: E402

END = -1  # in place of the tokens of a step: everything has been answered
DATA_TAG, DONE_TAG = 1, 2


def parse_arguments():
    parser = Parser(__doc__)
    parser.add_argument("-m", dest="model", choices=MODELS, default="70B")
    for letter, name, default, text in (
        ("l", "layers", 4, "that run"), ("n", "requests", 200, ""), ("c", "at_a_time", 32, "served, at most"),
        ("i", "prompt", 64, "tokens of a prompt, mean"), ("o", "answer", 64, "and of an answer"),
        ("p", "stages", 1, "of a pipeline, each split over ranks / stages ranks"),
        ("k", "step_tokens", 512, "of a step, at most"), ("s", "seed", 1, ""),
    ):  # fmt: skip
        parser.add_argument(
            f"-{letter}", dest=name, type=number(int, 1, 100000), default=default, help=f"{text} (%(default)s)"
        )
    parser.add_argument("-a", dest="arrivals", type=number(float, 1e-6, 1e9), default=100, help="a second (%(default)s)")
    add_options(parser)
    options = parser.parse_args()
    of_lane = options.at_a_time // options.stages
    if WORLD.size % options.stages or options.layers % options.stages or not 0 < of_lane <= options.step_tokens:
        parser.error("-p must divide the ranks and -l; -c at least -p; -k at least the requests of a lane")
    return options


@dataclasses.dataclass
class Request:
    arrival: float
    prompt_left: int  # tokens
    answer_left: int
    prompt_now: int = 0  # in the step that is under way
    first: float = 0  # when its first token was there
    end: float = 0


def draw_requests(options):
    random = numpy.random.default_rng(options.seed)
    arrivals = random.gamma(2, 1 / (2 * options.arrivals), options.requests).cumsum()
    prompts, answers = (1 + random.exponential(mean, options.requests) for mean in (options.prompt, options.answer))
    return [Request(arrival, int(prompt), int(answer)) for arrival, prompt, answer in zip(arrivals, prompts, answers)]


class Planner:
    """What the steps of each lane have: rank 0's."""

    def __init__(self, options, requests):
        self.options, self.waiting = options, requests[::-1]
        self.lanes = [[] for _ in range(options.stages)]
        self.begin = MPI.Wtime()

    def plan(self, lane):
        """Tokens of the next step of the lane, or END."""
        running = self.lanes[lane]
        now = MPI.Wtime() - self.begin
        while self.waiting and len(running) < self.options.at_a_time // self.options.stages:
            if self.waiting[-1].arrival > now:
                break
            running.append(self.waiting.pop())
        if not self.waiting and not any(self.lanes):
            return END
        tokens = sum(request.prompt_left == 0 for request in running)
        for request in running:
            request.prompt_now = min(request.prompt_left, self.options.step_tokens - tokens)
            tokens += request.prompt_now
        return tokens

    def end(self, lane):
        """Every request of the lane that has its whole prompt behind it has got a token."""
        now = MPI.Wtime() - self.begin
        for request in self.lanes[lane]:
            began = request.prompt_left > 0
            request.prompt_left -= request.prompt_now
            if request.prompt_left == 0:
                request.first = now if began else request.first
                request.answer_left -= 1
                request.end = now
        self.lanes[lane] = [request for request in self.lanes[lane] if request.answer_left > 0]


class Server:
    def __init__(self, options, planner):
        self.options, self.planner, self.model = options, planner, MODELS[options.model]
        self.split = WORLD.size // options.stages
        self.stage = WORLD.rank // self.split
        self.last = (options.stages - 1) * self.split  # the rank that tells rank 0 of the end of a step
        self.within = WORLD.Split(self.stage, WORLD.rank)
        self.activations = numpy.zeros(options.step_tokens * self.model.width, "f4")
        self.accelerator = Accelerator(options)

    def run_step(self, lane):
        """Its activations come from the stage before and go to the next one, between ranks of one place."""
        width, count = self.model.width, numpy.zeros(1, "i")
        if self.stage == 0:
            count[0] = self.planner.plan(lane) if WORLD.rank == 0 else END
            self.within.Bcast(count)
            tokens = int(count[0])
        else:
            status = MPI.Status()
            WORLD.Recv(self.activations, WORLD.rank - self.split, DATA_TAG, status)
            numbers = status.Get_count(MPI.FLOAT)
            tokens = END if numbers == 1 else numbers // width  # one number, which is no token
        part = self.activations[: max(tokens, 0) * width]
        if tokens > 0:
            for _ in range(self.options.layers // self.options.stages):
                self.accelerator.layer(
                    self.model, self.split, tokens, lambda: self.within.Allreduce(MPI.IN_PLACE, part)
                )
        if self.stage + 1 < self.options.stages:
            WORLD.Send(part if tokens != END else self.activations[:1], WORLD.rank + self.split, DATA_TAG)
        elif WORLD.rank == self.last > 0:
            WORLD.Send(count[:0], 0, DONE_TAG)
        return tokens

    def await_step(self):
        if self.options.stages > 1:
            WORLD.Recv(numpy.zeros(0, "i"), self.last, DONE_TAG)

    def serve(self):
        """Rank 0 begins the next step of a lane when the one before has come out of the last stage."""
        stages, ends, number = self.options.stages, 0, 0
        while ends < stages:
            lane = number % stages
            if WORLD.rank == 0 and number >= stages:
                self.await_step()
                self.planner.end(lane)
            ends = ends + 1 if self.run_step(lane) == END else 0
            number += 1
        for _ in range(ends if WORLD.rank == 0 else 0):
            self.await_step()


def main():
    options = parse_arguments()
    requests = draw_requests(options)
    tokens = sum(request.answer_left for request in requests)
    planner = Planner(options, requests)
    server = Server(options, planner)
    WORLD.Barrier()
    planner.begin = MPI.Wtime()
    server.serve()
    seconds = MPI.Wtime() - planner.begin
    times = []
    for name in ("first", "end"):
        took = sorted(getattr(request, name) - request.arrival for request in requests)
        times += statistics.median(took), took[len(took) * 99 // 100]
    say(
        "served", options.model, options.at_a_time, len(requests), tokens, f"{seconds:.4f}", f"{tokens / seconds:.2f}",
        *(f"{time:.4f}" for time in times),
    )  # fmt: skip


main()
