"""The tables of this workload, in Markdown.

Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import itertools
import statistics

from launch import Place, print_table

WEIGHT_BYTES_PER_SECOND, TERAFLOPS = 1530e9, 285  # the defaults of waits.py
DECODED = ["tuned", "han", "lowlat", "int8"]
PREFILLED = ["tuned", "lowlat", "int8 full_loop", "int8 semi_loop", "int8 direct", "int4"]
INT8_SHARE = (8 + 16 / 64) / 32  # of the bytes of floats: a scale of 16 bits for 64 numbers
TIGHT = {name: ["-d", 1e-3] for name in PREFILLED if name.startswith("int8")}
STAGES = {"tuned, 2 stages": ["-p", 2], "lowlat, 2 stages": ["-p", 2]}
SERVED = ["tuned", "lowlat", "int8", *STAGES]
# Name, options: lengths as of BurstGPT divided by 8, and decode-heavy ones by 64; few and many at a time.
TRACES = [
    ("BurstGPT, 32", ["-i", 80, "-o", 34, "-c", 32, "-n", 100]),
    ("BurstGPT, 256", ["-i", 80, "-o", 34, "-c", 256, "-n", 300]),
    ("decode-heavy, 32", ["-i", 16, "-o", 64, "-c", 32, "-n", 100]),
    ("decode-heavy, 256", ["-i", 16, "-o", 64, "-c", 256, "-n", 300]),
]
BF16 = ["bf16", "bf16 int8 full_loop", "bf16 int8 semi_loop"]
SHARES = (0.2, 0.3, 0.45)  # of the time that sums take with exact bf16
TIGHT |= {"int8": ["-d", 1e-3], "int4": ["-d", 1e-1]}
TASK_LENGTH = 512  # characters of a text
LEARNING = ["-s", 4]  # enough calls of the longest sums, at 1 Gb/s, to try every algorithm
HEADING = {
    "decode": "decode, computation replaced by a calibrated wait",
    "first_token": "prefill, computation replaced by a calibrated wait",
    "prefill": "prefill with the trained model",
    "quality": "quality with the trained model",
    "residual": "the residual in the sum",
    "tasks": "tasks with models of several seeds",
    "serve": "a trace of requests, computation replaced by a calibrated wait",
    "shares": "prefill over bf16 sums, by their share of the time",
}


def sum_limit(place, size, share=1.0):
    """Least seconds of a sum: each rank must send and receive 2 (N - 1) / N of the vector."""
    bits = 8 * share * size * 2 * (place.ranks - 1) / place.ranks
    return bits / place.bits_per_second


def ratio(number):
    return f"{number:.2f}" if number < 100 else f"{number:.0f}"


def percent(number):
    return f"{100 * number:.0f} %"


def kib(size):
    return f"{int(size) / 1024:.0f}" if int(size) % 1024 == 0 else f"{int(size) / 1024:.1f}"


def infer(options, held_out, mode, *more):
    return ["infer", mode, "-m", options.weights, "-v", held_out, *more]


def decode(options, place, _):
    program = ["decode", "-m", options.models, "-b", options.batches]
    found = place.compare(DECODED, options.rounds, program, 3, TIGHT, LEARNING)
    header = ["model", "batch", "KiB", "tuned tokens/s", "in sums"]
    header += ["han", "lowlat", "int8", "sums: han", "lowlat", "int8"]
    header += [] if place.is_node else ["limit: exact", "int8"]
    rows = [header]
    for key, (seconds, layers, share, one_sum, *_) in found["tuned"].items():
        name, batch, size = key
        row = [name, batch, kib(size), f"{int(batch) / (layers * seconds):.3g}", percent(share)]
        row += [ratio(seconds / found[other][key][0]) for other in DECODED[1:]]
        row += [ratio(one_sum / found[other][key][3]) for other in DECODED[1:]]
        if not place.is_node:
            waits = seconds * (1 - share)
            for part in (1.0, INT8_SHARE):
                row.append(ratio(seconds / (waits + 2 * sum_limit(place, int(size), part))))
        rows.append(row)
    late = max(found["tuned"][key][4] for key in found["tuned"])
    print(
        f"Waits are those of {WEIGHT_BYTES_PER_SECOND / 1e9:.0f} GB/s; with tuned they took"
        f" up to {late:.2f} times as long as wanted.\n"
    )
    print_table(rows, True)


def first_token(options, place, _):
    program = ["decode", "-m", options.models, "-b", options.lengths]
    found = place.compare(PREFILLED, options.rounds, program, 3, TIGHT, LEARNING)
    others = PREFILLED[1:]
    header = ["model", "tokens", "MiB", "tuned s", "in sums", *others]
    header += [f"sums: {others[0]}", *others[1:]]
    rows = [header + ([] if place.is_node else ["limit: exact", "int8"])]
    for key, (seconds, layers, share, one_sum, *_) in found["tuned"].items():
        name, tokens, size = key
        row = [name, tokens, f"{int(size) / 2**20:g}", f"{layers * seconds:.3g}", percent(share)]
        row += [ratio(seconds / found[other][key][0]) for other in others]
        row += [ratio(one_sum / found[other][key][3]) for other in others]
        if not place.is_node:
            for part in (1.0, INT8_SHARE):
                row.append(ratio(one_sum / sum_limit(place, int(size), part)))
        rows.append(row)
    print_table(rows, True)


def prefill(options, place, held_out):
    program = infer(options, held_out, "prefill", "-b", options.lengths, "-n", 12, "-q", 0)
    found = place.compare(PREFILLED, options.rounds, program, 2)
    others = PREFILLED[1:]
    header = ["characters", "KiB", "tuned ms", "in sums", *others]
    header += [f"sums: {others[0]}", *others[1:]]
    rows = [header + ([] if place.is_node else ["limit: exact", "int8"])]
    for key, (first, sums, *_, sums_of_pass) in found["tuned"].items():
        row = [key[0], kib(key[1]), f"{1e3 * first:.1f}", percent(sums / first)]
        row += [ratio(first / found[other][key][0]) for other in others]
        row += [ratio(sums / found[other][key][1]) for other in others]
        if not place.is_node:
            for part in (1.0, INT8_SHARE):
                row.append(ratio(sums / (sums_of_pass * sum_limit(place, int(key[1]), part))))
        rows.append(row)
    print_table(rows, True)


def quality_rows(found, names, reference):
    rows = [["characters", f"{reference}: perplexity", "right", *names]]
    for key, (_, _, perplexity, hits, *_) in found[reference].items():
        row = [key[0], f"{perplexity:.4f}", f"{100 * hits:.2f} %"]
        row += [f"{100 * (found[name][key][2] / perplexity - 1):+.3f} %" for name in names]
        rows.append(row)
    return rows


def quality(options, place, held_out):
    program = infer(options, held_out, "prefill", "-b", options.lengths, "-n", 1)
    found = place.compare(PREFILLED, 1, program, 2)
    print_table(quality_rows(found, PREFILLED[1:], "tuned"), True)


TASKS = ["perplexity", "character", "one of three", "word"]


def chance(changes):
    """Two-sided p that signs of the changes are those of coins: all of their combinations (Fisher)."""
    signs = list(itertools.product((1, -1), repeat=len(changes)))
    sums = [abs(sum(sign * change for sign, change in zip(of, changes))) for of in signs]
    return sum(found >= sums[0] * (1 - 1e-9) for found in sums) / len(signs)


def tasks(options, place, held_out):
    """Models of several seeds: how much each way of summing changes a task's score, and p."""
    scores = {name: [] for name in PREFILLED}
    for weights in options.of_seeds:
        program = ["infer", "prefill", "-m", weights, "-v", held_out]
        found = place.compare(PREFILLED, 1, [*program, "-b", TASK_LENGTH, "-n", 1], 2)
        for name in PREFILLED:
            scores[name].append(next(iter(found[name].values()))[2:6])
    rows = [["task", "tuned", *(f"{name}: change, p" for name in PREFILLED[1:])]]
    for task, column in zip(TASKS, zip(*(zip(*scores[name]) for name in PREFILLED))):
        rows.append([task, f"{statistics.mean(column[0]):.4f}"])
        for of_name in column[1:]:
            changes = [100 * (new / old - 1) for new, old in zip(of_name, column[0])]
            rows[-1].append(f"{statistics.mean(changes):+.3f} %, {chance(changes):.3f}")
    print_table(rows, True)


