#!/bin/sh
# docs/parameters.md is what the tables say, and every parameter that the other
# documents and the README name exists.  No word is left that was to be replaced.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
root=${top_srcdir:-../..}
generated=$(mktemp) || exit 1
trap 'rm -f "$generated"' EXIT

echo 1..3
./print_parameters >"$generated" || exit 1
if diff -u "$root/docs/parameters.md" "$generated" | sed 's/^/# /'; diff -q "$root/docs/parameters.md" "$generated" >/dev/null; then
    echo "ok 1 - docs/parameters.md is up to date"
else
    echo "not ok 1 - docs/parameters.md is up to date (make docs)"
fi

unknown=$(cat "$root/README.md" "$root"/docs/*.md | grep -oE 'coll_(lowlat|quant)_[a-z0-9_]*(\.[ch])?' | sort -u |
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
