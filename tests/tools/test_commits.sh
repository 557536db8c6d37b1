#!/bin/sh
# The messages of commits since these rules: "area: imperative verb ...", at most 60 columns, and a body that
# says why.  Where the history is not there, as in a tarball, there is nothing to look at; of a shallow
# clone what it has is looked at.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "${top_srcdir:-../..}/tests/lib/tap.sh"
root=${top_srcdir:-../..}
# The last commit before the rules, and when that was.
base=f43de1daa8d396f361da493d72308e2931bdf433
base_date="2026-11-22 12:26:00 +0000"

# judge: of lines "hash, tab, length of the body, tab, subject" those that break a rule, and which
judge() {
    awk -F '\t' '
        function fault(text) { print substr($1, 1, 12) ": " text ": " $3 }
        length($3) > 60 { fault("more than 60 columns") }
        $3 !~ /^[a-z][a-z0-9_]*: [a-z]/ || $3 ~ /\.$/ { fault("not \"area: imperative verb ...\"") }
        # What is not a verb, or not an imperative, ends so; a few verbs do, too.
        $3 ~ /^[a-z0-9_]*: [a-z]*(ed|ing)( |$)/ &&
            $3 !~ /: (bring|embed|exceed|feed|need|proceed|seed|shed|speed|string|succeed)( |$)/ {
            fault("not an imperative")
        }
        $2 + 0 == 0 { fault("no body that says why") }'
}

# history ARGUMENTS OF git log ...: commits as judge wants them
history() {
    git -C "$root" log --no-merges --format='%x01%H%x09%s%x09%b' "$@" | awk -v RS='\001' -F '\t' -v OFS='\t' '
        NR > 1 {
            body = substr($0, length($1 $2) + 3)
            gsub(/[ \t\n]/, "", body)
            print $1, length(body), $2
        }'
}

printf '%s\n' 'aa	9	docs: say how' 'bb	9	no area' 'cc	9	docs: A capital' 'dd	9	docs: ends with a point.' \
    'ee	9	docs: added a word' 'ff	0	docs: say nothing else' \
    'gg	9	docs: say so much that the line is far longer than sixty columns' | judge | cut -d: -f1 >"$scratch/found"
printf '%s\n' bb cc dd ee ff gg | diff - "$scratch/found" >"$scratch/faults"
clean "a message that breaks a rule is found"

about="messages of commits have an area, an imperative and a reason"
if [ ! -e "$root/.git" ]; then
    skip "$about: no history here"
elif ! git -C "$root" rev-parse -q --verify HEAD >/dev/null 2>&1; then
    skip "$about: git is not there, or does not read this repository"
else
    if git -C "$root" merge-base --is-ancestor "$base" HEAD 2>/dev/null; then
        history "$base..HEAD" >"$scratch/history"
    else
        history --since="$base_date" >"$scratch/history"
    fi
    judge <"$scratch/history" >"$scratch/faults"
    clean "$about ($(wc -l <"$scratch/history") of them)"
fi
tap_done
