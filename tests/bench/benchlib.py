"""What the scripts of this folder have in common: programs, tables, TSV files, pictures.

Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import argparse
import contextlib
import io
import os
import re
import shlex
import signal
import subprocess
import sys

# Who measures in a container or on nodes of tests/cluster is root.
os.environ["OMPI_ALLOW_RUN_AS_ROOT"] = os.environ["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
PYTHON = "/usr/bin/python3"  # Debian's, whose packages are for it
CLUSTER = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "cluster", "cluster")
SHOWN = 2000  # characters of what a program that failed printed last, of each stream
PALETTE = 128  # colours of a picture: of a line those between it and the white, too


def find_program(name):
    """The one in the current folder or beside the scripts; the former if there is neither."""
    here = os.path.dirname(os.path.abspath(__file__))
    beside = [os.path.join(place, name) for place in (os.getcwd(), here)]
    return next((path for path in beside if os.access(path, os.X_OK)), beside[0])


def require_component(name):
    """Without it Open MPI would ignore its parameters, and what they ask for would not happen."""
    try:
        done = subprocess.run(["ompi_info"], capture_output=True, text=True, check=False)
    except OSError as error:
        sys.exit(f"ompi_info: {error.strerror}")
    if not re.search(rf"MCA coll: {name}\b", done.stdout):
        sys.exit(f"Open MPI does not find coll_{name}: source stage/arc.env")


def missing_packages(*modules):
    """Debian's packages that lack for PYTHON to have these modules, in words."""
    lacking = [
        f"python3-{name}"
        for name in modules
        if subprocess.run([PYTHON, "-c", f"import {name}"], capture_output=True, check=False).returncode
    ]
    return " and ".join(lacking)


class Help(argparse.RawDescriptionHelpFormatter):
    """Behind an option its default, if it has one."""

    def _get_help_string(self, action):
        shown = action.default and action.default is not argparse.SUPPRESS
        return f"{action.help} (default: %(default)s)" if shown else action.help


def make_parser(text, **more):
    """With a script's docstring for its help."""
    return argparse.ArgumentParser(description=text.partition("Copyright")[0], formatter_class=Help, **more)


def positive(text):
    """A whole number, for argparse."""
    number = int(text) if text.isdecimal() and text.isascii() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return number


def run_program(command, limit_seconds, label="", may_fail=False, hint="", **options):
    """One run to its end, with what it printed; ends this program if it fails. hint: for who lacks the program."""
    shown = label + (command if isinstance(command, str) else shlex.join(command))
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, text=True, errors="replace", timeout=limit_seconds, check=False,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options,
        )  # fmt: skip
    except OSError as error:
        sys.exit(f"{shown}\ndid not start: {error.strerror}{hint}")
    except subprocess.TimeoutExpired:
        sys.exit(f"{shown}\ndid not end in {limit_seconds} s")
    if done.returncode != 0 and not may_fail:
        printed = done.stdout[-SHOWN:] + (done.stderr or "")[-SHOWN:]
        sys.exit(f"{shown}\nended with {done.returncode}\n{printed}")
    # What a misspelt parameter was to change would be measured unchanged.
    unknown = re.search("there is no parameter [^,]*", (done.stdout or "") + (done.stderr or ""))
    if unknown:
        sys.exit(f"{shown}\n{unknown[0]}")
    return done


def in_turn(items, rounds):
    """All of them, so many times; another one begins each round, as to come first can be an advantage."""
    for number in range(rounds):
        first = number % len(items)
        yield from items[first:] + items[:first]


def collect(items, rounds, run):
    """{item: what run(item) gave in each round}"""
    found = {item: [] for item in items}
    for item in in_turn(list(items), rounds):
        found[item].append(run(item))
    return found


