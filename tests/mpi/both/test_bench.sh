#!/bin/sh
# The benchmark's own tools: arc_allreduce checks its results with every option
# and refuses nonsense; so does floor; compare sorts windows into classes and takes
# the right medians, on numbers that a small script prints for it.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup

compare=$(dirname "$0")/../../bench/compare
[ -f "$compare" ] || compare=${top_srcdir:-../..}/tests/bench/compare
sizes="-m 4:1k -i 12 -x 3"

# passes LINES: the last run ended well, printed so many lines, and all of them passed.
passes() {
    test "$mpi_status" -eq 0 && test "$(grep -c '^[0-9]' "$mpi_scratch/out")" -eq "$1" &&
        test "$(grep -c '^[0-9].* Pass' "$mpi_scratch/out")" -eq "$1"
}

# validates RANKS LINES OPTIONS
validates() {
    # shellcheck disable=SC2086
    mpi_start "$1" 60 "" arc_allreduce $sizes -c $3
    passes "$2"
    mpi_result $? "np=$1: every result is right with ${3:-no options}"
    mpi_show "$mpi_scratch/err"
}

# ---- arc_allreduce ----

mpi_beside validates 1 27 "--back-to-back --windows 3 --ping-pong"
for ranks in 2 3; do
    mpi_beside validates $ranks 9 "--skew 5 --compute 3"
    mpi_beside validates $ranks 9 "--in-place --alter"
    mpi_beside validates $ranks 9 "--back-to-back --alternate-buffers --alter --compute 3"
    mpi_beside validates $ranks 27 "--back-to-back --windows 3 --ping-pong"
    mpi_beside validates $ranks 18 "--shuffle --windows 2 --ping-pong --alter"
    mpi_beside validates $ranks 9 "--shuffle --in-place -i 3"
done
mpi_beside validates 2 9 "-T int -o max --alter"
mpi_beside validates 3 8 "-T double -o min --alter"
for collective in reduce_scatter_block allgather; do
    mpi_beside validates 2 8 "--collective $collective --alter"
    mpi_beside validates 2 8 "--collective $collective --in-place --back-to-back"
done
mpi_join

# Windows of a size stand together; shuffled ones do not.
mpi_start 2 60 "" arc_allreduce -m 4:8 -i 5 -x 0 --windows 2
test "$(awk '/^[0-9]/ { printf "%s ", $1 }' "$mpi_scratch/out")" = "4 4 8 8 "
mpi_result $? "windows of a size follow each other"
mpi_start 2 60 "" arc_allreduce -m 4:8 -i 5 -x 0 --windows 2 --shuffle
test "$(awk '/^[0-9]/ { printf "%s ", $1 }' "$mpi_scratch/out")" = "4 8 4 8 "
mpi_result $? "a shuffled window has all sizes"

# The time of the calls alone: 3 ms of computing must not show, in any mode.
for mode in "" --back-to-back --shuffle; do
    # shellcheck disable=SC2086
    mpi_start 1 60 "" arc_allreduce -m 4 -i 20 -x 0 --compute 3000 $mode
    awk '/^[0-9]/ { seen++; if ($2 >= 1500) slow++ } END { exit !(seen == 1 && !slow) }' \
        "$mpi_scratch/out"
    mpi_result $? "computing is not counted ${mode:-per call}"
done
mpi_start 1 60 "" arc_allreduce -m 4 -i 20 -x 0 --skew 3000 --back-to-back
awk '/^[0-9]/ && $2 > 100 { slow++ } END { exit !slow }' "$mpi_scratch/out"
mpi_result $? "delays are counted back to back"

mpi_start 2 60 "" arc_allreduce -m 4 -i 5 -x 0 --ping-pong
awk '/^[0-9]/ && $NF > 1 && $NF < 1e9 { seen++ } END { exit seen != 1 }' "$mpi_scratch/out"
mpi_result $? "np=2: a ping-pong in nanoseconds"
mpi_start 1 60 "" arc_allreduce -m 4 -i 5 -x 0 --ping-pong
awk '/^[0-9]/ && $NF == "-" { seen++ } END { exit seen != 1 }' "$mpi_scratch/out"
mpi_result $? "np=1: no ping-pong"

