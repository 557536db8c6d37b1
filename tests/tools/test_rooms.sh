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

# draw FOLDER...: "circle ROOMS" for each circle, sorted, and "counts ROOMS ARROWS"; with ARROWS=1 each arrow.
draw() {
    find "$@" -path '*/compat/*' -prune -o -name '*.[ch]' -print | sort | xargs awk -v print_arrows="${ARROWS:-0}" '
    FNR == 1 {
        room = FILENAME
        sub(/.*\//, "", room)
        is_header = room ~ /\.h$/
        sub(/\.[ch]$/, "", room)
        rooms[room]
        depth = comment = continued = is_value = 0
        head = ""
    }
    {
        line = $0
        if (line ~ /^# *include "/) {
            split(line, parts, "\"")
            sub(/.*\//, "", parts[2])
            if (sub(/\.h$/, "", parts[2])) {
                includes[room, parts[2]]
            }
            next
        }
        strip_comments()
        directive = continued || line ~ /^#/
        continued = directive && line ~ /\\$/
        if (directive) {
            note_names(line)
            next
        }
        # Outside of braces a text up to a brace, a semicolon or a value may define something, and makes no arrow.
        inside = depth > 0 || is_value ? line : ""
        for (i = 1; i <= length(line); ++i) {
            c = substr(line, i, 1)
            if (c == "{") {
                if (depth == 0) {
                    define(c)
                }
                inside = inside substr(line, i)
                ++depth
            } else if (c == "}") {
                --depth
            } else if (depth == 0 && (c == ";" || c == "=")) {
                define(c)
                is_value = c == "="
                inside = inside (is_value ? substr(line, i) : "")
            } else if (depth == 0 && !is_value) {
                head = head c
            }
        }
        head = head " "
        note_names(inside)
    }

    # Every name in the text but those of fields and structures.
    function note_names(text, count, words, i)
    {
        gsub(/(\.|->|struct +|enum +)[A-Za-z_][A-Za-z_0-9]*/, " ", text)
        count = split(text, words, /[^A-Za-z_0-9]+/)
        for (i = 1; i <= count; ++i) {
            if (words[i] ~ /^[A-Za-z]+_/ && words[i] !~ /^mca_coll_[a-z]+_component$/) {
                names[room, words[i]]
            }
        }
    }

    # Without comments and the insides of strings.
    function strip_comments(rest, out, at)
    {
        gsub(/\047(\\.|[^\047\\])+\047/, "0", line)
        gsub(/"(\\.|[^"\\])*"/, "0", line)
        rest = line
        while (rest != "") {
            if (comment) {
                at = index(rest, "*/")
                rest = at ? substr(rest, at + 2) : ""
                comment = !at
            } else {
                at = index(rest, "/*")
                out = out (at ? substr(rest, 1, at - 1) : rest)
                rest = at ? substr(rest, at + 2) : ""
                comment = at > 0
            }
        }
        line = out
    }

    # "int f(void)" before a brace, "int v" before a semicolon or a value.  What a header declares and nobody
    # defines in so many words is what a macro of the same room makes.  A name of one word is none of the product.
    function define(end, name, is_function)
    {
        sub(/^ *([A-Z][A-Z_0-9]*\([^()]*\) *|__attribute__\(\([^;]*\)\) *)+/, "", head)
        name = head
        is_function = end != "=" && sub(/\(.*/, "", name)
        gsub(/\[[^]]*\]| +$/, "", name)
        if (name ~ /[ *][A-Za-z0-9]+_[A-Za-z_0-9]+$/ && name !~ /[()]|(^| )(typedef|struct [a-z_]+|enum [a-z_]+)$/) {
            sub(/.*[ *]/, "", name)
            if (head ~ /(^| )typedef /) {
                # A type makes no arrow.
            } else if (head ~ /(^| )extern / || (is_function && end == ";")) {
                if (is_header) {
                    declarer[name] = room
                }
            } else if (is_header ? is_function : head !~ /(^| )static /) {
                definer[name] = definer[name] == "" || definer[name] == room ? room : "several"
            } else {
                local_name[room, name]
            }
        }
        head = end == "{" && !is_function || end == "=" ? "static " : ""
    }

    # Tarjan: `low` of a room is the first one on the stack that it reaches.
    function visit(room, next_rooms, count, i, to, circle, size)
    {
        number[room] = low[room] = ++visited
        stack[++height] = room
        on_stack[room] = 1
        count = split(reaches[room], next_rooms, " ")
        for (i = 1; i <= count; ++i) {
            to = next_rooms[i]
            if (!(to in number)) {
                visit(to)
            }
            if (on_stack[to] && low[to] < low[room]) {
                low[room] = low[to]
            }
        }
        if (low[room] == number[room]) {
            do {
                to = stack[height--]
                on_stack[to] = 0
                circle = circle " " to
                ++size
            } while (to != room)
            if (size > 1) {
                print "circle" circle
            }
        }
    }

    function arrow(from, to, why)
    {
        if (from != to && (to in rooms)) {
            if (!((from, to) in drawn)) {
                drawn[from, to]
                reaches[from] = reaches[from] " " to
                ++arrows
            }
            if (print_arrows) {
                print "arrow", from, to, why
            }
        }
    }

    END {
        for (name in declarer) {
            if (!(name in definer)) {
                definer[name] = declarer[name]
            }
        }
        for (pair in includes) {
            split(pair, ends, SUBSEP)
            arrow(ends[1], ends[2], "includes")
        }
        for (pair in names) {
            split(pair, ends, SUBSEP)
            if ((ends[2] in definer) && !(pair in local_name) && definer[ends[2]] != "several") {
                arrow(ends[1], definer[ends[2]], ends[2])
            }
        }
        for (room in rooms) {
            ++all
            if (!(room in number)) {
                visit(room)
            }
        }
        print "counts", all, arrows + 0
    }' | while read -r kind names; do
        case $kind in
        circle) echo "circle $(echo "$names" | tr ' ' '\n' | sort | xargs)" ;;
        *) echo "$kind $names" ;;
        esac
    done | sort
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
