#!/bin/sh
# Trials of coll_quant, inside one node: trials.c has the promises.  In small messages over a transport
# that asks before each it never pays, and components for tests find that it always does; what comes
# out otherwise is up to the machine, and then only has to be right and told.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "${srcdir:-$(dirname "$0")}/mpi_run.sh"
mpi_setup
mpi_have_plugin || mpi_skip_all "needs the components"

faster="passed  the component below is faster here .* [1-9]"
told="--mca coll_quant_enable 1 --mca coll_quant_report 1 --mca coll_quant_verbose 10"
on="$told --mca coll_quant_trial_ms 100"
never="--mca pml ob1 --mca btl self,tcp --mca btl_tcp_eager_limit 128 --mca btl_tcp_rndv_eager_limit 128 \
    --mca coll_quant_segment_bytes 2k --mca coll_quant_block 8"
all="$on --mca coll_quant_collectives all"
stages="reduce_scatter_block allgather"

# call_of COLLECTIVE: as MPI calls it
call_of() {
    case $1 in
    allreduce) echo MPI_Allreduce ;;
    reduce_scatter_block) echo MPI_Reduce_scatter_block ;;
    allgather) echo MPI_Allgather ;;
    esac
}

# tried LABEL LENGTHS [COLLECTIVE]: so many lengths were tried, each once, and the line has both times
tried() {
    mpi_call=$(call_of "${3:-allreduce}")
    mpi_says "$1: $2 lengths are tried, each once" \
        "tried $mpi_call of [0-9]* bytes of floats: the component below [0-9]* us, quantized [0-9]* us, [1-9][0-9]* rounds in " "$2"
    mpi_says "$1: no length twice" "tried $mpi_call of 1048576 bytes" 1
}

# tells LABEL COLLECTIVE CALLS [served|passed]: the report has so many calls of it, served or passed
# down, or only so
tells() {
    cat "$mpi_scratch/out" "$mpi_scratch/said" | awk -v call="$(call_of "$2")" -v wanted="$3" -v how="$4" '
        / calls of rank 0/ { mine = $0 ~ call " calls" }
        mine && $1 == "served" && how != "passed" { calls += $3 }
        mine && /passed  the component below is faster here/ && how != "served" { calls += $(NF - 1) }
        END { exit calls != wanted }'
    mpi_result $? "$1: the report tells what became of each call"
}

for ranks in 2 3 4; do
    mpi_start "$ranks" 120 "$on" trials
    mpi_judge "np=$ranks"
    tried "np=$ranks" 5
    mpi_says "np=$ranks: there is one report" "MPI_Allreduce calls of rank 0" 1
    tells "np=$ranks" allreduce 40 # two rounds of 10 on two communicators

    mpi_start "$ranks" 120 "$on $never" trials -w exact
    mpi_judge "np=$ranks never"
    tried "np=$ranks never" 5
    mpi_says "np=$ranks never: the report tells the reason" "$faster" 1
    ! grep -q 'served  .* [1-9][0-9]* *[1-9][0-9]*$' "$mpi_scratch/said"
    mpi_result $? "np=$ranks never: no call is served"

    mpi_for_tests mpi_start "$ranks" 120 "$on" trials -w quantized
    mpi_judge "np=$ranks always"
    tried "np=$ranks always" 5
    mpi_serves "np=$ranks always" 1
    mpi_says "np=$ranks always: nothing is passed down for it" "$faster" 0
done

# Without trials, over tuned, with verified calls and a time limit, hardly any time.
mpi_start 3 60 "$told $never --mca coll_quant_trial_ms 0" trials -w quantized -l 1000000
mpi_judge "np=3 no trials"
mpi_says "np=3 no trials: nothing is tried" " tried " 0
mpi_start 3 60 "$on --mca coll ^lowlat" trials -l 1000000
mpi_judge "np=3 over tuned"
tried "np=3 over tuned" 3
mpi_for_tests mpi_start 3 60 "$on --mca coll_quant_verify_every 4 --mca coll_quant_timeout 5" \
    trials -w quantized -l 300000
mpi_judge "np=3 verified"
mpi_says "np=3 verified: trials are not counted" "verified 6 calls" 1 # 24 on two communicators
mpi_start 3 60 "$told $never --mca coll_quant_trial_ms 1" trials -w exact -l 300000
mpi_judge "np=3 one millisecond"

for ranks in 2 3; do
    mpi_start "$ranks" 60 "$on" trials -t
    mpi_judge "np=$ranks threads"
    grep -q "tried MPI_Allreduce of 524288 bytes" "$mpi_scratch/said" # one may be done before another one begins
    mpi_result $? "np=$ranks threads: communicators try"
done

# The stages: each collective for itself.
for ranks in 2 3 4; do
    # All lengths once, with ranks that divide none.
    largest=300000 lengths=3 calls=24
    [ "$ranks" -ne 3 ] || largest=5242880 lengths=5 calls=40
    mpi_start "$ranks" 120 "$all" \
        trials -c reduce_scatter_block -c allgather -c allreduce -l $largest
    mpi_judge "np=$ranks each"
    for collective in allreduce $stages; do
        tried "np=$ranks each: $collective" $lengths "$collective"
        tells "np=$ranks each: $collective" "$collective" $calls
    done
    for collective in $stages; do
        label="np=$ranks $collective"
        mpi_start "$ranks" 60 "$all $never" trials -c "$collective" -w exact -l 300000
        mpi_judge "$label never"
        tried "$label never" 3 "$collective"
        tells "$label never" "$collective" 24 passed
        mpi_for_tests mpi_start "$ranks" 60 "$all" trials -c "$collective" -w quantized -l 300000
        mpi_judge "$label always"
        tried "$label always" 3 "$collective"
        tells "$label always" "$collective" 24 served
        mpi_says "$label always: nothing else is tried" " tried " 3
    done
done
# Derived types, in place and not, all lengths; and with a time limit and verified calls.
mpi_for_tests mpi_start 3 120 "$all" quant_stages -a 1
mpi_judge "np=3 always, all stages"
mpi_start 3 120 "$all $never" quant_stages -r 0 -g 0
mpi_judge "np=3 never, all stages"
for collective in $stages; do
    mpi_for_tests mpi_start 3 60 "$all --mca coll_quant_verify_every 4 --mca coll_quant_timeout 5" \
        trials -c "$collective" -w quantized -l 300000
    mpi_judge "np=3 $collective verified"
    mpi_says "np=3 $collective verified: trials are not counted" "verified 6 calls" 1
done

for collective in allreduce $stages; do
    label="np=2 $collective, no memory on one rank"
    mpi_for_tests mpi_start 2 60 "$all" trials -c "$collective" -m
    mpi_judge "$label"
    mpi_says "$label: it is said" \
        "$(call_of "$collective") of 16777216 bytes of floats not tried: some rank has no memory" 1
done
mpi_done
