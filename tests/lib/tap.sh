# What scripts print that are no tests of programs under mpirun: TAP lines, a case each.  They begin with a
# folder of their own, $scratch, and end with tap_done.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
count=0

# result STATUS TEXT [FILE...]: fine if the status is 0; otherwise the files that exist say why
result() {
    count=$((count + 1)) status=$1 text=$2
    shift 2
    if [ "$status" -ne 0 ]; then
        [ $# -eq 0 ] || sed 's/^/# /' "$@" 2>/dev/null
        printf 'not '
    fi
    echo "ok $count - $text"
}

# ok_if TEXT COMMAND...: fine when the command succeeds; what it left in $scratch/err and out says why not
ok_if() {
    about=$1
    shift
    "$@"
    result $? "$about" "$scratch/err" "$scratch/out"
}

# clean TEXT: fine when $scratch/faults is empty
clean() {
    test ! -s "$scratch/faults"
    result $? "$1" "$scratch/faults"
}

# skip TEXT: a case that cannot run here, and why
skip() {
    count=$((count + 1))
    echo "ok $count # SKIP $1"
}

# skip_all REASON: ends the script
skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}

tap_done() {
    echo "1..$count"
}
