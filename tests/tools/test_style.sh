#!/bin/sh
# Rules about the source that a script can check: size of files, no leftovers, a
# licence line in each, layout by clang-format where release 14 of it is installed;
# no long lines in the README and the documents but in tables and code; what is
# compiled in the build folder stays there.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "${top_srcdir:-../..}/tests/lib/tap.sh"
root=${top_srcdir:-../..}
max_lines=500
max_columns=120
cd "$root" || exit 1
sources=$(find common coll_lowlat coll_quant tests -name '*.[ch]' -o -name '*.def' | sort)
scripts=$(find tests m4 -name '*.sh' -o -name '*.py' -o -name 'arc_*.m4' | sort)

# check TEXT STRAY: fine when there is nothing stray
check() {
    echo "$2" >"$scratch/stray"
    test -z "$2"
    result $? "$1" "$scratch/stray"
}

# Releases of clang-format differ in what they make of the same rules.
formatter=
for candidate in clang-format-14 clang-format; do
    if [ -z "$formatter" ] && "$candidate" --version 2>/dev/null | grep -q 'version 14\.'; then
        formatter=$candidate
    fi
done

check "no file is longer than $max_lines lines" \
    "$(wc -l $sources $scripts | awk -v max=$max_lines '$2 != "total" && $1 > max')"
check "no leftovers" "$(grep -nE '#if'' 0|TO''DO|FIX''ME|XX''X' $sources $scripts)"
check "every file has a licence line" "$(grep -L 'SPDX-License-Identifier: BSD-3-Clause' $sources $scripts)"
if [ ! -f .clang-format ]; then
    # The tarball does not have it: clang-format would then judge by rules of its own.
    skip "layout is clang-format's: no .clang-format in the source folder"
elif [ -n "$formatter" ]; then
    check "layout is clang-format's" "$("$formatter" --dry-run $(echo "$sources" | grep '\.[ch]$') 2>&1 |
        sed -n 's/:[0-9]*:[0-9]*: warning:.*//p' | sort -u)"
else
    skip "layout is clang-format's: needs clang-format 14"
fi
check "no line of a document is longer than $max_columns columns" "$(awk -v max=$max_columns '
    FNR == 1 { code = 0 }
    /^ *```/ { code = !code; next }
    !code && !/^\|/ && !/^    / && length > max { print FILENAME ":" FNR }' README.md docs/*.md)"
# Automake puts the object beside a source that is named by way of a variable: where that is not the build
# folder, other builds find it.
check "no source is named in a way that puts its object beside it" "$(find common coll_lowlat coll_quant tests -name '*.am' -exec awk '
    /_SOURCES *\+?=/ { list = FILENAME ":" FNR }
    list && /\$\((common|lowlat|quant|srcdir|top_srcdir)\)\/[^ ]*\.c/ { print FILENAME ":" FNR }
    !/\\$/ { list = "" }' {} +)"
tap_done