@contextlib.contextmanager
def cluster(name, nodes, rate, needed=True):
    """
    While inside there are these nodes of tests/cluster, if they are needed; gives the words in front
    of the arguments of `cluster run`. Ends the program with its status where they cannot be made.
    """
    words = [CLUSTER, "--name", name]
    if needed:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # by way of finally
        up = subprocess.run([*words, "up", str(nodes), rate], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if up.returncode != 0:
            print(f"no nodes: {up.stderr.strip()}", file=sys.stderr)
            sys.exit(up.returncode)
    try:
        yield [*words, "run"]
    finally:
        if needed:
            subprocess.run([*words, "down"], stdout=subprocess.DEVNULL, check=False)


# Behind it comes a core. It ends when who started it does, however that ended.
BURNER = ["setpriv", "--pdeathsig", "KILL", "sh", "-c", 'exec taskset -c "$0" sh -c "echo burns; while :; do :; done"']


@contextlib.contextmanager
def burners(count):
    """While inside, so many processes compute, bound in turn to the cores that we may use."""
    cores = sorted(os.sched_getaffinity(0))
    started = []
    try:
        for number in range(count):
            core = str(cores[number % len(cores)])
            started.append(
                subprocess.Popen(
                    [*BURNER, core], start_new_session=True,  # Ctrl-C is for who started it
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                )
            )  # fmt: skip
        if not all(burner.stdout.readline() for burner in started):
            sys.exit("a process that was to compute did not start")
        yield
        if any(burner.poll() is not None for burner in started):
            sys.exit("a process that was to compute all the time has ended")
    finally:
        for burner in started:
            burner.kill()
        for burner in started:
            burner.wait()


def print_table(rows, markdown):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for number, row in enumerate(rows):
        cells = [cell.rjust(width) for cell, width in zip(row, widths)]
        if markdown:
            print("| " + " | ".join(cells) + " |")
            if number == 0:
                print("|" + "|".join("-" * (width + 1) + ":" for width in widths) + "|")
        else:
            print("  ".join(cells))


def write_tsv(path, header, rows, comment):
    """A line of comment, one of column names, and the rows."""
    try:
        with open(path, "w", encoding="utf-8") as lines:
            print(f"# {comment}", file=lines)
            for row in [header, *rows]:
                print("\t".join(map(str, row)), file=lines)
    except OSError as error:
        sys.exit(f"{path}: {error.strerror}")


def parse_tsv(lines, name):
    """[{column: text}] of lines with a header; those that begin with # are comments."""
    cells = [line.rstrip("\n").split("\t") for line in lines if not line.startswith("#")]
    if not cells or any(len(row) != len(cells[0]) for row in cells):
        sys.exit(f"{name}: not a table of tab-separated columns")
    return [dict(zip(cells[0], row)) for row in cells[1:]]


def read_tsv(path, hint=""):
    """What its comments say, and its rows as parse_tsv() has them; the hint is for who has no such file."""
    try:
        with open(path, encoding="utf-8") as text:
            lines = text.readlines()
    except OSError as error:
        sys.exit(f"{path}: {error.strerror}{hint}")
    about = "; ".join(line[1:].strip() for line in lines if line.startswith("#"))
    return about, parse_tsv(lines, path)


def load_pyplot():
    try:
        import matplotlib
    except ImportError:
        sys.exit(
            f"{sys.executable} has no matplotlib: Debian package python3-matplotlib, which is for"
            " /usr/bin/python3"
        )
    matplotlib.use("Agg")  # no display
    from matplotlib import pyplot

    return pyplot


def bytes_text(size):
    for unit, name in ((2**20, "MiB"), (2**10, "KiB")):
        if size and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def save_picture(figure, path, source=None):
    """source: what a PNG tells about where its figures are from"""
    try:
        if path.endswith(".png"):
            save_png(figure, path, source)
        else:
            figure.savefig(path, dpi=100)
    except (OSError, ValueError) as error:
        sys.exit(f"{path}: {error}")


def save_png(figure, path, source):
    """With a palette: a third of the bytes."""
    from PIL import Image, PngImagePlugin  # matplotlib needs it, too

    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=100, format="png")
    about = PngImagePlugin.PngInfo()
    if source:
        about.add_text("Source", source)
    picture = Image.open(drawn).convert("RGB")
    picture = picture.quantize(PALETTE, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    picture.save(path, optimize=True, pnginfo=about)
