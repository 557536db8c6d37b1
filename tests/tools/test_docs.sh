#!/bin/sh
# docs/parameters.md and the man pages are what the tables say, and every parameter that the other
# documents and the README name exists.  No word is left that was to be replaced.
# Each file of docs/data says where its figures are from, has as many columns in
# each row, and is one that a document links to.  Each row of papers.md names what repeats it, and
# what papers.md names is there.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "${top_srcdir:-../..}/tests/lib/tap.sh"
root=${top_srcdir:-../..}
generated=$scratch/generated

./print_parameters >"$generated" || exit 1
diff -u "$root/docs/parameters.md" "$generated" >"$scratch/faults"
result $? "docs/parameters.md is up to date (make docs)" "$scratch/faults"

# Names are what rows of parameters.md begin with.
for page in arc coll_lowlat coll_quant; do
    ./print_parameters "$root/docs/man/$page.7.in" >"$scratch/$page.7" || echo "$page"
done >"$scratch/faults"
cat "$scratch"/*.7 | sed -n 's/^\\fB\([^ ]*\)\\fP.*/\1/p' | sort >"$scratch/in_pages"
sed -n 's/^| `\([^` ]*\)`.*/\1/p' "$generated" | sort | diff "$scratch/in_pages" - >>"$scratch/faults"
test -s "$scratch/in_pages" && test ! -s "$scratch/faults"
result $? "each name of parameters.md is in one man page" "$scratch/faults"
if command -v groff >/dev/null; then
    groff -man -Tascii -ww "$scratch"/*.7 2>&1 >/dev/null | head -n 20 >"$scratch/faults"
    clean "groff has nothing to say about the man pages"
else
    skip "groff has nothing to say about the man pages: no groff"
fi

cat "$root/README.md" "$root"/docs/*.md | grep -oE 'coll_(arc|lowlat|quant)_[a-z0-9_]*(\.[ch])?' | sort -u |
    while read -r name; do
        case $name in
        *.[ch] | coll_lowlat_ | coll_quant_) continue ;; # files, and prefixes
        esac
        grep -q "\`$name\`" "$generated" || echo "$name"
    done >"$scratch/faults"
clean "documents name only parameters that exist"

! grep -nE '@[A-Z]+@' "$root/README.md" "$root"/docs/*.md >"$scratch/faults"
result $? "nothing in the documents waits to be filled in" "$scratch/faults"

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

for file in "$root"/docs/data/*; do faults "$file"; done >"$scratch/faults"
clean "files of docs/data say where they are from"

# finds TEXT FAULT SCRIPT: after this script of sed a file has this fault and no other
finds() {
    sed "$3" "$root/docs/data/scale.csv" >"$scratch/scale.csv"
    faults "$scratch/scale.csv" >"$scratch/faults"
    test "$(cat "$scratch/faults")" = "scale.csv$2"
    result $? "$1" "$scratch/faults"
}

finds "a head that is missing is noticed" ': no line "# commit: ..."' '/^# commit/d'
finds "a cell that is missing is noticed" ":$(grep -c '^#' "$root/docs/data/scale.csv" | awk '{ print $1 + 2 }'): 6 cells below 7 columns" \
    '/^us,/{s/,[^,]*$//;:rest;n;b rest}'
finds "rows that are missing are noticed" ": no rows" '/^us,/d;/^KiB,/d'
mv "$scratch/scale.csv" "$scratch/nowhere.csv"
faults "$scratch/nowhere.csv" | grep -q "nowhere.csv: no document links to it"
result $? "a file that no document links to is noticed"

# strangers FILE: rows of papers.md that name nothing, and paths in it that are none.  A word with a
# slash between backticks is a path, of a program with or without .c; ddeb56c and f059aac are programs that went.
strangers() {
    awk -F'|' '/^\| / && !/^\| section/ && $4 !~ /`[^` ]*\/|ddeb56c|f059aac/ { print "no command: " $0 }' "$1"
    grep -o '`[^`]*`' "$1" | tr -d '`' | sed 's/ .*//' | grep / | sort -u | while read -r path; do
        test -e "$root/$path" || test -e "$root/$path.c" || echo "no file: $path"
    done
}
papers=$root/docs/papers.md
strangers "$papers" >"$scratch/faults"
test "$(grep -c '^| ' "$papers")" -gt 140 && test ! -s "$scratch/faults"
result $? "each row of papers.md names what repeats it, which is there" "$scratch/faults"
sed 's,bench/error_table,&s,; /tile_bounds/s,`tests/workloads/matmul/slicing.py[^|]*,nothing ,' "$papers" >"$scratch/papers.md"
strangers "$scratch/papers.md" | sed 's/:.*tables/: tables/; s/: |.*/:/' | sort >"$scratch/faults"
test "$(tr '\n' ' ' <"$scratch/faults")" = "no command: no file: tables "
result $? "a row without a command, and a file that is not there, are noticed" "$scratch/faults"
tap_done
