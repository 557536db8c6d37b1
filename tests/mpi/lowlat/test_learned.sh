#!/bin/sh
# What was learned between nodes, kept in a file: the second run decides as the first one did and explores
# nothing; a wrong line is named, and a file of another machine, of other ranks, or none does no harm.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup
mpi_have_plugin || mpi_skip_all "plain Open MPI"

nodes="--mca coll_lowlat_ranks_per_node 2 --mca coll_lowlat_verbose 10"
file=$mpi_scratch/learned

# choices FILE: what it says is to be used
choices() {
    sed -n 's/^\(nodes=.* use=[a-z_]*\).*/\1/p' "$1"
}

mpi_for_tests mpi_start 4 60 "$nodes --mca coll_lowlat_learn_file $file" explored -n 100
mpi_judge "np=4 learns"
test "$(choices "$file" | grep -c '^nodes=2 ranks=2 over=messages bytes=[0-9]* use=')" -eq 4
mpi_result $? "np=4 learns: the file has a line for each of the four lengths"
mpi_show "$file"

mpi_for_tests mpi_start 4 60 "$nodes --mca coll_lowlat_report 1" explored -n 100
mpi_judge "np=4 reports"
mpi_says "np=4 reports: what was learned, for each of the four lengths" "^nodes=2 ranks=2 .* use=" 4

mpi_for_tests mpi_start 4 60 "$nodes --mca coll_lowlat_learned_file $file \
    --mca coll_lowlat_learn_file $file.again" explored -n 100
mpi_judge "np=4 has learned"
mpi_says "np=4 has learned: nothing is explored" " bytes, after " 0
choices "$file" >"$mpi_scratch/first"
choices "$file.again" | cmp - "$mpi_scratch/first"
mpi_result $? "np=4 has learned: the next file says the same"

grep -q '^releases=ARC [0-9.]*, Open MPI [0-9.]*$' "$file"
mpi_result $? "np=4 learns: the file says of which releases it is"
mpi_says "np=4 has learned: nothing to warn of" "it is used all the same" 0

sed -e 's/^machine=.*/machine=the moon/' -e '/bytes=8 /s/use=[a-z_]*/use=pigeons/' "$file" >"$file.wrong"
mpi_start 4 60 "$nodes --mca coll_lowlat_learned_file $file.wrong" explored -n 10
mpi_judge "np=4 a wrong line and another machine"
mpi_says "np=4 a wrong line and another machine: the line is named, once" \
    "learned.wrong, line [0-9]*: no such algorithm; the line is not used" 1
mpi_says "np=4 a wrong line and another machine: the machine is named, once" \
    'is of another machine, "the moon"' 1
mpi_says "np=4 a wrong line and another machine: the releases are the same" "is of other releases" 0

sed 's/^\(releases=.*Open MPI \).*/\11.2.3/' "$file" >"$file.other"
mpi_start 4 60 "$nodes --mca coll_lowlat_learned_file $file.other" explored -n 10
mpi_judge "np=4 another Open MPI"
mpi_says "np=4 another Open MPI: the releases are named, once" 'is of other releases, "ARC .*, Open MPI 1.2.3"' 1

mpi_start 4 60 "$nodes --mca coll_lowlat_learned_file $mpi_scratch/none" explored -n 10
mpi_judge "np=4 no file"
mpi_says "np=4 no file: that is said" "learned_file .* cannot be read" 1
mpi_start 4 60 "$nodes --mca coll_lowlat_learn_file $mpi_scratch/none/none" explored -n 10
mpi_judge "np=4 no place for a file"
mpi_says "np=4 no place for a file: that is said" "learn_file .* cannot be written" 1

# What another job may be reading stays whole: the file is a new one, and a link to the old one keeps that.
echo "# old" >"$file.new"
ln "$file.new" "$file.kept"
ln -s "$file.linked" "$file.link"
for written in new link; do
    mpi_for_tests mpi_start 4 60 "$nodes --mca coll_lowlat_learn_file $file.$written" explored -n 100
    mpi_judge "np=4 writes the $written file"
    test "$(choices "$file.$written" | grep -c .)" -eq 4
    mpi_result $? "np=4 writes the $written file: it has a line for each of the four lengths"
done
test "$(cat "$file.kept")" = "# old" && ! ls "$file".new.* 2>/dev/null
mpi_result $? "np=4 writes the new file: the old one is not written to, and nothing else is left"
test -h "$file.link"
mpi_result $? "np=4 writes the link file: it is still a link"

# Debian 13's mpirun cannot start a command for each rank.
mpi_start_each 30 "" true true
if [ "$mpi_status" -eq 0 ]; then
    with="env OMPI_MCA_coll_lowlat_learned_file=$file $(mpi_find explored) -n 10"
    mpi_start_each 60 "--mca coll_lowlat_ranks_per_node 1" "$with" "$(mpi_find explored) -n 10"
    mpi_judge "a file on rank 0 only"
    mpi_says "a file on rank 0 only: it is not used, on two communicators" \
        "learned_file is not used: it does not say the same on all ranks" 2
else
    mpi_skip "a file on rank 0 only" "mpirun cannot start a command for each rank"
fi
mpi_done
