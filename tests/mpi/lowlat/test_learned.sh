#!/bin/sh
# Rules: what the user says is done and shown, and a wrong rule is named. What was learned between nodes is reported
# as rules. With these in a file a second run decides as the first one did and explores nothing; a file of another
# machine, of other ranks, or none does no harm.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup components

# served LABEL ALGORITHM CALLS: the report has so many calls (1: some, 0: none) for the algorithm.
served() {
    mpi_counts "served  $2 "
    test $? -eq $((1 - $3))
    mpi_result $? "$1: $2 serves $([ "$3" = 1 ] && echo some || echo no) calls"
}

says="--mca coll_arc_verbose 10"
mpi_judge "np=2 rules" \
    mpi_start 2 60 "$says --mca coll_lowlat_rules twoshot,half_butterfly:4-8,pigeons:0-8,nodes=2-:below" explored -n 200
served "np=2 rules" twoshot 1
served "np=2 rules" half_butterfly 1
served "np=2 rules" oneshot 0
mpi_says "verbose says what is in effect" "twoshot:0-4,half_butterfly:4-8,twoshot:8-inf; " 2
mpi_says "the report has them" "^half_butterfly:4-8\$" 1
mpi_says "a wrong one is named, with its place, once" \
    'rules, line 1, character 28: no such algorithm in "pigeons:0-8"; the rule is not used' 1
mpi_run "np=2 what is shown of rules" 2 60 "--mca coll_lowlat_rules butterfly:0-1k,below:1m-inf" \
    shown lowlat "butterfly:0-1k,"

nodes="--mca coll_arc_ranks_per_node 2 --mca coll_arc_explore_percent 1 --mca coll_arc_verbose 10"
file=$mpi_scratch/learned

mpi_judge "np=4 rules between nodes" \
    mpi_start 4 60 "$nodes --mca coll_lowlat_rules direct,nodes=2:doubling:0-3k,nodes=3-:below" explored -n 200
served "np=4 rules between nodes" doubling 1
served "np=4 rules between nodes" direct 1
mpi_says "nothing is explored" " bytes, after " 0
mpi_says "verbose says what is in effect" "begins with doubling:0-3071 (the user's),direct:3071-inf (the user's)" 2

# report FILE: the rules of the report, and where they were learned
report() {
    grep -E '^(# Learned on|ranks=)' "$mpi_scratch/said" >"$1"
}

# choices FILE: what it says is to be used
choices() {
    sed -n 's/^\(ranks=[0-9-]*:nodes=[^ ]*\).*/\1/p' "$1"
}

mpi_judge "np=4 learns" mpi_for_tests mpi_start 4 60 "$nodes" explored -n 100
report "$file"
test "$(choices "$file" | grep -c '^ranks=2:nodes=2:over=[a-z]*:calls=blocking:[a-z_]*:[0-9]*-[0-9]*$')" -eq 4
mpi_result $? "np=4 learns: the report has a rule for each of the four lengths"
mpi_says "and times" "^ranks=2:nodes=2:.* # .* us" 4
mpi_show "$file"

mpi_judge "np=4 learns on two communicators" mpi_for_tests mpi_start 4 60 "$nodes" explored -n 100 -t
mpi_says "and has times of all lengths" "^ranks=2:nodes=2:.* # .* us" 4

# Nonblocking calls learn for themselves, and do not try the component below.
slower="passed  the component below is faster"
mpi_judge "np=4 nonblocking" mpi_for_tests mpi_start 4 60 "$nodes" explored -n 60 -p 3
grep ' nonblocking calls: ' "$mpi_scratch/said" >"$mpi_scratch/pending"
grep -q 'calls: [a-z_]* [0-9.]* us, .* us' "$mpi_scratch/pending" && ! grep -q below "$mpi_scratch/pending"
mpi_result $? "np=4 nonblocking: ours are compared"
mpi_counts "served  halving" Iallreduce && mpi_counts "served  direct" Iallreduce &&
    ! mpi_counts "$slower" Iallreduce && mpi_counts "$slower" MPI_Allreduce
mpi_result $? "np=4 nonblocking: ours serve all, while blocking calls are passed down, too"
report "$file.both"
test "$(choices "$file.both" | grep -c ':calls=blocking:')" -eq 4 &&
    test "$(choices "$file.both" | grep -v ':below:' | grep -c ':calls=nonblocking:')" -eq 4
