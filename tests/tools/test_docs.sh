#!/bin/sh
# docs/parameters.md is what the tables say, and every parameter that the other
# documents and the README name exists.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
root=${top_srcdir:-../..}
generated=$(mktemp) || exit 1
trap 'rm -f "$generated"' EXIT

echo 1..2
./print_parameters >"$generated" || exit 1
if diff -u "$root/docs/parameters.md" "$generated" | sed 's/^/# /'; diff -q "$root/docs/parameters.md" "$generated" >/dev/null; then
    echo "ok 1 - docs/parameters.md is up to date"
else
    echo "not ok 1 - docs/parameters.md is up to date (make docs)"
fi

unknown=$(cat "$root/README.md" "$root"/docs/*.md | grep -o 'coll_\(lowlat\|quant\)_[a-z0-9_]*' | sort -u |
    while read -r name; do
        case $name in
        # Names of files and prefixes, not of parameters.
        coll_*_component | coll_*_allreduce | coll_*_halves | coll_*_parts | coll_*_residual | coll_*_setup | coll_lowlat_ | coll_quant_) continue ;;
        esac
        grep -q "\`$name\`" "$generated" || echo "$name"
    done)
if [ -z "$unknown" ]; then
    echo "ok 2 - documents name only parameters that exist"
else
    echo "# unknown: $unknown"
    echo "not ok 2 - documents name only parameters that exist"
fi
