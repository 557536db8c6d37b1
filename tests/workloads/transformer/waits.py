"""What the steps of large models take on accelerators that no small machine has: waits.

A wait is the larger of two times: the bytes of the rank's part of the weights, two for each, over --gigabytes, which
bounds decode whatever the batch; and two operations for each of these weights and each token, over --teraflops, which
bounds prefill. The defaults are what table 4 of the NVRAR paper (Singhania et al.) gives for an A100: with 8192 x 57344
weights the product of decode, 32 tokens, in 0.614 ms, that of prefill, 32768 tokens, in 108.033 ms. Products of tokens
with each other are not counted. The wait sleeps, because on an accelerator the processor would be free, and was
calibrated before: how late the system wakes a process is taken off, and the rest of the time spun away.

Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import collections
import ctypes
import os
import statistics
import time

from job import MPI, number

PR_SET_TIMERSLACK = 29
PROBES, PROBE_SECONDS = 50, 1e-4
KEY_VALUE_WIDTH = 1024  # 8 heads of 128 share keys and values in all three models
WEIGHT_BYTES = 2
BigModel = collections.namedtuple("BigModel", "width hidden layers")
# Llama 3.1, its technical report, table 3; an MLP has three matrices.
MODELS = {
    "8B": BigModel(4096, 14336, 32), "70B": BigModel(8192, 28672, 80), "405B": BigModel(16384, 53248, 126)
}  # fmt: skip


def add_options(parser):
    parser.add_argument("-g", dest="gigabytes", type=number(float, 1e-6, 1e12), default=1530.0, help="GB/s (%(default)s)")
    parser.add_argument("-f", dest="teraflops", type=number(float, 1e-6, 1e12), default=285.0, help="(%(default)s)")


class Accelerator:
    def __init__(self, options):
        self.bytes_per_second, self.flops = 1e9 * options.gigabytes, 1e12 * options.teraflops
        self.waited = self.wanted = 0  # seconds
        ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, ctypes.c_ulong(1))  # ns; 50 us otherwise
        late = []
        for _ in range(PROBES):
            begin = MPI.Wtime()
            time.sleep(PROBE_SECONDS)
            late.append(MPI.Wtime() - begin - PROBE_SECONDS)
        self.late_seconds = statistics.median(late)

    def wait(self, seconds):
        begin = MPI.Wtime()
        if seconds > 2 * self.late_seconds:
            time.sleep(seconds - 2 * self.late_seconds)
        while MPI.Wtime() - begin < seconds:
            os.sched_yield()
        self.waited += MPI.Wtime() - begin
        self.wanted += seconds

    def seconds(self, weights, tokens):
        """Of the products of tokens with these weights."""
        return max(weights * WEIGHT_BYTES / self.bytes_per_second, 2 * weights * tokens / self.flops)

    def layer(self, model, ranks, tokens, add):
        """A layer that is split over so many ranks, as in Megatron-LM: attention, sum, MLP, sum."""
        attention = 2 * (model.width**2 + model.width * KEY_VALUE_WIDTH)
        for weights in (attention, 3 * model.width * model.hidden):
            self.wait(self.seconds(weights / ranks, tokens))
            add()