mpi_result $? "np=4 nonblocking: the report has rules for both"
sed '/calls=nonblocking/d; s/calls=blocking:[a-z_]*:/calls=blocking:below:/' "$file.both" >"$file.blocking"
mpi_judge "np=4 nonblocking, rules for blocking calls" mpi_for_tests mpi_start 4 60 \
    "$nodes --mca coll_lowlat_rules @$file.blocking" explored -n 60 -p 3
! mpi_counts "$slower" Iallreduce && mpi_counts "$slower" MPI_Allreduce
mpi_result $? "np=4 nonblocking, rules for blocking calls: these are passed down, and no others"
mpi_judge "np=4 nonblocking, a rule" mpi_for_tests mpi_start 4 60 \
    "$nodes --mca coll_lowlat_rules nodes=2-:below:3k-inf" explored -n 60 -p 3
mpi_counts "$slower" Iallreduce
mpi_result $? "np=4 nonblocking, a rule: they are passed down"

mpi_judge "np=4 has learned" mpi_for_tests mpi_start 4 60 "$nodes --mca coll_lowlat_rules @$file" explored -n 100
mpi_says "nothing is explored" " bytes, after " 0
report "$file.again"
choices "$file" >"$mpi_scratch/first"
choices "$file.again" | cmp - "$mpi_scratch/first"
mpi_result $? "np=4 has learned: the next report says the same"
mpi_says "nothing to warn of" "they are used all the same" 0

head -n 1 "$file" | grep -q '^# Learned on [0-9]* processors with [a-z0-9_]*, ARC [0-9.]*, Open MPI [0-9.]*$'
mpi_result $? "np=4 learns: the first line says where"

sed -e '1s/on .*/on the moon/' -e '3s/nodes=2:/nodes=2:cheese=1:/' "$file" >"$file.wrong"
echo "nodes=2-:halving:4k-8k" >>"$file.wrong"
mpi_judge "np=4 a wrong rule and another machine" \
    mpi_start 4 60 "$nodes --mca coll_lowlat_rules @$file.wrong" explored -n 10
mpi_says "the rule is named, once" \
    "coll_lowlat_rules, line 3, character 17: only ranks=, .* are known in \"ranks=2:.*; the rule is not used" 1
mpi_says "the machine is named, once" \
    "the rules of .*learned.wrong were learned elsewhere, on the moon; they are used all the same" 1
mpi_says "a rule by hand counts" "halving:6143-12287 (the user's)" 2

mpi_judge "np=4 no file" mpi_start 4 60 "$nodes --mca coll_lowlat_rules @$mpi_scratch/none" explored -n 10
mpi_says "that is said" "coll_lowlat_rules @.*none cannot be read" 1

seq 1000 >"$mpi_scratch/numbers"
mpi_judge "np=4 a file of something else" \
    mpi_start 4 60 "$nodes --mca coll_lowlat_rules @$mpi_scratch/numbers" explored -n 10
mpi_says "ten lines say so" "the rule is not used" 10
mkfifo "$mpi_scratch/fifo"
mpi_judge "np=4 a pipe that nobody writes" \
    mpi_start 4 60 "$nodes --mca coll_lowlat_rules @$mpi_scratch/fifo" explored -n 10
with="env OMPI_MCA_coll_lowlat_rules=@$mpi_scratch/mine $(mpi_find explored) -n 10"
cp "$file" "$mpi_scratch/mine"
mpi_judge "a file on rank 0 only" \
    mpi_start_each 60 "--mca coll_arc_ranks_per_node 1" "$with" "$(mpi_find explored) -n 10"
mpi_says "coll_lowlat is not used, which is said once" "parameters are not the same on all ranks" 1
# One name of a file, and what it says differs.
program=$(realpath "$(mpi_find explored)")
other="cd $mpi_scratch/other && exec env OMPI_MCA_coll_lowlat_rules=@mine $program -n 10"
mkdir "$mpi_scratch/other"
sed '$d' "$file" >"$mpi_scratch/other/mine"
mpi_judge "files that differ" mpi_start_each 60 "--mca coll_arc_ranks_per_node 1" \
    "sh -c 'cd $mpi_scratch && exec ${other#*exec }'" "sh -c '$other'"
mpi_says "coll_lowlat is not used, which is said once" "parameters are not the same on all ranks" 1
mpi_done
