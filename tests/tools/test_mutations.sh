#!/bin/sh
# Every mutation of mutations.txt still applies, and its tests exist; whether they notice it is for `mutate` to
# find out, which takes too long for each check.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "${top_srcdir:-../..}/tests/lib/tap.sh"
tools=${top_srcdir:-../..}/tests/tools
command -v python3 >/dev/null 2>&1 || skip_all "needs python3"

python3 "$tools/mutate" --check >"$scratch/said" 2>&1
result $? "all mutations apply: $(cat "$scratch/said")" "$scratch/said"
cat >"$scratch/list" <<'END'
? test_lowlat
@ common/node/lowlat_memory.h: text that is not there
- a line that nobody would write
@ common/node/lowlat_memory.h: text that is there more than once
~ return => goto
? test_nothing
@ common/node/lowlat_memory.h: a test that is not there
- task->base = group->pieces;
END
python3 "$tools/mutate" --check --list "$scratch/list" >"$scratch/said" 2>&1
test $? -eq 1 && test "$(grep -c 'does not apply' "$scratch/said")" -eq 2 &&
    test "$(grep -c 'there is no program' "$scratch/said")" -eq 1
result $? "mutations that do not apply are found" "$scratch/said"
python3 "$tools/mutate" --help | grep -q 'mutations.txt'
result $? "it says how to use it"
tap_done