# Quantized sums are not exact: the check must see that, or it sees nothing.
if mpi_have_plugin; then
    for mode in "" --back-to-back --shuffle; do
        # shellcheck disable=SC2086
        mpi_start 3 60 "--mca coll_quant_enable 1 --mca coll_quant_min_bytes 4" \
            arc_allreduce -m 64k:64k -i 5 -x 0 -c $mode
        test "$mpi_status" -ne 0 && grep -q '^65536 .* Fail' "$mpi_scratch/out"
        mpi_result $? "wrong results are found ${mode:-per call}"
    done
else
    mpi_skip "wrong results are found" "needs the components"
fi

# refuses OPTIONS
refuses() {
    # shellcheck disable=SC2086
    mpi_start 1 60 "" arc_allreduce $1
    test "$mpi_status" -ne 0 && ! grep -q '^[0-9]' "$mpi_scratch/out" &&
        grep -q '^arc_allreduce: \|unrecognized\|requires\|usage' "$mpi_scratch/err"
    mpi_result $? "refuses $1"
}
while read -r wrong; do
    mpi_beside refuses "$wrong"
done <<END
-m 8:4
-i 0
-T quad
-T double -m 4
-o prod
--collective bcast
--skew nan
--windows 2x
--shuffle --back-to-back
--no-such-option
4096
END
mpi_join

# ---- the same program on MPICH: make arc_allreduce_mpich ----

if [ -x "$mpi_bin/arc_allreduce_mpich" ] && command -v mpiexec.mpich >/dev/null; then
    mpi_program=$mpi_bin/arc_allreduce_mpich
    # shellcheck disable=SC2086
    timeout -k 5 60 mpiexec.mpich -n 2 "$mpi_program" $sizes -c --ping-pong \
        >"$mpi_scratch/out" 2>"$mpi_scratch/err" </dev/null
    mpi_status=$?
    passes 9
    mpi_result $? "MPICH: every result is right"
    mpi_show "$mpi_scratch/err"
else
    mpi_skip "MPICH: every result is right" "needs arc_allreduce_mpich (make arc_allreduce_mpich)"
fi

# ---- floor ----

# floors OPTIONS: leaves stdout in $mpi_scratch/out, the exit status in $mpi_status.
floors() {
    timeout -k 5 60 "$mpi_bin/floor" "$@" >"$mpi_scratch/out" 2>"$mpi_scratch/err" </dev/null
    mpi_status=$?
}

floors -m 4:64k -i 20 -x 5 --windows 2 --ping-pong --back-to-back
if grep -q 'two cores are needed' "$mpi_scratch/err"; then
    mpi_skip "floor" "needs two cores"
