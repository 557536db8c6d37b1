#!/bin/sh
# The table of what ARC costs (bench/overhead): its rows, its figures on commands whose times are known,
# and what it refuses. What a communicator costs that is never used.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup components
command -v python3 >/dev/null || mpi_skip_all "no python3"
overhead=$(dirname "$0")/../../bench/overhead
[ -f "$overhead" ] || overhead=${top_srcdir:-../..}/tests/bench/overhead

# table ARGUMENTS OF overhead ...: its rows are in $mpi_scratch/rows then
table() {
    timeout -k 5 100 python3 "$overhead" --bench "$mpi_bin/overhead_cases" --tsv "$mpi_scratch/tsv" "$@" \
        >"$mpi_scratch/out" 2>"$mpi_scratch/err"
    status=$?
    grep -v -e '^#' -e '^unit' "$mpi_scratch/tsv" >"$mpi_scratch/rows" 2>/dev/null
    return $status
}

# refused LABEL TEXT ARGUMENTS ...: overhead ends with an error that says TEXT
refused() {
    refused_label=$1 refused_text=$2
    shift 2
    ! table "$@" && grep -q -- "$refused_text" "$mpi_scratch/err"
    mpi_result $? "$refused_label"
}

# A slow ARC: the component waits for 0.3 s; seen by the variable that makes the others plain.
wait_for_arc='test "${OMPI_MCA_coll-}" = ^lowlat,quant || sleep 0.3'

table -n 2,3 -r 1 --samples 3 --communicators 5 --dups 5 --command "slow=$wait_for_arc"
mpi_result $? "a small run ends well"
mpi_show "$mpi_scratch/err"
test "$(cut -f 1,3 "$mpi_scratch/rows" | sort | uniq -c | awk '{ print $1 $2 $3 }' | tr '\n' ' ')" = \
    "2ms2 1msas 5us2 5us3 "
mpi_result $? "five calls for each number of ranks, two programs and a command"
awk -F '\t' '
    # Of two times that were rounded to 0.1, and rounded to 0.01 itself.
    function differ(shown, over, under) {
        return shown < (over - 0.051) / (under + 0.051) - 0.006 || shown > (over + 0.051) / (under - 0.051) + 0.006
    }
    $4 <= 0.1 || differ($7, $5, $4) || differ($8, $6, $4) { bad++ }
    { for (i = 4; i <= 9; i++) if ($i !~ /^[0-9]+\.[0-9]+$/) bad++ }
    $4 <= 0 || $5 <= 0 || $6 <= 0 { bad++ }
    $1 == "us" && ($9 - (1.1 * $4 + 5)) ^ 2 > 0.02 { bad++ }
    $1 == "ms" && ($9 - 1.01 * $4) ^ 2 > 0.02 { bad++ }
    {
        unclear = $9 * ($4 > $5 ? $4 / $5 : $5 / $4)
        clear = ($6 - $9) ^ 2 > 0.02 && ($6 / unclear - 1) ^ 2 > 0.0001 # but for what was rounded
        if (clear && $10 != ($6 <= $9 ? "yes" : $6 <= unclear ? "unclear" : "no")) bad++
    }
    END { exit bad > 0 || NR == 0 }' "$mpi_scratch/rows"
mpi_result $? "every figure is one; ratios, limit and verdict are those of the row"
mpi_show "$mpi_scratch/rows"
awk -F '\t' '$2 == "slow" { seen = $6 >= 300 && $4 < 300 && $5 < 300 && $10 == "no" } END { exit !seen }' \
    "$mpi_scratch/rows"
mpi_result $? "only what runs with ARC is slower"
test "$(grep -c -e 'microseconds a call' -e 'milliseconds a program' "$mpi_scratch/out")" -eq 2
mpi_result $? "the tables say their units"

refused "a command that fails" "ended with 3" -n none --programs none --command "bad=exit 3"
refused "a program without a name" "NAME=COMMAND" --command true
refused "one rank" "nobody to talk to" -n 1
refused "no rounds" "whole number" -r 0
OMPI_MCA_coll=^quant
export OMPI_MCA_coll
refused "a selection of components" "OMPI_MCA_coll is set" -n 2
unset OMPI_MCA_coll
mkdir "$mpi_scratch/nothing_installed"
printf '#!/bin/sh\n' >"$mpi_scratch/nothing_installed/ompi_info"
chmod +x "$mpi_scratch/nothing_installed/ompi_info"
PATH=$mpi_scratch/nothing_installed:$PATH
refused "without the component" "does not find coll_lowlat" -n 2
PATH=${PATH#*:}

mpi_start 2 60 "" overhead_cases paired 5
test "$mpi_status" -eq 0 && test "$(awk '$2 > 0 { print $1 }' "$mpi_scratch/out" | tr '\n' ' ')" = "without with "
mpi_result $? "dups in turn with ARC and without"
mpi_show "$mpi_scratch/out"

mpi_start 2 60 "" overhead_cases sums 1 256 512
test "$mpi_status" -eq 0 &&
    test "$(awk '$2 > 0 && $3 > 0 && $4 > 0 { print $1 }' "$mpi_scratch/out" | tr '\n' ' ')" = "256 512 "
mpi_result $? "sums in turn with ARC and without"
mpi_show "$mpi_scratch/out"

for arguments in "sums 1 2 512" "sums 1 512 256" "sums 1 4" "times 0" "nothing" "dups 0"; do
    # shellcheck disable=SC2086
    mpi_start 2 30 "" overhead_cases $arguments
    test "$mpi_status" -ne 0 && test "$mpi_status" -ne 124
    mpi_result $? "overhead_cases $arguments is refused"
done

# add_dup FILE "MCA ARGUMENTS": microseconds of a dup and its end, in one more run
add_dup() {
    mpi_start 2 60 "$2" overhead_cases blocks 60
    sed -n 's/^dup //p' "$mpi_scratch/out" >>"$mpi_scratch/$1"
}

# Both components together cost a communicator that is never used less than half of what it costs anyway: with its end
# 0.9 of 4.6 microseconds, on another machine 2.6 of 11.5. In virtual machines CPUID alone would take eight. Medians of
# runs in turn: which cores the ranks get makes as much of a difference, and the least of many runs may have found them
# for one of the two.
for _ in 1 2 3 4 5 6 7 8 9 10 11; do
    add_dup plain "--mca coll ^lowlat,quant"
    add_dup ours ""
done
plain=$(sort -n "$mpi_scratch/plain" | sed -n 6p)
ours=$(sort -n "$mpi_scratch/ours" | sed -n 6p)
awk -v plain="$plain" -v ours="$ours" 'BEGIN { exit !(plain > 0 && ours > 0 && 2 * ours < 3 * plain) }'
mpi_result $? "MPI_Comm_dup and its end take $ours us, without the components $plain"
mpi_done