def residual(options, place, held_out):
    ways = ("apart", "first", "shared")
    times, losses = {}, {}
    for name in ("lowlat", "int8"):
        for turn in range(options.rounds):
            for way in ways[turn % 3 :] + ways[: turn % 3]:
                measured = ["-n", 12, "-q", 1 << 14 if turn == 0 else 0]
                program = infer(options, held_out, "prefill", "-b", options.lengths, "-r", way)
                for row in place.must_run(place.arguments(name), [*program, *measured]):
                    key = (name, way, row[1])
                    times.setdefault(key, []).append(float(row[3]))
                    losses.setdefault(key, float(row[5]))
    rows = [["characters"]]
    for name in ("lowlat", "int8"):
        rows[0] += [f"{name}: apart ms", "first", "shared", "perplexity", "first", "shared"]
    for length in options.lengths.split(","):
        row = [length]
        for name in ("lowlat", "int8"):
            best = {way: sorted(times[name, way, length])[options.rounds // 2] for way in ways}
            perplexity = losses[name, "apart", length]
            row.append(f"{1e3 * best['apart']:.2f}")
            row += [ratio(best["apart"] / best[way]) for way in ways[1:]]
            row.append(f"{perplexity:.4f}")
            row += [f"{100 * (losses[name, way, length] / perplexity - 1):+.3f} %" for way in ways[1:]]
        rows.append(row)
    print_table(rows, True)


def serve(options, place, _):
    rows = [["model", "trace", "tuned tokens/s", *SERVED[1:], "s to the first token: tuned", *SERVED[1:]]]
    for model in options.models.split(","):
        for trace, words in TRACES:
            program = ["serve", "-m", model, *words]
            found = place.compare(SERVED, options.rounds, program, 2, STAGES, [])
            one = {name: next(iter(of_name.values())) for name, of_name in found.items()}
            speed, first = ({name: row[column] for name, row in one.items()} for column in (3, 4))
            row = [model, trace, f"{speed['tuned']:.4g}"]
            row += [ratio(speed[name] / speed["tuned"]) for name in SERVED[1:]]
            row += [f"{first['tuned']:.3g}"] + [ratio(first["tuned"] / first[name]) for name in SERVED[1:]]
            rows.append(row)
    print_table(rows, True)


def shares(options, place, _):
    """Accelerators are as slow as makes exact sums take this share of the time."""
    rows = [["model", "tokens", "MiB", "exact s", "in sums", *BF16[1:], f"sums: {BF16[1]}", *BF16[2:]]]
    tight = {name: ["-d", 1e-3] for name in BF16[1:]} | {BF16[0]: ["-d", 1e-4]}
    for model in options.models.split(","):
        for tokens in options.lengths.split(","):
            program = ["decode", "-t", "bf16", "-m", model, "-b", tokens]
            for share in SHARES:
                teraflops = TERAFLOPS
                for _ in range(4):  # waits end late, and a sum is shorter between longer ones
                    slower = ["-f", f"{teraflops:.6g}"]
                    ((seconds, _, in_sums, one_sum, *_),) = place.compare(
                        BF16[:1], 1, [*program, *slower], 3, tight
                    )[BF16[0]].values()
                    teraflops *= seconds * (1 - in_sums) / (2 * one_sum * (1 - share) / share)
                slower = ["-f", f"{teraflops:.6g}"]
                found = place.compare(BF16, options.rounds, [*program, *slower], 3, tight)
                ((_, _, size), (seconds, layers, in_sums, one_sum, *_)), = found[BF16[0]].items()
                row = [model, tokens, f"{int(size) / 2**20:g}", f"{layers * seconds:.3g}", percent(in_sums)]
                others = [next(iter(found[name].values())) for name in BF16[1:]]
                row += [ratio(seconds / other[0]) for other in others]
                rows.append(row + [ratio(one_sum / other[3]) for other in others])
    print_table(rows, True)


PARTS = {
    "decode": decode,
    "first_token": first_token,
    "prefill": prefill,
    "quality": quality,
    "residual": residual,
    "tasks": tasks,
    "serve": serve,
    "shares": shares,
}


def print_parts(options, held_out):
    for place_name in options.place or ["node", "1gbit", "10gbit"]:
        wanted = [part for part in options.parts if part in PARTS]
        if not wanted:
            continue
        with Place(place_name, 2 if place_name == "node" else options.nodes) as place:
            for part in wanted:
                print(f"\n{place.title()}: {HEADING[part]}\n", flush=True)
                PARTS[part](options, place, held_out)
