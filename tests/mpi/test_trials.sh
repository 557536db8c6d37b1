#!/bin/sh
# Trials of coll_quant, inside one node: trials.c has the promises.  The margin forces both ends; what
# comes out without is up to the machine, and then only has to be right and told.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "${srcdir:-$(dirname "$0")}/mpi_run.sh"
mpi_setup
mpi_have_plugin || mpi_skip_all "needs the components"

faster="passed  the component below is faster here .* [1-9]"
told="--mca coll_quant_enable 1 --mca coll_quant_report 1 --mca coll_quant_verbose 10"
on="$told --mca coll_quant_trial_ms 100"
never="--mca coll_quant_margin 10000"
always="--mca coll_quant_margin -100"

# tried LABEL LENGTHS: so many lengths were tried, each once, and the line has both times
tried() {
    mpi_says "$1: $2 lengths are tried, each once" \
        "tried [0-9]* bytes of floats: the component below [0-9]* us, quantized [0-9]* us, [1-9][0-9]* rounds in " "$2"
    mpi_says "$1: no length twice" "tried 1048576 bytes" 1
}

for ranks in 2 3 4; do
    mpi_start "$ranks" 120 "$on" trials
    mpi_judge "np=$ranks"
    tried "np=$ranks" 5
    mpi_says "np=$ranks: there is one report" "MPI_Allreduce calls of rank 0" 1
    cat "$mpi_scratch/out" "$mpi_scratch/said" | awk '
        $1 == "served" { calls += $3 }
        /passed  the component below is faster here/ { calls += $(NF - 1) }
        END { exit calls != 40 }' # two rounds of 10 on two communicators
    mpi_result $? "np=$ranks: the report tells what became of each call"

    mpi_start "$ranks" 120 "$on $never" trials -w exact
    mpi_judge "np=$ranks never"
    tried "np=$ranks never" 5
    mpi_says "np=$ranks never: the report tells the reason" "$faster" 1
    ! grep -q 'served  .* [1-9][0-9]* *[1-9][0-9]*$' "$mpi_scratch/said"
    mpi_result $? "np=$ranks never: no call is served"

    mpi_start "$ranks" 120 "$on $always" trials -w quantized
    mpi_judge "np=$ranks always"
    tried "np=$ranks always" 5
    mpi_serves "np=$ranks always" 1
    mpi_says "np=$ranks always: nothing is passed down for it" "$faster" 0
done

# Without trials, over tuned, with verified calls and a time limit, hardly any time.
mpi_start 3 60 "$told $never --mca coll_quant_trial_ms 0" trials -w quantized -l 1000000
mpi_judge "np=3 no trials"
mpi_says "np=3 no trials: nothing is tried" "tried [0-9]* bytes" 0
mpi_start 3 60 "$on --mca coll ^lowlat" trials -l 1000000
mpi_judge "np=3 over tuned"
tried "np=3 over tuned" 3
mpi_start 3 60 "$on $always --mca coll_quant_verify_every 4 --mca coll_quant_timeout 5" \
    trials -w quantized -l 300000
mpi_judge "np=3 verified"
mpi_says "np=3 verified: trials are not counted" "verified 6 calls" 1 # 24 on two communicators
mpi_start 3 60 "$told $never --mca coll_quant_trial_ms 1" trials -w exact -l 300000
mpi_judge "np=3 one millisecond"

for ranks in 2 3; do
    mpi_start "$ranks" 60 "$on" trials -t
    mpi_judge "np=$ranks threads"
    grep -q "tried 524288 bytes" "$mpi_scratch/said" # one may be done before another one begins
    mpi_result $? "np=$ranks threads: communicators try"
done

mpi_start 2 60 "$on $always" trials -m
mpi_judge "np=2 no memory on one rank"
mpi_says "np=2 no memory on one rank: it is said" "16777216 bytes of floats not tried: some rank has no memory" 1
mpi_done
