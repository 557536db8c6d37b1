#!/bin/sh
# The pictures of docs/workloads.md are of the figures that its tables have now; workloads/plot draws
# them, and refuses a document in which it does not find what it draws.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
root=$(cd "${top_srcdir:-../..}" && pwd)
plot=$root/tests/workloads/plot
published=$root/docs/workloads.md
largest=81920
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
number=0

# ok_if TEXT COMMAND...: fine when the command succeeds
ok_if() {
    number=$((number + 1)) text=$1
    shift
    if "$@"; then
        echo "ok $number - $text"
    else
        sed 's/^/# /' "$scratch/err"
        echo "not ok $number - $text"
    fi
}

# draws ARGUMENT...: plot succeeds
draws() {
    "$python" "$plot" --out "$scratch" "$@" 2>"$scratch/err"
}

# refuses TEXT ARGUMENT...: exit status 1, this text in the one line on stderr, and no picture
refuses() {
    wanted=$1
    shift
    draws "$@"
    [ $? -eq 1 ] && grep -qF -e "$wanted" "$scratch/err" && [ "$(grep -c '' "$scratch/err")" -eq 1 ] &&
        [ -z "$(ls "$scratch" | grep png)" ]
}

is_changed() {
    echo "the document has nothing to change" >"$scratch/err"
    ! cmp -s "$published" "$scratch/edited.md"
}

# edited SCRIPT: the document after this script of sed, which must have changed something
edited() {
    sed "$1" "$published" >"$scratch/edited.md"
    is_changed
}

# refuses_edited TEXT SCRIPT [ARGUMENT...]
refuses_edited() {
    wanted=$1
    edited "$2" || return 1
    shift 2
    refuses "$wanted" --document "$scratch/edited.md" "$@"
}

# without_column NAME: the document without the columns of that name
without_column() {
    awk -F '|' -v name="$1" -v OFS='|' '
        !/^\|/ { gone = 0 }
        /^\|/ && !in_table { for (i = 2; i < NF; i++) { cell = $i; gsub(/^ +| +$/, "", cell); if (cell == name) gone = i } }
        { in_table = /^\|/ }
        gone { for (i = gone; i < NF; i++) $i = $(i + 1); NF-- }
        { print }' "$published" >"$scratch/edited.md"
    is_changed
}

refuses_without() {
    without_column "$1" && refuses "no column \"$1\"" --document "$scratch/edited.md"
}

draws_all() {
    draws || return 1
    for picture in "$root"/docs/img/workloads_*.png; do
        drawn=$scratch/$(basename "$picture")
        [ -s "$drawn" ] && [ "$(wc -c <"$drawn")" -le $largest ] || return 1
    done
    [ "$(ls "$scratch"/*.png | wc -l)" -eq "$(ls "$root"/docs/img/workloads_*.png | wc -l)" ] && draws --check
}

shows_all() {
    for picture in "$root"/docs/img/workloads_*.png; do
        if ! grep -q "^!\[.*\](img/$(basename "$picture"))" "$published"; then
            echo "$picture" >"$scratch/err"
            return 1
        fi
    done
}

if ! command -v python3 >/dev/null; then
    echo "1..0 # SKIP needs python3"
    exit
fi
# matplotlib is for Debian's own Python, which need not be the first.
python=python3
for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c 'import matplotlib' 2>/dev/null; then
        python=$candidate
        break
    fi
done

echo 1..12
ok_if "the pictures are of the figures in the tables" draws --check --out "$root/docs/img"
ok_if "the document shows all of them" shows_all
ok_if "finds a picture of other figures" \
    refuses_edited "workloads_programs.png shows other figures" '/^| *cg |/s/ to [0-9.]* |/ to 9.87 |/' \
    --check --out "$root/docs/img"
ok_if "refuses a table without a column" refuses_without "limit: exact"
ok_if "refuses a table without a column that begins no group" refuses_without "share of reduce"
ok_if "refuses a column that is there twice" \
    refuses_edited 'two columns "ratio"' 's/| with s |/| ratio |/'
ok_if "refuses a document without a table" \
    refuses_edited 'no table begins with the column "model"' 's/^The same at 10 Gb\/s:/The same at 40 Gb\/s:/'
ok_if "refuses one of two that could be meant" \
    refuses_edited '2 tables begin with the column "model"' 's/^One node, 2 ranks/4 nodes, 1 Gb\/s, 2 ranks/'
ok_if "refuses what is not a number" refuses_edited '"many" in the column "at most"' '/^| *cg |/s/| *[0-9.]* |\([^|]*|\)$/| many |\1/'
ok_if "refuses a row with a cell too few" refuses_edited "14 cells below 15 columns" '/^| *pipecg |/s/^|[^|]*//'
ok_if "tells when there is no document" refuses "none.md" --document "$scratch/none.md"
if "$python" -c 'import matplotlib' 2>/dev/null; then
    ok_if "draws all pictures, each of at most $largest bytes" draws_all
else
    echo "ok 12 # SKIP draws all pictures: needs matplotlib"
fi
