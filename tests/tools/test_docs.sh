#!/bin/sh
# docs/parameters.md is what the tables say, and every parameter that the other
# documents and the README name exists.  No word is left that was to be replaced.
# Each file of docs/data says where its figures are from, has as many columns in
# each row, and is one that a document links to.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
root=${top_srcdir:-../..}
generated=$(mktemp) || exit 1
broken=$(mktemp -d) || exit 1
trap 'rm -rf "$generated" "$broken"' EXIT

echo 1..8
./print_parameters >"$generated" || exit 1
if diff -u "$root/docs/parameters.md" "$generated" | sed 's/^/# /'; diff -q "$root/docs/parameters.md" "$generated" >/dev/null; then
    echo "ok 1 - docs/parameters.md is up to date"
else
    echo "not ok 1 - docs/parameters.md is up to date (make docs)"
fi

unknown=$(cat "$root/README.md" "$root"/docs/*.md | grep -oE 'coll_(arc|lowlat|quant)_[a-z0-9_]*(\.[ch])?' | sort -u |
    while read -r name; do
        case $name in
        *.[ch] | coll_lowlat_ | coll_quant_) continue ;; # files, and prefixes
        esac
        grep -q "\`$name\`" "$generated" || echo "$name"
    done)
if [ -z "$unknown" ]; then
    echo "ok 2 - documents name only parameters that exist"
else
    echo "# unknown: $unknown"
    echo "not ok 2 - documents name only parameters that exist"
fi

if grep -nE '@[A-Z]+@' "$root/README.md" "$root"/docs/*.md; then
    echo "not ok 3 - nothing in the documents waits to be filled in"
else
    echo "ok 3 - nothing in the documents waits to be filled in"
fi

# faults FILE: what is wrong with a file of docs/data.  A cell with a comma is quoted.
faults() {
    awk -v name="$(basename "$1")" '
        /^# / && !columns { sub(/^# /, ""); if (sub(/: .*/, "")) { heads[$0] = 1 }; next }
        {
            gsub(/"[^"]*"/, "quoted")
            cells = split($0, unused, ",")
            if (!columns) { columns = cells }
            else { rows++ }
            if (cells != columns) { print name ":" FNR ": " cells " cells below " columns " columns" }
        }
        END {
            count = split("what machine date commit command", wanted, " ")
            for (i = 1; i <= count; i++) { if (!(wanted[i] in heads)) { print name ": no line \"# " wanted[i] ": ...\"" } }
            if (!rows) { print name ": no rows" }
        }' "$1"
    grep -qF "(data/$(basename "$1"))" "$root"/docs/*.md || echo "$(basename "$1"): no document links to it"
}

found=$(for file in "$root"/docs/data/*; do faults "$file"; done)
if [ -z "$found" ]; then
    echo "ok 4 - files of docs/data say where they are from"
else
    echo "$found" | sed 's/^/# /'
    echo "not ok 4 - files of docs/data say where they are from"
fi

# finds NUMBER TEXT FAULT SCRIPT: after this script of sed a file has this fault and no other
finds() {
    sed "$4" "$root/docs/data/scale.csv" >"$broken/scale.csv"
    found=$(faults "$broken/scale.csv")
    if [ "$found" = "scale.csv$3" ]; then
        echo "ok $1 - $2"
    else
        echo "# found: $found"
        echo "not ok $1 - $2"
    fi
}

finds 5 "a head that is missing is noticed" ': no line "# commit: ..."' '/^# commit/d'
finds 6 "a cell that is missing is noticed" ":$(grep -c '^#' "$root/docs/data/scale.csv" | awk '{ print $1 + 2 }'): 6 cells below 7 columns" \
    '/^us,/{s/,[^,]*$//;:rest;n;b rest}'
finds 7 "rows that are missing are noticed" ": no rows" '/^us,/d;/^KiB,/d'
mv "$broken/scale.csv" "$broken/nowhere.csv"
if faults "$broken/nowhere.csv" | grep -q "nowhere.csv: no document links to it"; then
    echo "ok 8 - a file that no document links to is noticed"
else
    echo "not ok 8 - a file that no document links to is noticed"
fi
