#!/bin/sh
# Every mutation of mutations.txt still applies, and its tests exist; whether they notice it is for `mutate` to
# find out, which takes too long for each check.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
tools=${top_srcdir:-../..}/tests/tools
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
if ! command -v python3 >/dev/null 2>&1; then
    echo "1..0 # SKIP needs python3"
    exit 0
fi

# result STATUS TEXT: shows what was said where it failed
count=0
result() {
    count=$((count + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $count - $2"
    else
        sed 's/^/# /' "$scratch/said"
        echo "not ok $count - $2"
    fi
}

python3 "$tools/mutate" --check >"$scratch/said" 2>&1
result $? "all mutations apply: $(cat "$scratch/said")"
cat >"$scratch/list" <<'END'
@ common/node/lowlat_memory.h: text that is not there
? test_lowlat
- a line that nobody would write
@ common/node/lowlat_memory.h: text that is there more than once
? test_lowlat
- return
@ common/node/lowlat_memory.h: a test that is not there
? test_nothing
- task->base = group->pieces;
END
python3 "$tools/mutate" --check --list "$scratch/list" >"$scratch/said" 2>&1
test $? -eq 1 && test "$(grep -c 'does not apply' "$scratch/said")" -eq 2 &&
    test "$(grep -c 'there is no program' "$scratch/said")" -eq 1
result $? "mutations that do not apply are found"
python3 "$tools/mutate" --help | grep -q 'mutations.txt'
result $? "it says how to use it"
echo "1..$count"
