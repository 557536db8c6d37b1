#!/bin/sh
# The predictions as a reader gets them: print_costs, and bench/predict on top of it.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "${top_srcdir:-../..}/tests/lib/tap.sh"
root=${top_srcdir:-../..}
predict=$root/tests/bench/predict
numbers="alpha_intra=1 beta_intra=0.001 alpha_inter=10 beta_inter=0.01 eta=1.5 gamma=0.0001
    ranks_per_node=2 nodes=4"
model=$scratch/model

# print_costs has exactly this line among its own
prints() {
    line=$1
    shift
    ./print_costs "$@" | grep -qxF "$line"
}

# exit status 1, nothing on stdout, and a word of the reason on stderr
refuses() {
    word=$1
    shift
    said=$("$@" 2>&1 >/dev/null)
    [ $? -eq 1 ] && [ -z "$("$@" 2>/dev/null)" ] && case $said in *"$word"*) true ;; *) false ;; esac
}

predicts() {
    line=$1
    shift
    python3 "$predict" --print-costs ./print_costs --nodes 4 --sizes 8000 "$@" | grep -qF "$line"
}

# The figures are those of tests/unit/test_cost.c, worked out by hand.
ok_if "prints a cost" prints "cost 4 8000 hierarchical 1.512000000e+02" $numbers bytes=16,8000
ok_if "prints a crossover" prints "crossover 4 doubling ring 8192" \
    alpha_intra=0 beta_intra=0 alpha_inter=8 beta_inter=0.0078125 eta=1 gamma=0 \
    ranks_per_node=1 nodes=4 bytes=1
ok_if "refuses a missing number" refuses bytes ./print_costs $numbers
ok_if "refuses a number given twice" refuses nodes ./print_costs $numbers nodes=3 bytes=1
ok_if "refuses a negative size" refuses bytes ./print_costs $numbers bytes=8,-1
ok_if "refuses no nodes" refuses nodes ./print_costs ${numbers% *} nodes=0 bytes=1
ok_if "refuses an unknown name" refuses unknown ./print_costs $numbers bytes=1 colour=1
if ! command -v python3 >/dev/null; then
    skip "bench/predict needs python3"
    tap_done
    exit
fi
cat >"$model" <<'END'
# seconds, and seconds per byte
alpha_intra 1e-6
beta_intra  1e-9    # a comment
alpha_inter 1e-5
beta_inter  1e-8
eta 1.5
gamma 1e-10
ranks_per_node 2
END
ok_if "reads a model file" \
    predicts "|  8000 |     4 | 280.7 | 163.6 |    191.4 |        151.2 |" --markdown --model "$model"
ok_if "options go before the file" predicts "alpha_inter 2e-5" --model "$model" --alpha-inter 2e-5
ok_if "says that nothing is measured" predicts "Predicted, not measured (numbers of the user)" \
    --model "$model"
echo "alpha_outer 1" >>"$model"
ok_if "refuses an unknown line in a file" refuses alpha_outer python3 "$predict" \
    --print-costs ./print_costs --model "$model"
tap_done