else
    test "$mpi_status" -eq 0 && awk '
        /^[0-9]/ {
            lines++
            if ($1 != 4 * 2 ^ int((lines - 1) / 2) || $2 <= 0 || $2 > 1e6 || NF != 4 || $4 <= 1) bad++
        }
        END { exit bad || lines != 30 }' "$mpi_scratch/out"
    mpi_result $? "floor: sizes, times, ways and ping-pongs"
    mpi_show "$mpi_scratch/err"
    floors --ways -m 32:512k -i 2 -x 0
    awk '/^[0-9]/ { print $1, $3 }' "$mpi_scratch/out" >"$mpi_scratch/ways"
    : >"$mpi_scratch/missing"
    for way in "32 line,pause" "32 packet,fetched,delay" "64 packet,ordinary,at-once" \
        "1024 packet,memcpy,delay" "64 one-shot,ordinary,whole,at-once" "8192 two-shot,fetched,4k,pause" \
        "524288 two-shot,ordinary,256k,pause" "524288 one-shot,memcpy,32k-ring,delay" \
        "524288 mapped,whole,pause"; do
        grep -qx "$way" "$mpi_scratch/ways" || echo "no $way" >>"$mpi_scratch/missing"
    done
    test "$mpi_status" -eq 0 && test ! -s "$mpi_scratch/missing" &&
        test -z "$(sort "$mpi_scratch/ways" | uniq -d)" &&
        ! grep -q -e '^64 line' -e '^2048 packet' -e 'packet,streaming' -e '^4096 .*,4k' -e '^32768 .*-ring' \
            -e '^2048 .*at-once' "$mpi_scratch/ways"
    mpi_result $? "floor: all ways of each size, once"
    mpi_show "$mpi_scratch/missing"
    # A two-shot has the time of two messages.
    floors -m 64:1k -i 100 -x 5 --windows 5
    test "$mpi_status" -eq 0 &&
        awk '/^[0-9]/ { lines++ } /one-shot|packet/ { fast++ } END { exit !(lines == 25 && fast > 12) }' \
            "$mpi_scratch/out"
    mpi_result $? "floor: a window is that of the fastest way"

    while read -r wrong; do
        # shellcheck disable=SC2086
        floors $wrong
        test "$mpi_status" -eq 1 && ! grep -q '^[0-9]' "$mpi_scratch/out" &&
            grep -q '^floor: \|unrecognized\|invalid\|requires' "$mpi_scratch/err"
        mpi_result $? "floor: refuses $wrong"
    done <<END
-m 1:2
--windows 2x
4096
END
fi

# ---- compare ----

if ! command -v python3 >/dev/null; then
    mpi_skip "compare" "needs python3"
    mpi_done
    exit 0
fi

# Prints the numbers of NAME.ROUND; notes the options it got. If it is to, notes compare's other
# children (process, state, cores) and takes its time.
cat >"$mpi_scratch/canned" <<'END'
#!/bin/sh
cd "$(dirname "$0")" || exit 1
name=$1
shift
echo "$*" >>"$name.options"
if [ -n "${CANNED_SECONDS-}" ]; then
    cat /proc/[0-9]*/stat 2>/dev/null | awk -v parent="$PPID" -v own=$$ \
        '$4 == parent && $1 != own { print $1, $3 }' |
        while read -r process state; do
            echo "$process $state $(sed -n 's/^Cpus_allowed_list:[^0-9]*//p' "/proc/$process/status")"
        done >noting
    mv noting noted
    sleep "$CANNED_SECONDS"
fi
cat "$name.$(wc -l <"$name.options" | tr -d ' ')"
END
chmod +x "$mpi_scratch/canned"

# Windows of each configuration, round and size: latency/ping-pong. Of 4 bytes near the medians are 0.5 (a),
# 0.25 (b), 1 (c: of an even number), and far 20, 40, 12.5; of 8 bytes there are only two far windows of b, of
# 16 only near ones. Means, or windows on the wrong side of 90, would give other figures.
while read -r file size windows; do
    for window in $windows; do
        echo "$size ${window%/*} ${window#*/}" >>"$mpi_scratch/$file"
    done
done <<'END'
a.1 4 0.400/60.0 0.500/71.4 10.000/90.0
a.1 8 2.000/60.0 2.000/60.0 4.000/250.0
a.1 16 1.000/60.0
a.2 4 9.900/89.9 20.000/250.0 90.000/260.0
a.2 8 2.000/60.0 4.000/250.0 4.000/250.0
a.2 16 1.000/60.0 1.000/60.0
b.1 4 0.250/60.0 0.100/60.0 40.000/240.0 39.000/240.0
b.1 8 1.000/60.0 1.000/60.0 3.000/250.0
b.1 16 2.000/60.0
b.2 4 0.900/60.0 41.000/240.0
b.2 8 1.000/60.0 3.000/250.0
b.2 16 2.000/60.0 2.000/60.0
c.1 4 0.800/55.0 0.900/60.0 12.500/240.0 12.500/240.0
c.1 8 1.600/60.0 1.600/60.0 1.000/250.0 1.000/250.0
c.1 16 4.000/60.0
c.2 4 1.100/60.0 1.200/60.0 12.500/240.0
c.2 8 1.600/60.0 1.000/250.0
c.2 16 4.000/60.0 4.000/60.0
END

