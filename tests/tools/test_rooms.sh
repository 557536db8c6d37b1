#!/bin/sh
# The rooms of the product, and the arrows between them. A room is a .c file with its .h file. An arrow goes from
# a room to each other one whose header it includes, and whose function or variable it names, if that room alone
# defines the name. A function that is called through a pointer makes no arrow. Rooms that reach each other in a
# circle cannot be understood, tested or changed one by one, so there is none.
#
# The variables mca_coll_*_component make no arrows: Open MPI finds a component by such a name, so the table of its
# functions and the settings that all its rooms read are one variable.
#
# "ARROWS=1 test_rooms.sh" prints the arrows and why each is there.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
root=${top_srcdir:-../..}
cd "$root" || exit 1
. tests/lib/tap.sh

command -v python3 >/dev/null || skip_all "needs python3"
cat >"$scratch/draw.py" <<'END'
import collections, os, pathlib, re, sys

# Comments, and what is between quotes, make no arrows; a line that goes on is one.
TEXT = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])+\'|\\\n', re.S)
BEFORE = re.compile(r"^\s*(?:[A-Z][A-Z_0-9]*\([^()]*\)\s*|__attribute__\(\([^;]*\)\)\s*)+")
rooms, names, declarer, definer, local_names = set(), set(), {}, {}, set()
arrows = collections.defaultdict(lambda: collections.defaultdict(set))  # {from: {to: why}}


def note_names(room, text):
    """Every name in the text but those of fields and structures."""
    text = re.sub(r"(\.|->|struct +|enum +)[A-Za-z_]\w*", " ", text)
    for name in re.findall(r"\b[A-Za-z]+_\w*", text):
        if not re.fullmatch("mca_coll_[a-z]+_component", name):
            names.add((room, name))


def define(room, is_header, head, end):
    """
    "int f(void)" before a brace, "int v" before a semicolon or a value.  What a header declares and nobody defines in
    so many words is what a macro of the same room makes.  A name of one word is none of the product.
    """
    head = BEFORE.sub("", head)
    is_function = end != "=" and "(" in head
    name = head.partition("(")[0] if is_function else head
    name = re.sub(r"\[[^]]*\]| +$", "", name)
    if (found := re.search(r"[ *]([A-Za-z0-9]+_\w+)$", name)) and not re.search(
        r"[()]|\b(typedef|struct [a-z_]+|enum [a-z_]+)$", name
    ):
        name = found[1]
        if re.search(r"\btypedef ", head):
            pass  # a type makes no arrow
        elif re.search(r"\bextern ", head) or (is_function and end == ";"):
            if is_header:
                declarer[name] = room
        elif is_function if is_header else not re.search(r"\bstatic ", head):
            definer[name] = room if definer.get(name, room) == room else "several"
        else:
            local_names.add((room, name))
    return "static " if end == "=" or (end == "{" and not is_function) else ""


def read(path):
    room, is_header, text = path.stem, path.suffix == ".h", path.read_text()
    rooms.add(room)
    for header in re.findall(r'^# *include "(?:.*/)?(\w+)\.h"', text, re.M):
        arrows[room][header].add("includes")
    lines = TEXT.sub(lambda found: "0" if found[0][0] in "\"'" else " ", text).split("\n")
    for line in lines:
        note_names(room, line if line.startswith("#") else "")
    # Outside of braces a text up to a brace, a semicolon or a value may define something, and makes no arrow.
    depth, is_value, head = 0, False, ""
    for piece in re.split("([{};=])", " ".join(line for line in lines if not line.startswith("#"))):
        if piece == "{":
            head = define(room, is_header, head, piece) if depth == 0 else head
            depth += 1
        elif piece == "}":
            depth -= 1
        elif piece in (";", "=") and depth == 0:
            head = define(room, is_header, head, piece)
            is_value = piece == "="
        elif depth == 0 and not is_value:
            head += piece
        else:
            note_names(room, piece)


def reach(room, seen):
    for other in arrows[room]:
        if other not in seen:
            seen.add(other)
            reach(other, seen)
    return seen


for folder in sys.argv[1:]:
    for path in sorted(pathlib.Path(folder).rglob("*.[ch]")):
        if "compat" not in path.parts:
            read(path)
for room, name in names:
    if (room, name) not in local_names:
        arrows[room][definer.get(name, declarer.get(name))].add(name)
for room in rooms:
    arrows[room] = {other: why for other, why in arrows[room].items() if other in rooms and other != room}
    if os.environ.get("ARROWS") == "1":
        for other, reasons in arrows[room].items():
            print(*(f"arrow {room} {other} {why}\n" for why in reasons), sep="", end="")
reached = {room: reach(room, set()) for room in rooms}
circles = {tuple(sorted(other for other in reached[room] if room in reached[other])) for room in rooms}
print(*(f"circle {' '.join(circle)}\n" for circle in sorted(circles) if circle), sep="", end="")
print("counts", len(rooms), sum(map(len, arrows.values())))
END

# draw FOLDER...: "circle ROOMS" for each circle, sorted, and "counts ROOMS ARROWS"; with ARROWS=1 each arrow.
draw() {
    python3 "$scratch/draw.py" "$@"
}

# is TEXT EXPECTED FOUND
is() {
    echo "$3" >"$scratch/found"
    test "$2" = "$3"
    result $? "$1" "$scratch/found"
}

if [ "${ARROWS:-0}" = 1 ]; then
    draw common coll_lowlat coll_quant | grep '^arrow'
    exit
fi
mkdir "$scratch/circle" "$scratch/line"
cat >"$scratch/circle/upper.c" <<'END'
int upper_count = 1;
static int twice(void) { return 2 * lower_total(); }
END
cat >"$scratch/circle/lower.c" <<'END'
extern int upper_count;
int lower_total(void)
{
    return upper_count;
}
END
is "a call and a variable make a circle" "circle lower upper
counts 2 2" "$(draw "$scratch/circle")"
cp "$scratch/circle/lower.c" "$scratch/line/lower.c"
cat >"$scratch/line/upper.h" <<'END'
#include "lower.h"
int upper_sum(void);
END
cat >"$scratch/line/lower.c" <<'END'
/* upper_sum() calls this. */
int lower_total(const struct ops *ops)
{
    puts("upper_sum()");
    return ops->upper_sum();
}
END
cat >"$scratch/line/upper.c" <<'END'
int upper_sum(void)
{
    return 1;
}
END
is "comments, texts and calls through pointers make none" "counts 2 1" "$(draw "$scratch/line")"
found=$(draw common coll_lowlat coll_quant)
circles=$(echo "$found" | sed -n 's/^circle //p')
echo "$found" | sed -n "s/^counts \(.*\) \(.*\)/# \1 rooms, \2 arrows, $(echo "$circles" | grep -c .) circles/p"
is "there are no circles" "" "$circles"
tap_done
