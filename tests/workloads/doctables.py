"""Tables of a Markdown document, found by what stands above them and by their first column.

A table belongs to the heading above it, and the last sentence of the paragraph before it is its
caption. A column "GROUP: NAME" begins a group, to which the columns behind it belong: of
"sums: han | lowlat" the second is "sums: lowlat". What is not there, or not as asked for, ends the
program with one message.

Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import collections
import re
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


def cells_of(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def with_groups(names):
    group, found = "", []
    for name in names:
        if ": " in name:
            group = name.partition(": ")[0]
            found.append(name)
        else:
            found.append(f"{group}: {name}" if group else name)
    return found


def has_words(words, caption):
    """Each as a whole: "1 Gb/s" is not in "11 Gb/s"."""
    return all(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", caption) for word in words)


class Table(collections.namedtuple("Table", "place heading caption columns rows")):
    """place: "FILE:LINE" of its header; rows: pairs of place and cells."""

    def take(self, wanted):
        """The rows as {column: value}; wanted: {column: function that makes a value of a cell}."""
        for name in wanted:
            if self.columns.count(name) != 1:
                many = "two columns" if name in self.columns else "no column"
                sys.exit(f'{self.place}: the table has {many} "{name}"')
        taken = []
        for place, cells in self.rows:
            if len(cells) != len(self.columns):
                sys.exit(f"{place}: {len(cells)} cells below {len(self.columns)} columns")
            of_name = dict(zip(self.columns, cells))
            taken.append({})
            for name, convert in wanted.items():
                try:
                    taken[-1][name] = convert(of_name[name])
                except ValueError:
                    sys.exit(f'{place}: "{of_name[name]}" in the column "{name}"')
        if not taken:
            sys.exit(f"{self.place}: the table has no rows")
        return taken


def tables_of(path, lines):
    """All tables of a document."""
    found, table, heading, paragraph, in_code = [], None, "", [], False
    for count, line in enumerate(map(str.strip, lines), 1):
        place = f"{path}:{count}"
        if line.startswith("```"):
            in_code = not in_code
        elif in_code:
            continue
        elif not line.startswith("|"):
            if table or line.startswith("#"):
                table, paragraph = None, []
            if line.startswith("#"):
                heading = line.lstrip("# ")
            elif line:
                paragraph.append(line)
            elif paragraph and paragraph[-1]:
                paragraph.append("")  # its end, unless a table follows
        elif not table:
            caption = last_sentence(paragraph)
            table = Table(place, heading, caption, with_groups(cells_of(line)), [])
            found.append(table)
        elif line.strip("|-: "):
            table.rows.append((place, cells_of(line)))
    return found


def last_sentence(paragraphs):
    """paragraphs: lines, with an empty one behind each paragraph"""
    last = "\n".join(paragraphs).strip().rpartition("\n\n")[2].replace("\n", " ")
    return re.split(r"(?<=[.!?]) ", last)[-1]


class Document:
    def __init__(self, path):
        self.path = path
        try:
            with open(path, encoding="utf-8") as lines:
                self.tables = tables_of(path, lines)
        except (OSError, UnicodeDecodeError) as error:
            sys.exit(f"{path}: {error}")

    def table(self, heading, first, *words):
        """The one below this heading with this first column and these words in its caption."""
        found = [
            table
            for table in self.tables
            if table.heading == heading
            and table.columns[0] == first
            and has_words(words, table.caption)
        ]
        if len(found) != 1:
            said = " and ".join(f'"{word}"' for word in words)
            many = f"{len(found)} tables begin" if found else "no table begins"
            sys.exit(
                f'{self.path}: {many} with the column "{first}" in "{heading}"'
                + (f", below a line with {said}" if said else "")
            )
        return found[0]
