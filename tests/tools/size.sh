#!/bin/sh
# How large the house is, a line a measure:  tests/tools/size.sh [TREE], default: this one
#
#   product   lines of coll_lowlat, coll_quant and common, of what git has
#   arguments the most that a function of the product declares in a header
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
cd "${1:-$(dirname "$0")/../..}" || exit 1

# lines NAME PATTERN...
lines() {
    printf '%-24s %s\n' "$1" "$(shift && git ls-files -z -- "$@" | xargs -0 cat | wc -l)"
}

# longest NAME PATTERN...
longest() {
    printf '%-24s %s\n' "$1" "$(shift && git ls-files -z -- "$@" | xargs -0 wc -l | grep -v ' total$' | sort -n | tail -n 1 |
        awk '{ print $1, $2 }')"
}

lines "product, lines" coll_lowlat coll_quant common
printf '%-24s %s\n' "product, files" "$(git ls-files -- coll_lowlat coll_quant common | wc -l)"
lines "tests, lines" tests ':!tests/fuzz/corpus'
lines "documents, lines" 'docs/*.md'
lines "README, lines" README.md
printf '%-24s %s\n' "parameters" "$(cat common/core/common_params.def coll_lowlat/lowlat_params.def coll_quant/policy/quant_params.def | grep -c '^ARC_PARAM_')"
longest "longest file" 'coll_*/*.c' 'common/*.c'
longest "longest header" 'coll_*/*.h' 'common/*.h'
git ls-files -z -- 'coll_*/*.h' 'common/*.h' | xargs -0 cat | tr -d '\n' | grep -oE '(arc|lowlat|quant|coll|mca|exchange|ucx)_[a-z_0-9]*\([^(){}]*\);' |
    awk -F, '{ name = $1; sub(/\(.*/, "", name); if (NF > most) { most = NF; of = name } }
        END { printf "%-24s %d %s\n", "arguments", most, of }'
if [ -e tests/tools/test_rooms.sh ]; then
    top_srcdir=. sh tests/tools/test_rooms.sh | sed -n 's/^# \([0-9]* rooms.*\)/rooms                    \1/p'
fi