# compares OPTIONS: all three, two rounds; the tables and their titles, blanks squeezed.
compares() {
    rm -f "$mpi_scratch"/*.options
    python3 "$compare" -r 2 --config "a=!$mpi_scratch/canned a" --config "b=!$mpi_scratch/canned b" \
        --config "c=!$mpi_scratch/canned c" "$@" >"$mpi_scratch/all" 2>"$mpi_scratch/err" </dev/null
    mpi_status=$?
    sed -n '/^# cores/p; /^[# ]*[0-9a-z].*  /{/^#/!p}' "$mpi_scratch/all" | tr -s ' ' | sed 's/^ //' \
        >"$mpi_scratch/out"
}

# prints TEXT: what is on stdin.
prints() {
    cat >"$mpi_scratch/expected"
    test "$mpi_status" -eq 0 && diff "$mpi_scratch/expected" "$mpi_scratch/out" >"$mpi_scratch/diff"
    mpi_result $? "compare: $1"
    mpi_show "$mpi_scratch/diff"
    mpi_show "$mpi_scratch/err"
}

compares --windows 4 --best-of b
prints "classes, medians, ratios, best of the others" <<'END'
# cores near (below 90 ns): half a ping-pong takes 55 to 90 ns; 28 windows, 3 to 4 for each figure
bytes a us b us c us a/b a/c best other/b
4 0.500 0.250 1.000 2.00 0.50 2.00
8 2.000 1.000 1.600 2.00 1.25 1.60
16 1.000 2.000 4.000 0.50 0.25 0.50
# cores far (from 90 ns): half a ping-pong takes 90 to 260 ns; 17 windows, 3 to 3 for each figure
bytes a us b us c us a/b a/c best other/b
4 20.00 40.00 12.50 0.50 1.60 0.31
8 - - - - - -
16 - - - - - -
END
test "$(sort -u "$mpi_scratch"/?.options)" = \
    "-m 4:1048576 --back-to-back --windows 4 --ping-pong"
mpi_result $? "compare: hands the options on"
test ! -s "$mpi_scratch/err"
mpi_result $? "compare: no progress where nobody watches"

compares --classes off
prints "all windows together" <<'END'
bytes a us b us c us a/b a/c
4 9.950 19.95 1.200 0.50 8.29
8 3.000 1.000 1.300 3.00 2.31
16 1.000 2.000 4.000 0.50 0.25
END
! grep -q -e --ping-pong "$mpi_scratch"/?.options
mpi_result $? "compare: no ping-pong without classes"

compares --tsv "$mpi_scratch/figures.tsv"
printf 'far\tb\t4\t40.000\t39.000\t41.000\t3\n' >"$mpi_scratch/expected"
test "$mpi_status" -eq 0 && grep -qxF -f "$mpi_scratch/expected" "$mpi_scratch/figures.tsv"
mpi_result $? "compare: writes median, minimum, maximum and windows of each class to a file"
compares --tsv "$mpi_scratch/no/figures.tsv"
test "$mpi_status" -ne 0 && test ! -e "$mpi_scratch/a.options"
mpi_result $? "compare: runs nothing if the file cannot be written"

compares -n 3 -- --shuffle
test "$mpi_status" -eq 0 && test "$(sort -u "$mpi_scratch"/?.options)" = "-m 4:1048576 --shuffle" &&
    grep -q '^# 3 ranks, shuffled' "$mpi_scratch/all"
mpi_result $? "compare: no classes with more than two ranks, nor back to back when shuffled"

for name in a b c; do
    printf '4 1.000 -\n4 2.000 -\n4 6.000 -\n' >"$mpi_scratch/$name.1"
    printf '4 5.000 -\n' >"$mpi_scratch/$name.2"
done
compares
prints "windows without a ping-pong" <<'END'
# cores of unknown distance; 12 windows, 4 to 4 for each figure
bytes a us b us c us a/b a/c
4 3.500 3.500 3.500 1.00 1.00
END
# The floor is 0.125 where it is near, 10 where it is far: four times less than b, or eight less than c.
printf '4 0.125 line 60.0\n4 10.000 two-shot,x,4k 240.0\n4 0.100 line 60.0\n' >"$mpi_scratch/floor.1"
printf '4 9.000 line 240.0\n4 11.000 line 240.0\n4 0.250 line 60.0\n' >"$mpi_scratch/floor.2"
printf '#!/bin/sh\nexec "%s" floor "$@"\n' "$mpi_scratch/canned" >"$mpi_scratch/floor"
chmod +x "$mpi_scratch/floor"
for name in a b c; do
    printf '4 2.000 60.0\n4 40.000 240.0\n4 40.000 240.0\n' >"$mpi_scratch/$name.1"
    printf '4 2.000 60.0\n4 2.000 60.0\n4 40.000 240.0\n' >"$mpi_scratch/$name.2"
done
sed -i 's/2\.000/0.500/' "$mpi_scratch/b.1" "$mpi_scratch/b.2"
sed -i 's/2\.000/1.000/' "$mpi_scratch/c.1" "$mpi_scratch/c.2"
compares --floor --floor-program "$mpi_scratch/floor" --best-of b --windows 3
prints "a floor, and the times that one configuration takes, in both classes" <<'END'
# cores near (below 90 ns): half a ping-pong takes 60 to 60 ns; 12 windows, 3 to 3 for each figure
bytes a us b us c us floor us a/b a/c best other/b b/floor
4 2.000 0.500 1.000 0.125 4.00 2.00 2.00 4.00
# cores far (from 90 ns): half a ping-pong takes 240 to 240 ns; 12 windows, 3 to 3 for each figure
bytes a us b us c us floor us a/b a/c best other/b b/floor
4 40.00 40.00 40.00 10.00 1.00 1.00 1.00 4.00
END
test "$(sort -u "$mpi_scratch"/*.options)" = \
    "-m 4:1048576 --back-to-back --windows 3 --ping-pong" &&
    test "$(wc -l <"$mpi_scratch/floor.options")" -eq 2
mpi_result $? "compare: hands the options on to the floor, once in each round"
compares --floor --floor-program "$mpi_scratch/floor" --tsv "$mpi_scratch/figures.tsv"
printf 'far\tfloor\t4\t10.000\t9.000\t11.000\t3\n' >"$mpi_scratch/expected"
grep -qxF -f "$mpi_scratch/expected" "$mpi_scratch/figures.tsv"
mpi_result $? "compare: writes the floor to a file, too"
printf '4 1.000 50.0\n4 2.000 200.0\n4 2.000 200.0\n' >"$mpi_scratch/b.1"
printf '4 2.000 50.0\n' >"$mpi_scratch/b.2"
compares
test "$mpi_status" -ne 0 && grep -q 'no size has 3 windows' "$mpi_scratch/err"
mpi_result $? "compare: says when no class has enough windows"

for name in a b c; do
    printf '4 1.000 60.0\n' >"$mpi_scratch/$name.1" # where nothing is refused a table would come out
    cp "$mpi_scratch/$name.1" "$mpi_scratch/$name.2"
done

# What canned noted are that many processes that compute, bound in turn to our cores.
burn() {
    python3 -c 'import os, sys
cores = sorted(os.sched_getaffinity(0))
print(*sorted(cores[i % len(cores)] for i in range(int(sys.argv[1]))), sep="\n")' "$1" \
        >"$mpi_scratch/expected"
    awk '$2 == "R" { print $3 }' "$mpi_scratch/noted" | sort -n | diff "$mpi_scratch/expected" - \
        >"$mpi_scratch/diff"
}

# They are gone. One that nobody waits for has no command line any more.
burnt() {
    test -z "$(while read -r process _; do
        tr -d '\0' 2>/dev/null <"/proc/$process/cmdline"
    done <"$mpi_scratch/noted" 2>/dev/null)"
}

# soon COMMAND: it succeeds now, or after a while
soon() {
    turns=0
    until "$@"; do
        [ $turns -lt "$mpi_patience_turns" ] || return 1
        sleep 0.5
        turns=$((turns + 1))
    done
}

CANNED_SECONDS=0
export CANNED_SECONDS
compares --burners 3 --tsv "$mpi_scratch/figures.tsv"
test "$mpi_status" -eq 0 && burn 3 && soon burnt
mpi_result $? "compare: processes that compute, on all cores, and none of them afterwards"
mpi_show "$mpi_scratch/diff"
grep -q '^# 2 ranks beside 3 processes that compute, back to back, median' "$mpi_scratch/all" &&
    grep -q '^#.*; 2 ranks beside 3 processes that compute, back to back' "$mpi_scratch/figures.tsv" &&
    test "$(sort -u "$mpi_scratch"/?.options)" = "-m 4:1048576 --back-to-back" &&
    ! grep -q '^# cores' "$mpi_scratch/all"
mpi_result $? "compare: says that others computed, and has no classes then"
mv "$mpi_scratch/c.2" "$mpi_scratch/kept"
compares --burners 2
test "$mpi_status" -ne 0 && grep -q 'ended with 1' "$mpi_scratch/err" && burn 2 && soon burnt
mpi_result $? "compare: leaves no process that computes when a run fails"
mv "$mpi_scratch/kept" "$mpi_scratch/c.2"
# KILL leaves compare no time for them, so they must end of their own accord.
CANNED_SECONDS=3
rm -f "$mpi_scratch/noted" "$mpi_scratch"/*.options
python3 "$compare" -r 1 --burners 2 --config "a=!$mpi_scratch/canned a" >/dev/null 2>&1 &
soon test -e "$mpi_scratch/noted"
kill -s KILL $!
! wait $! 2>/dev/null && burn 2 && soon burnt
mpi_result $? "compare: leaves no process that computes when it is killed"
unset CANNED_SECONDS

floor="--classes off --floor --floor-program $mpi_scratch/floor"
for wrong in "-n 3 $floor" "$floor -- --shuffle" "$floor --config floor=!true" "--floor --floor-program no_such_program" \
    "--burners 2 --classes on" "--best-of d" "--windows 0" "--config d=!"; do
    # shellcheck disable=SC2086
    compares $wrong
    test "$mpi_status" -ne 0 && test -s "$mpi_scratch/err" && test ! -s "$mpi_scratch/all" &&
        ! grep -q Traceback "$mpi_scratch/err"
    mpi_result $? "compare: refuses $(echo "$wrong" | sed "s:$mpi_scratch/::")"
done
printf '#!/bin/sh\nexit 3\n' >"$mpi_scratch/canned"
compares
test "$mpi_status" -ne 0 && grep -q 'ended with 3' "$mpi_scratch/err"
mpi_result $? "compare: stops when a run fails"
if mpi_have_plugin; then
    python3 "$compare" -r 1 --sizes 4:4 --config "a=--mca coll_lowlat_nonesuch 1" -- -i 5 \
        >"$mpi_scratch/all" 2>"$mpi_scratch/err" </dev/null
    test $? -ne 0 && grep -q 'there is no parameter coll_lowlat_nonesuch' "$mpi_scratch/err"
    mpi_result $? "compare: measures nothing with a parameter that there is not"
    mpi_show "$mpi_scratch/err"
else
    mpi_skip "compare: a parameter that there is not" "needs the components"
fi
mpi_done
