#!/bin/sh
# The schedules that network/run writes for LogGOPSim are whole: the k-th send to a rank and tag has the bytes of its
# k-th receive, nothing waits in a circle, and all numbers are added once.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
network=$(cd "${top_srcdir:-../..}/tests/network" && pwd)
. "${top_srcdir:-../..}/tests/lib/tap.sh"
build=$(cd .. && pwd)
nodes=6 bytes=1000000
if ! command -v python3 >/dev/null || ! command -v smpirun >/dev/null || ! [ -e /usr/include/simgrid/engine.h ]; then
    skip_all "needs python3 and libsimgrid-dev"
fi

# whole FILE BYTES: the schedule is, and BYTES are added in it
cat >"$scratch/whole" <<'EOF'
import collections, re, sys

sends, receives, after, added, here = collections.defaultdict(list), collections.defaultdict(list), {}, 0, None
for line in open(sys.argv[1]):
    words = re.findall(r"\w+", line)
    if line.startswith("rank"):
        here = int(words[1])
    elif words and words[0] == "num_ranks":
        ranks = int(words[1])
    elif len(words) > 1 and words[1] == "requires":
        after[here, int(words[0][1:])].append((here, int(words[2][1:])))
    elif words:
        label = here, int(words[0][1:])
        assert label not in after, f"twice: {label}"
        after[label] = []
        if words[1] == "calc":
            added += int(words[2])
        else:
            ends = (here, int(words[4])) if words[1] == "send" else (int(words[4]), here)
            {"send": sends, "recv": receives}[words[1]][ends + (words[6],)].append((label, words[2]))
assert here == ranks - 1 and sends, "ranks"
for way in sends.keys() | receives.keys():
    sent, received = sorted(sends[way]), sorted(receives[way])
    assert [of for _, of in sent] == [of for _, of in received], f"bytes from, to, tag {way}"
    for (send, _), (receive, _) in zip(sent, received):
        after[receive].append(send)
while after:
    free = {label for label, before in after.items() if not any(other in after for other in before)}
    assert free, "a circle"
    for label in free:
        del after[label]
assert added == int(sys.argv[2]), f"added {added}"
EOF
whole() {
    python3 "$scratch/whole" "$1" "$2" >"$scratch/out" 2>"$scratch/err"
}

for algorithm in halving direct ring int8_semi_loop int8_packed; do
    goes() {
        "$network/run" "$build" --print goal:$algorithm --nodes $nodes --bytes $bytes >"$scratch/$algorithm" &&
            whole "$scratch/$algorithm" $(((nodes - 1) * bytes))
    }
    ok_if "the schedule of $algorithm is whole" goes
done

# notices WORD SED_SCRIPT: what this makes of a schedule
notices() {
    sed "$2" "$scratch/halving" >"$scratch/broken"
    ! cmp -s "$scratch/broken" "$scratch/halving" && ! whole "$scratch/broken" $(((nodes - 1) * bytes)) &&
        grep -q "$1" "$scratch/err"
}
first=$(grep -n -m 1 'requires' "$scratch/halving" | sed 's/:l\([0-9]*\) requires l\([0-9]*\)/ \1 \2/')
ok_if "a message of other bytes is noticed" notices bytes '0,/send /s/send \([0-9]*\)b/send \14b/'
ok_if "a receive that lacks is noticed" notices bytes '0,/recv /{/recv /s/:.*/: calc 0/}'
ok_if "a circle is noticed" notices circle \
    "$(echo "$first" | awk '{ printf "%da l%d requires l%d", $1, $3, $2 }')"
ok_if "an addition that lacks is noticed" notices added '0,/calc [1-9]/s/calc [1-9].*/calc 0/'
tap_done
