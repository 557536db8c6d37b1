"""Whether the model computes the right thing, at a size that takes seconds.

Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import os

from launch import Place

CHARACTERS = 300000
SHAPE = ["-w", 48, "-l", 2, "-u", 96, "-c", 64, "-b", 8, "-n", 150]
LARGEST_PERPLEXITY = 20  # 96 before it has learned anything
ROUNDING = 1e-5  # of the largest logit, in single precision
QUANTIZED_LEAST, QUANTIZED_MOST = 1e-5, 5e-2
QUALITY_CHANGE = 0.01
USAGE_STATUS = 2


def check_split(weights, held_out, configurations):
    """On 1 to 4 ranks; what was wrong."""
    wrong = []
    for ranks in (1, 2, 3, 4):
        place = Place("node", ranks)
        for name in configurations:
            program = ["infer", "check", "-m", weights, "-v", held_out, "-d", ROUNDING]
            rows, status, errors = place.run(place.arguments(name), program)
            for _, batch, off, identical in rows:
                print(
                    f"{ranks} ranks, {name}, batch {batch}: logits differ by {off} of the largest,"
                    f" {'same' if identical == '1' else 'OTHER'} bits on all ranks"
                )
            if status != 0:
                wrong.append(f"check of {ranks} ranks, {name}: exit status {status}\n{errors}")
    return wrong


def check_training(weights, training, held_out):
    place = Place("node", 2)
    texts = ["-t", training, "-v", held_out, "-o", weights]
    rows, status, errors = place.run([], ["train", *texts, *SHAPE])
    if status != 0:
        return [f"training: exit status {status}\n{errors}"]
    perplexity = next(float(row[2]) for row in rows if row[:2] == ["held_out", "perplexity"])
    print(f"trained: perplexity {perplexity}")
    return [] if perplexity < LARGEST_PERPLEXITY else [f"perplexity {perplexity} after training"]


def check_quantized(weights, held_out):
    """int8 must differ, or nothing was quantized, and not by much."""
    place = Place("node", 2)
    infer = ["-m", weights, "-v", held_out]
    wrong = []
    check = ["infer", "check", *infer, "-d", QUANTIZED_MOST]
    rows, status, errors = place.run(place.arguments("int8"), check)
    if status != 0 or any(float(row[2]) < QUANTIZED_LEAST for row in rows):
        wrong.append(f"check with int8: {rows}, exit status {status}\n{errors}")
    perplexity = {}
    for name in ("lowlat", "int8"):
        prefill = ["infer", "prefill", *infer, "-b", 192, "-n", 2, "-q", 4096]
        rows, status, errors = place.run(place.arguments(name), prefill)
        if status != 0:
            return wrong + [f"prefill, {name}: exit status {status}\n{errors}"]
        perplexity[name] = float(rows[0][5])
    print(f"perplexity exact {perplexity['lowlat']}, int8 {perplexity['int8']}")
    if abs(perplexity["int8"] / perplexity["lowlat"] - 1) > QUALITY_CHANGE:
        wrong.append("int8 changes the perplexity")
    return wrong


def check_decode():
    """The sums of a large model's step, exact and int8, and all answers of a trace."""
    place = Place("node", 2)
    trace = ["serve", "-m", "8B", "-l", 2, "-n", 8, "-i", 12, "-o", 4, "-k", 8, "-c", 4]
    wrong = []
    for name, program in (
        ("lowlat", trace),
        ("lowlat", [*trace, "-p", 2]),
        ("bf16", ["decode", "-t", "bf16", "-m", "8B", "-b", 4, "-s", 0.05, "-d", 1e-4]),
        ("lowlat", ["decode", "-m", "8B", "-b", 4, "-s", 0.05]),
        ("int8", ["decode", "-m", "8B", "-b", "4,300", "-s", 0.05, "-d", 1e-3]),
    ):
        rows, status, errors = place.run(place.arguments(name), program)
        print("\n".join("  ".join(row) for row in rows))
        if status != 0:
            wrong.append(f"{program[:2]}, {name}: exit status {status}\n{errors}")
    return wrong


def check_errors(weights, held_out):
    """12 heads for 5 ranks: one message."""
    program = ["infer", "check", "-m", weights, "-v", held_out]
    _, status, errors = Place("node", 5).run([], program)
    right = status == USAGE_STATUS and errors.count("cannot be split") == 1
    return [] if right else [f"5 ranks: exit status {status}\n{errors}"]


def run(scratch, training, held_out):
    """Exit status."""
    weights = os.path.join(scratch, "weights")
    wrong = check_training(weights, training, held_out)
    if not wrong:
        wrong += check_split(weights, held_out, ["lowlat"])
        wrong += check_quantized(weights, held_out)
        wrong += check_decode()
        wrong += check_errors(weights, held_out)
    print("\n".join(wrong) or "all right")
    return 1 if wrong else 0
