#!/bin/sh
# The pictures of docs/workloads.md and scale.md are of the figures that the files of docs/data have now; workloads/plot
# draws them, and refuses files in which it does not find what it draws.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
root=$(cd "${top_srcdir:-../..}" && pwd)
plot=$root/tests/workloads/plot
published=$root/docs/data
pictures=$(ls "$root"/docs/img/workloads_*.png "$root/docs/img/scale_platforms.png")
largest=81920
. "${top_srcdir:-../..}/tests/lib/tap.sh"

# draws ARGUMENT...: plot succeeds
draws() {
    "$python" "$plot" --out "$scratch" "$@" 2>"$scratch/err"
}

# notices TEXT NAME SCRIPT [ARGUMENT...]: of the published file after this script of sed, which says TEXT on stderr
notices() {
    wanted=$1 edited=$scratch/data/$2.csv script=$3
    shift 3
    rm -rf "$scratch/data" && mkdir "$scratch/data" && cp "$published"/*.csv "$scratch/data" &&
        sed -i "$script" "$edited" && ! cmp -s "$published/$(basename "$edited")" "$edited" &&
        ! draws --data "$scratch/data" "$@" && grep -qF -e "$wanted" "$scratch/err" &&
        [ -z "$(ls "$scratch" | grep png)" ]
}

draws_all() {
    draws || return 1
    for picture in $pictures; do
        drawn=$scratch/$(basename "$picture")
        [ -s "$drawn" ] && [ "$(wc -c <"$drawn")" -le $largest ] || return 1
    done
    [ "$(ls "$scratch"/*.png | wc -l)" -eq "$(echo "$pictures" | wc -l)" ] && draws --check
}

shows_all() {
    for picture in $pictures; do
        if ! grep -q "!\[.*\](img/$(basename "$picture"))" "$root/docs/workloads.md" "$root/docs/scale.md"; then
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
    notices "workloads_programs.png shows other figures" workloads_programs '/^cg,/s/ to [0-9.]*,/ to 9.87,/' \
    --check --out "$root/docs/img"
ok_if "refuses a file without a column" notices "limit: exact" workloads_decode 's/,limit: exact,/,limit,/'
ok_if "refuses a file without the rows that it draws" notices "10 Gb/s" workloads_decode 's/^4,10 Gb/4,40 Gb/'
ok_if "refuses what is not a number" notices "many" workloads_programs '/^cg,/s/,[0-9.]*,\([^,]*\)$/,many,\1/'
if "$python" -c 'import matplotlib' 2>/dev/null; then
    ok_if "draws all pictures, each of at most $largest bytes" draws_all
else
    skip "draws all pictures: needs matplotlib"
fi
tap_done
