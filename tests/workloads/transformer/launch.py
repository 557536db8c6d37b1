"""How the parts of this workload run their programs: places, configurations, rounds.

Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import collections
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "bench"))
from benchlib import (  # noqa: E402, F401
    CLUSTER, PYTHON, cluster, in_turn, make_parser, missing_packages, positive, print_table, require_component,
    run_program,
)  # fmt: skip

NAME = "transformer"
LIMIT_SECONDS = 500
WITHOUT_ARC = ["--mca", "coll", "^lowlat,quant"]
LEAST_BYTES = 8192  # that are quantized: coll_quant's default, which tests set higher
QUANTIZED = ["--mca", "coll_quant_enable", "1", "--mca", "coll_arc_explore_percent", "0"]
QUANTIZED += ["--mca", "coll_quant_min_bytes", str(LEAST_BYTES)]


def quantized(number_format, algorithm=None):
    """Every sum of at least coll_quant_min_bytes, without learning whether that pays."""
    arguments = QUANTIZED + ["--mca", "coll_quant_format", number_format]
    return arguments + (["--mca", "coll_quant_algorithm", algorithm] if algorithm else [])


BF16 = ["--mca", "coll_lowlat_uint16_as", "bf16"]
QUANTIZED_BF16 = BF16 + ["--mca", "coll_quant_types", "bf16"]
CONFIGURATIONS = {
    "tuned": WITHOUT_ARC,
    "han": WITHOUT_ARC + ["--mca", "coll_han_priority", "90"],
    "lowlat": [],
    "int8": quantized("int8"),
    "int8 full_loop": quantized("int8", "full_loop"),
    "int8 semi_loop": quantized("int8", "semi_loop"),
    "int8 direct": quantized("int8", "direct"),
    "int4": quantized("int4"),
    "tuned, 2 stages": WITHOUT_ARC,
    "lowlat, 2 stages": [],
    "bf16": BF16,
    "bf16 int8 full_loop": QUANTIZED_BF16 + quantized("int8", "full_loop"),
    "bf16 int8 semi_loop": QUANTIZED_BF16 + quantized("int8", "semi_loop"),
}


class Place:
    """Where ranks run: one node, bound to cores, or a node of the test cluster for each."""

    def __init__(self, name, ranks):
        self.name = name
        self.is_node = name == "node"
        self.ranks = ranks
        self.bits_per_second = None if self.is_node else 1e9 * float(name.removesuffix("gbit"))
        self.learned = os.path.abspath("transformer.learned")

    def __enter__(self):
        self.nodes = cluster(NAME, self.ranks, self.name, needed=not self.is_node)
        self.nodes.__enter__()
        return self

    def __exit__(self, *why):
        self.nodes.__exit__(*why)
        if os.path.exists(self.learned):
            os.remove(self.learned)

    def title(self):
        if self.is_node:
            return f"One node, {self.ranks} ranks bound to cores"
        return f"{self.ranks} nodes of the test cluster, links of {self.name}, 1 rank a node"

    def command(self, arguments):
        command = ["mpirun", "--oversubscribe", "-n", str(self.ranks)]
        if self.is_node and self.ranks <= len(os.sched_getaffinity(0)):
            command += ["--bind-to", "core"]
        elif self.is_node:
            command += ["--mca", "mpi_yield_when_idle", "1"]
        else:
            command = [CLUSTER, "--name", NAME, "run", "--timeout", str(LIMIT_SECONDS)]
            command += ["--ppn", "1"]
        return command + ["-x", "OPENBLAS_NUM_THREADS=1"] + arguments

    def run(self, arguments, program):
        """Rows of words of a program's output, and its exit status."""
        words = [PYTHON, os.path.join(HERE, f"{program[0]}.py"), *map(str, program[1:])]
        done = run_program(self.command(arguments) + words, LIMIT_SECONDS + 60, may_fail=True)
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        return rows, done.returncode, done.stderr

    def must_run(self, arguments, program):
        rows, status, errors = self.run(arguments, program)
        if status != 0:
            sys.exit(f"{' '.join(map(str, program))}: exit status {status}\n{errors}")
        return rows

    def learn(self, program):
        """Between nodes: a run in which coll_lowlat tries its algorithms for these lengths."""
        if not self.is_node:
            learning = ["--mca", "coll_arc_explore_percent", "100"]
            learning += ["--mca", "coll_arc_verbose", "2"]
            _, status, report = self.run(learning, program)
            if status != 0:
                sys.exit(report)
            with open(self.learned, "w", encoding="utf-8") as file:
                file.writelines(line + "\n" for line in report.splitlines() if line.startswith("ranks="))

    def arguments(self, configuration):
        arguments = CONFIGURATIONS[configuration]
        if "^lowlat,quant" in arguments or not os.path.exists(self.learned):
            return arguments
        return arguments + ["--mca", "coll_lowlat_rules", "@" + self.learned]

    def compare(self, configurations, rounds, program, key_columns, more=(), learning=None):
        """
        Runs program under each configuration in turn, for rounds. more: options of some
        configurations, by name; learning: options of a run to learn from before, if there is to be one.
        {configuration: {key: [median of each further column]}}.
        """
        samples = {name: collections.defaultdict(list) for name in configurations}
        more = dict(more)
        if learning is not None:
            self.learn([*program, *learning])
        for name in in_turn(configurations, rounds):
            for row in self.must_run(self.arguments(name), [*program, *more.get(name, [])]):
                key = tuple(row[1 : 1 + key_columns])
                samples[name][key].append([float(word) for word in row[1 + key_columns :]])
        return {
            name: {
                key: [statistics.median(column) for column in zip(*values)]
                for key, values in of_name.items()
            }
            for name, of_name in samples.items()
        }
