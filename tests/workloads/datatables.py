"""Tables of measurements: the files of docs/data.

A file has lines "# NAME: TEXT" that say where its figures are from, a line with the names of the columns, and rows
as in any CSV. What is not there, or not as asked for, ends the program with one message.

Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import collections
import csv
import os
import sys


def number(cell):
    return float(cell)


def percentage(cell):
    """ "18 %" as 0.18"""
    if not cell.endswith("%"):
        raise ValueError
    return float(cell[:-1]) / 100


def span(cell):
    """ "0.89 to 1.21" as (0.89, 1.21)"""
    low, high = cell.split(" to ")
    return float(low), float(high)


def text(cell):
    return cell


def one_of(names):
    """As it is, if it is one of these."""

    def convert(cell):
        if cell not in names:
            raise ValueError
        return cell

    return convert


def optional(convert):
    """None for an empty cell."""
    return lambda cell: convert(cell) if cell else None


class Table(collections.namedtuple("Table", "path columns rows")):
    """rows: pairs of place, which is "FILE:LINE", and cells by the names of their columns"""

    def where(self, **wanted):
        """The rows that have these values in these columns."""
        self.require_columns(wanted)
        rows = [
            (place, cells)
            for place, cells in self.rows
            if all(cells[name] == value for name, value in wanted.items())
        ]
        if not rows:
            named = " and ".join(f'"{value}" in "{name}"' for name, value in wanted.items())
            sys.exit(f"{self.path}: no row has {named}")
        return self._replace(rows=rows)

    def take(self, wanted):
        """The rows as {column: value}; wanted: {column: function that makes a value of a cell}."""
        self.require_columns(wanted)
        taken = []
        for place, cells in self.rows:
            taken.append({})
            for name, convert in wanted.items():
                try:
                    taken[-1][name] = convert(cells[name])
                except ValueError:
                    sys.exit(f'{place}: "{cells[name]}" in the column "{name}"')
        if not taken:
            sys.exit(f"{self.path}: the table has no rows")
        return taken

    def require_columns(self, names):
        for name in names:
            if self.columns.count(name) != 1:
                many = "two columns" if name in self.columns else "no column"
                sys.exit(f'{self.path}: the table has {many} "{name}"')


def read_table(folder, name):
    path = os.path.join(folder, f"{name}.csv")
    try:
        with open(path, encoding="utf-8", newline="") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"{path}: {error}")
    heads = sum(line.startswith("#") for line in lines)
    reader = csv.reader(lines[heads:])
    columns = next(reader, [])
    rows = []
    for cells in reader:
        place = f"{path}:{heads + reader.line_num}"
        if len(cells) != len(columns):
            sys.exit(f"{place}: {len(cells)} cells below {len(columns)} columns")
        rows.append((place, dict(zip(columns, cells))))
    return Table(path, columns, rows)
