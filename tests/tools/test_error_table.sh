#!/bin/sh
# bench/error_table finds every row of a small measurement near the theory, and says so when one is
# not; bench/plot_quant joins errors and times in the right way.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
bench=$(cd "${top_srcdir:-../..}/tests/bench" && pwd)
. "${top_srcdir:-../..}/tests/lib/tap.sh"

# refuses WORD COMMAND...: exit status 1, and a word of the reason on stderr
refuses() {
    word=$1
    shift
    "$@" >"$scratch/out" 2>"$scratch/err"
    [ $? -eq 1 ] && grep -q -e "$word" "$scratch/err"
}

# succeeds COMMAND...
succeeds() {
    "$@" >"$scratch/out" 2>"$scratch/err"
}

# line TEXT: the last command printed a line with exactly this, blanks squeezed.
line() {
    tr -s ' \t' ' ' <"$scratch/out" | grep -qF -e "$1"
}

if ! [ -x ./bench_error ] || ! command -v python3 >/dev/null; then
    skip_all "needs bench_error, which needs cmocka, and python3"
fi

has_all_rows() {
    succeeds "$bench/error_table" --elements 65536 --other-elements 65536 --markdown \
        --tsv "$scratch/error.tsv" &&
        [ "$(grep -c . "$scratch/error.tsv")" -eq $((2 + 5 * 3 * 16 + 5 + 2)) ]
}
ok_if "all rows of a small measurement are near the theory" has_all_rows
ok_if "an unquantized ring is the bf16 ring" \
    grep -q '^full_loop	fp32	none	65536	4.0010	-	[0-9.]*e-14	0.000000e+00$' "$scratch/error.tsv"
by_minishards() {
    succeeds "$bench/error_table" --elements 262144 --ranks 4 --minishards 1,7,32 \
        --tsv "$scratch/minishards.tsv" && [ "$(grep -c . "$scratch/minishards.tsv")" -eq $((2 + 3 * 5 * 3)) ] &&
        line "7 256 full_loop 1.0" && line "32 32 direct 1.0"
}
ok_if "every number of minishards has the error of its blocks" by_minishards
of_data() {
    succeeds "$bench/error_table" --data --elements 65536 --tsv "$scratch/data.tsv" &&
        awk -F'\t' '$1 == "int8" && $2 == 64 { found = 1; exit !($5 > 0 && $5 < 1e-4 && $6 > 1e-2) }
                   END { if (!found) exit 1 }' "$scratch/data.tsv"
}
ok_if "small tensors beside large ones are near these if they begin at blocks" of_data
of_limits() {
    succeeds "$bench/error_table" --limits --elements 16384 --tsv "$scratch/limits.tsv" &&
        awk -F'\t' '$1 == "0.1" { found = $2 > 4 && $2 < 8 } $1 == "0.0001" { found = found && $2 > 14 && $2 < 24 }
                   END { exit !found }' "$scratch/limits.tsv"
}
ok_if "smaller limits take more bits" of_limits
ok_if "refuses no minishards" refuses "must be" ./bench_error -m 0 int8
ok_if "refuses one rank" refuses "must be" ./bench_error -n 1 int8
ok_if "refuses no elements" refuses "must be" ./bench_error -e 0 int8
ok_if "refuses an unknown format" refuses int3 ./bench_error int3
ok_if "tells when there is no program" refuses "; make" "$bench/error_table" --bench "$scratch/none"

# canned THEORY EXACT BASELINE: a bench_error that measures just this.
canned() {
    cat >"$scratch/canned" <<END
#!/bin/sh
[ \$# -gt 0 ] || { echo int8; exit; }
printf 'algorithm\tformat\tstages\telements\tbytes\ttheory\texact\tbaseline\n'
printf 'full_loop\tint8\tboth\t64\t1.0322\t$1\t$2\t$3\n'
END
    chmod +x "$scratch/canned"
}
table="$bench/error_table --bench $scratch/canned"
canned 1.000e-03 1.049e-03 1.449e-03
ok_if "4.9 % from theory is near" succeeds $table
ok_if "4.9 % is not within 4" refuses "full_loop/int8/both: 1.049 times" $table --tolerance 4
canned 1.000e-03 0.949e-03 1.400e-03
ok_if "5.1 % below is not near" refuses "full_loop/int8/both: 0.949 times" $table
canned 1.000e-03 nan 1.400e-03
ok_if "what is no number is not near" refuses "full_loop/int8/both: nan times" $table
canned 1.000e-03 1.000e-03 1.451e-03
ok_if "finds what the paper does not print" refuses "the paper has 0.0014" $table
ok_if "knows the paper for 8 ranks only" succeeds $table --ranks 4

# ---- plot_quant ----

# 64 bytes: the fastest exact one is fp32 (40), not tuned; 128: tuned.
cat >"$scratch/times.tsv" <<END
# some machine; 8 ranks, back to back
cores	configuration	bytes	median_us	min_us	max_us	windows
all	tuned	64	50.000	1.000	99.000	3
all	tuned	128	60.000	1.000	99.000	3
all	full_loop/fp32/none	64	40.000	1.000	99.000	3
all	full_loop/fp32/none	128	90.000	1.000	99.000	3
all	full_loop/int8/both	64	10.000	1.000	99.000	3
all	full_loop/int8/both	128	40.000	1.000	99.000	3
END
cat >"$scratch/error.tsv" <<END
# 8 ranks
algorithm	format	stages	elements	bytes	theory	exact	baseline
full_loop	int8	both	64	1.0322	1.266e-03	1.277e-03	1.403e-03
direct	int8	both	64	1.0322	5.275e-04	5.318e-04	6.602e-04
END
plot="$bench/plot_quant --no-pictures --error $scratch/error.tsv --times $scratch/times.tsv"
speeds() {
    succeeds $plot && [ "$(grep -c . "$scratch/out")" -eq 7 ] &&
        line "64 full_loop/int8/both 4.00 1.277e-03" && line "128 full_loop/int8/both 1.50 1.277e-03" &&
        line "64 tuned 0.80 -" && line "128 full_loop/fp32/none 0.67 -"
}
ok_if "compares with the fastest exact allreduce of each size" speeds
sed -i 's/^# 8/# 4/' "$scratch/error.tsv"
ok_if "refuses errors of other ranks" refuses "4 ranks in" $plot
sed -i 's/^# 4/# 8/' "$scratch/error.tsv"
sed -i '/tuned\|fp32/d' "$scratch/times.tsv"
ok_if "refuses times without an exact one" refuses "no exact" $plot
echo "too few" >>"$scratch/times.tsv"
ok_if "refuses what is no table" refuses "not a table" $plot
tap_done
