#!/bin/sh
# The pictures of docs/workloads.md are of the figures that the files of docs/data have now; workloads/plot
# draws them, and refuses files in which it does not find what it draws.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
root=$(cd "${top_srcdir:-../..}" && pwd)
plot=$root/tests/workloads/plot
published=$root/docs/data
shown_in=$root/docs/workloads.md
edited=
largest=81920
. "${top_srcdir:-../..}/tests/lib/tap.sh"

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

# fresh NAME: $scratch/data is what is published, of which $edited, NAME.csv, is to be changed
fresh() {
    rm -rf "$scratch/data" && mkdir "$scratch/data" && cp "$published"/workloads_*.csv "$scratch/data" &&
        edited=$scratch/data/$1.csv
}

is_changed() {
    echo "the file has nothing to change" >"$scratch/err"
    ! cmp -s "$published/$(basename "$edited")" "$edited"
}

# refuses_edited TEXT NAME SCRIPT [ARGUMENT...]: the file after this script of sed
refuses_edited() {
    wanted=$1 file=$2 script=$3
    shift 3
    fresh "$file" && sed "$script" "$published/$file.csv" >"$edited" && is_changed || return 1
    refuses "$wanted" --data "$scratch/data" "$@"
}

# refuses_without COLUMN NAME: the file without that column; its cells before and in it have no commas
refuses_without() {
    fresh "$2" && awk -F , -v name="$1" -v OFS=, '
        /^#/ { print; next }
        !gone { for (i = 1; i <= NF; i++) if ($i == name) gone = i }
        { for (i = gone; i < NF; i++) $i = $(i + 1); NF--; print }' "$published/$2.csv" >"$edited" && is_changed &&
        refuses "no column \"$1\"" --data "$scratch/data"
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
        if ! grep -q "^!\[.*\](img/$(basename "$picture"))" "$shown_in"; then
            echo "$picture" >"$scratch/err"
            return 1
        fi
    done
}

command -v python3 >/dev/null || skip_all "needs python3"
# matplotlib is for Debian's own Python, which need not be the first.
python=python3
for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c 'import matplotlib' 2>/dev/null; then
        python=$candidate
        break
    fi
done

ok_if "the pictures are of the figures in the files" draws --check --out "$root/docs/img"
ok_if "the document shows all of them" shows_all
ok_if "finds a picture of other figures" \
    refuses_edited "workloads_programs.png shows other figures" workloads_programs '/^cg,/s/ to [0-9.]*,/ to 9.87,/' \
    --check --out "$root/docs/img"
ok_if "refuses a file without a column" refuses_without "limit: exact" workloads_decode
ok_if "refuses another file without a column" refuses_without "share of reduce" workloads_matmul
ok_if "refuses a column that is there twice" \
    refuses_edited 'two columns "ratio"' workloads_programs 's/,with s,/,ratio,/'
ok_if "refuses a file without the rows that it draws" \
    refuses_edited 'no row has "4" in "nodes" and "10 Gb/s" in "links"' workloads_decode 's/^4,10 Gb/4,40 Gb/'
ok_if "refuses what is not a number" \
    refuses_edited '"many" in the column "at most"' workloads_programs '/^cg,/s/,[0-9.]*,\([^,]*\)$/,many,\1/'
ok_if "refuses a row with a cell too few" \
    refuses_edited "14 cells below 15 columns" workloads_programs '/^pipecg,/s/^[^,]*,//'
ok_if "tells when there is no file" refuses "none/workloads_decode.csv" --data "$scratch/none"
if "$python" -c 'import matplotlib' 2>/dev/null; then
    ok_if "draws all pictures, each of at most $largest bytes" draws_all
else
    skip "draws all pictures: needs matplotlib"
fi
tap_done
