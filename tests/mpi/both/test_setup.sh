#!/bin/sh
# Set-up that fails on one rank, or that ranks want differently: all of them must
# come to the same decision, and sums stay right whatever it is (agree.c).
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_alone "$@"
mpi_setup components
agree=$(mpi_find agree)
differs="parameters are not the same on all ranks; set"

# start_odd RANK "MCA ARGUMENTS" COMMAND: two ranks, of which RANK runs COMMAND instead of agree.
odd_seconds=60
start_odd() {
    case $1 in
    0) mpi_start_each $odd_seconds "$2" "$3" "$agree -c 0" ;;
    *) mpi_start_each $odd_seconds "$2" "$agree -c 0" "$3" ;;
    esac
}

check_parameters() {
    mpi_judge "lowlat: a limit on rank 0 only" \
        mpi_start_each 60 "" "env OMPI_MCA_coll_lowlat_rules=below:64-inf $agree -c 0" "$agree -c 0" \
        "$agree -c 0"
    mpi_says "one warning" "coll_lowlat: .*$differs" 1
    for rank in 0 1; do
        mpi_judge "lowlat: an algorithm on rank $rank only" \
            start_odd $rank "" "env OMPI_MCA_coll_lowlat_algorithm=twoshot $agree -c 0"
        mpi_says "one warning" "coll_lowlat: .*$differs" 1
        mpi_judge "quant: enabled on rank $rank only" start_odd $rank "" "env OMPI_MCA_coll_quant_enable=1 $agree -c 0"
        mpi_says "one warning" "coll_quant: .*$differs" 1
    done
    mpi_judge "quant: another format on each rank" mpi_start_each 60 "" "$agree -k int8" "$agree -k fp32"
    mpi_says "one warning" "coll_quant: .*$differs" 1
    mpi_judge "quant: off on one rank, on on the other" mpi_start_each 60 "" "$agree -k off" "$agree -k int8"
    mpi_says "one warning" "coll_quant: .*$differs" 1
    for value in 1e-5 int16; do
        mpi_judge "quant: on, and $value on rank 1" mpi_start_each 60 "" "$agree -k on" "$agree -k $value"
        mpi_says "one warning" "coll_quant: .*$differs" 1
    done
    for parameter in target_nmse=1e-4 verify_every=2 max_nmse=0.1 microshards=2 block=32 stages=ag \
        algorithm=direct; do
        mpi_judge "quant: $parameter on rank 1 only" \
            start_odd 1 "--mca coll_quant_enable 1" "env OMPI_MCA_coll_quant_$parameter $agree -c 0"
        mpi_says "one warning" "coll_quant: .*$differs" 1
    done
}

check_contradictions() {
    for algorithm in butterfly ring; do
        mpi_judge "lowlat: $algorithm is not reproducible" \
            mpi_start 4 60 "--mca coll_lowlat_reproducible 1 --mca coll_arc_ranks_per_node 2 \
            --mca coll_lowlat_algorithm $algorithm --mca coll_arc_verbose 2" "$agree"
        mpi_says "a warning" "coll_lowlat_algorithm $algorithm is ignored" 1
        mpi_says "doubling instead" \
            'served  doubling .* [1-9][0-9]* *[1-9][0-9]*$' 1
    done
}

# Settings that change nothing another rank could see may differ.
check_local_parameters() {
    mpi_judge "lowlat: a report on rank 0 only" mpi_start_each 60 "" "env OMPI_MCA_coll_arc_verbose=2 $agree" "$agree"
    mpi_serves 1
    mpi_judge "lowlat: other words and patience on rank 1" mpi_start_each 60 "--mca coll_arc_verbose 2" "$agree" \
        "env OMPI_MCA_coll_arc_verbose=0 OMPI_MCA_coll_arc_timeout=50 $agree"
    mpi_serves 1
    mpi_judge "quant: other words and patience on rank 1" \
        mpi_start_each 60 "--mca coll_arc_verbose 2 --mca coll_quant_enable 1 --mca coll_quant_format fp32" \
        "$agree" "env OMPI_MCA_coll_arc_verbose=0 OMPI_MCA_coll_arc_timeout=50 $agree"
    mpi_serves 1 quant
}

# Calls until a communicator is set up; agree makes 4 short ones in a round, of 80 on each communicator.
check_first_calls() {
    young="passed  the communicator has made few calls so far"
    for calls in 2 81; do
        mpi_judge "np=3 lowlat: set up at call $calls" \
            mpi_start 3 60 "--mca coll_arc_setup_calls $calls --mca coll_arc_verbose 2" \
            "$agree" -c 1 -r 20 -l 14
        mpi_says "those before are passed down" "$young  *$((2 * calls - 2)) " 1
    done
    mpi_judge "np=3 lowlat: set up at once" \
        mpi_start 3 60 "--mca coll_arc_setup_calls 0 --mca coll_arc_verbose 2" "$agree"
    mpi_says "nothing is passed down" "$young" 0
    mpi_judge "np=3 lowlat: reproducible" \
        mpi_start 3 60 "--mca coll_arc_setup_calls 81 --mca coll_lowlat_reproducible 1 \
        --mca coll_arc_verbose 2" "$agree" -c 1 -r 20 -l 14
    mpi_says "from the first call on" "$young" 0
    # The five counts, as floats and as doubles, count as 1, 1, 1, 20, 98 and 1, 1, 2, 40, 196 calls: in
    # this order the set-up comes with the last.
    alone="--mca coll ^quant --mca coll_arc_verbose 2"
    mpi_judge "lowlat: long calls count as several" \
        mpi_start 2 60 "$alone --mca coll_arc_setup_calls 263" "$agree" -c 0 -r 1
    mpi_says "said" "$young  *8 " 1
    mpi_judge "lowlat: long calls, one more" mpi_start 2 60 "$alone --mca coll_arc_setup_calls 264" "$agree" -c 0 -r 1
    mpi_says "said" "$young  *9 " 1
    mpi_judge "quant: set up at a later call" \
        mpi_start 2 60 "--mca coll_arc_setup_calls 600 --mca coll_arc_verbose 2 --mca coll_quant_enable 1 \
        --mca coll_quant_format fp32" "$agree" -c 0 -r 3
    mpi_says "those before are passed down" "$young  *1 " 1
    mpi_serves 1 quant
}

# One rank in other namespaces than the rest: kinds of memory that it cannot share.
check_namespaces() {
    # No single-copy transports: those of Open MPI expect one namespace of processes, too.
    plain="--mca pml ob1 --mca btl self,tcp --mca coll_arc_verbose 10"
    if unshare -i true 2>/dev/null; then
        for rank in 0 1; do
            mpi_judge "no common System V memory with rank $rank" start_odd $rank "$plain" "unshare -i $agree -c 0"
            mpi_serves 1
            mpi_says "a memfd is used" \
                'communicator 0 .*memfd memory' 1
        done
    else
        mpi_skip "no common System V memory" "no right to unshare -i"
    fi
    if unshare -ipf --mount-proc true 2>/dev/null; then
        for rank in 0 1; do
            mpi_judge "no common memory with rank $rank" \
                start_odd $rank "$plain" "unshare -ipf --mount-proc $agree -c 0"
            mpi_says "said once" \
                'not used: no memory that all ranks can map' 1
            mpi_serves 0
        done
    else
        mpi_skip "no common memory" "no right to unshare -ipf --mount-proc"
    fi
}

check_no_ucx() {
    if ldd "$agree" 2>/dev/null | grep -q 'libucp\.so'; then
        mpi_skip "UCX cannot be loaded" "Open MPI cannot be loaded without it"
        return
    fi
    mkdir "$mpi_scratch/bogus"
    echo "not a library" >"$mpi_scratch/bogus/libucp.so.0"
    bogus="env LD_LIBRARY_PATH=$mpi_scratch/bogus${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    puts="--mca coll_lowlat_nodes_transport puts --mca coll_arc_ranks_per_node 1"
    for rank in 0 1; do
        mpi_judge "UCX cannot be loaded on rank $rank" \
            start_odd $rank "--mca pml ob1 --mca coll_arc_verbose 2" "$bogus $agree -c 0"
        mpi_says "not a word, for nothing needs it" "UCX" 0
        mpi_serves 1
        mpi_judge "puts, UCX cannot be loaded on rank $rank" \
            start_odd $rank "--mca pml ob1 --mca coll_arc_verbose 2 $puts" "$bogus $agree -c 0"
        mpi_says "rank 0 says so of its own" "coll_lowlat: no puts between nodes: UCX .* cannot be loaded" $((1 - rank))
        mpi_says "messages are used" "messages are used between the nodes; on some rank: UCX is not there" 1
        mpi_serves 1
        mpi_judge "auto, UCX cannot be loaded on rank $rank" \
            start_odd $rank "--mca pml ob1 --mca coll_arc_verbose 2 --mca coll_lowlat_nodes_transport auto" "$bogus $agree -c 0"
        mpi_says "not a word, for messages will do" "UCX" 0
        mpi_serves 1
    done
}

# One rank on which a component is not there at all.
check_missing() {
    absent="on host $(hostname | cut -d . -f 1)[^ ]*, does not have it, or has not answered; install it"
    for rank in 0 1; do
        for how in coll=^lowlat,quant coll=tuned,basic,libnbc,self coll_lowlat_priority=-1; do
            mpi_judge "lowlat: $how on rank $rank only" \
                start_odd $rank "--mca coll_arc_verbose 2" "env OMPI_MCA_$how $agree -c 0"
            mpi_says "said once" "coll_lowlat: .*$absent" 1
            [ $rank -eq 0 ] || mpi_serves 0
        done
        mpi_judge "lowlat: another priority on rank $rank" \
            start_odd $rank "" "env OMPI_MCA_coll_lowlat_priority=5 $agree -c 0"
        mpi_says "said once" "coll_lowlat: .*$differs" 1
        mpi_judge "quant: off, and missing on rank $rank" start_odd $rank "" "env OMPI_MCA_coll=^quant $agree -c 0"
        mpi_says "not a word" "coll_quant: .*$absent" 0
        mpi_judge "quant: enabled, and missing on rank $rank" \
            start_odd $rank "--mca coll_quant_enable 1" "env OMPI_MCA_coll=^quant $agree -c 0"
        mpi_says "said once" "coll_quant: .*$absent" 1
    done
    shown="$(mpi_find shown) lacking"
    mpi_judge "quant: missing on rank 0, and asked for by key too late" \
        mpi_start_each 60 "--mca coll_arc_setup_calls 0" "env OMPI_MCA_coll=^quant $shown" "$shown"
    # A rank that is in fewer collectives would not be there when the others agree.
    for odd in collectives=all collectives=allgather; do
        mpi_judge "quant: $odd on rank 1 only" start_odd 1 "" "env OMPI_MCA_coll_quant_$odd $agree -c 0"
        mpi_says "not a word while it is off" "coll_quant: .*$differs" 0
    done
    mpi_judge "quant: enabled, other collectives on rank 1" \
        mpi_start_each 60 "--mca coll_quant_enable 1 --mca coll_quant_min_bytes 4" "$(mpi_find stacked)" \
        "env OMPI_MCA_coll_quant_collectives=all $(mpi_find stacked)"
    mpi_says "said once" "coll_quant: .*$differs" 1
    # Ranks do not wait in MPI_Init for what the others publish: they ask at the set-up.
    # (By the environment: mpirun of Open MPI 5 takes --mca pmix_... for a parameter of PMIx.)
    unknown="--mca coll_arc_verbose 2"
    OMPI_MCA_pmix_base_async_modex=1
    export OMPI_MCA_pmix_base_async_modex
    printf 'sleep $1\nshift\nexec "$@"\n' >"$mpi_scratch/late"
    late="sh $mpi_scratch/late"
    odd_seconds=20
    start_odd 1 "--mca coll ^lowlat,quant" "$late 1 $agree -c 0"
    if [ "$mpi_status" -eq 0 ]; then
        mpi_judge "missing on rank 1, asynchronous exchange" \
            mpi_patiently start_odd 1 "$unknown" "$late 1 env OMPI_MCA_coll=^lowlat,quant $agree -c 0"
        mpi_serves 0
        mpi_says "said once" "coll_lowlat: not used: " 1
        mpi_says "the calls have a row" "passed  a rank lacks .* [1-9][0-9]* *[1-9][0-9]*$" 1
        mpi_judge "asynchronous exchange" mpi_patiently start_odd 1 "$unknown" "$late 1 $agree -c 0"
        mpi_serves 1
        mpi_says "not a word about coll_quant, which nobody enabled" "coll_quant" 0
    else
        mpi_skip "a rank that comes late, asynchronous exchange" "this Open MPI hangs there without ARC, too"
    fi
    mpi_judge "asynchronous exchange, quant enabled" \
        mpi_patiently mpi_start 2 20 "--mca coll_arc_verbose 2 --mca coll_quant_enable 1 --mca coll_quant_format fp32" \
        "$agree" -c 0
    mpi_serves 1 quant
    mpi_judge "asynchronous exchange, installed everywhere" \
        mpi_patiently mpi_start 2 20 "$unknown --mca coll_arc_installed_everywhere 1" "$agree" -c 0
    mpi_serves 1
    odd_seconds=60
    unset OMPI_MCA_pmix_base_async_modex
    # Two of three ranks have it.
    for exchange in "" "--mca pmix_base_collect_data 0"; do
        for split in 0 2; do
            mpi_start_each 60 "--mca coll_arc_verbose 2 $exchange" "$agree -s $split" \
                "$agree -s $split" "env OMPI_MCA_coll=^lowlat $agree -s $split"
            label="lowlat: missing on rank 2, $split ranks for themselves $exchange"
            mpi_judge "$label"
            mpi_serves $((split / 2))
        done
    done
}

# The next patch release of the component on one rank: the last number of the version behind its name in the plugin.
check_version() {
    for name in lowlat quant; do
        [ $name = lowlat ] && mca="" || mca="--mca coll_quant_enable 1 --mca coll_quant_min_bytes 4"
        newer=$mpi_scratch/newer_$name
        mkdir "$newer"
        perl -0777 -pe "\$n += s/($name\\0{$((64 - ${#name}))}.{8})(.)/\$1.chr(1 + ord \$2)/es; END { \$? = 1 != \$n }" \
            "$mpi_stage/mca_coll_$name.so" >"$newer/mca_coll_$name.so"
        mpi_result $? "$name: the plugin has its version once"
        for rank in 0 1; do
            mpi_judge "$name: another version on rank $rank" start_odd $rank "--mca coll_arc_verbose 2 $mca" \
                "env OMPI_MCA_mca_base_component_path=$newer:$OMPI_MCA_mca_base_component_path $agree -c 0"
            mpi_says "said once" "coll_$name: not used: its version or the coll_$name parameters are not the same" 1
            mpi_serves 0 $name
        done
    done
}

# Of five ranks one lacks the component, or has other parameters: on one node, on nodes that are declared
# as such, and where ranks must ask each other's servers; with nonblocking and persistent calls, too.
check_odd_rank() {
    pending="$(mpi_find pending) -o 150"
    for async in "" 1; do
        [ -z "$async" ] || { OMPI_MCA_pmix_base_async_modex=1 && export OMPI_MCA_pmix_base_async_modex; }
        for nodes in "" "--mca coll_arc_ranks_per_node 2"; do
            for odd in coll=^lowlat coll_lowlat_rules=below:64-inf; do
                label="$odd on rank 3 of 5${nodes:+, declared nodes}${async:+, asynchronous exchange}"
                for program in "$agree -c 0" "$pending"; do
                    mpi_judge "$label, ${program##*/}" \
                        mpi_patiently mpi_start_each 10 "$nodes --mca coll_arc_verbose 2" "$program" "$program" \
                        "$program" "env OMPI_MCA_$odd $program" "$program"
                    mpi_serves 0
                    mpi_says "said once" "coll_lowlat: not used: " 1
                done
            done
        done
    done
    unset OMPI_MCA_pmix_base_async_modex
}

# A program names the components that a communicator may, or may not, have (preferred.c).
check_preference() {
    for preference in "^lowlat 0" "^lowlat,quant 0" "tuned,basic,libnbc,self 0" "^quant 1" "lowlat 1"; do
        mpi_judge "preference ${preference% *}" mpi_start 2 60 "--mca coll_arc_verbose 2" preferred "${preference% *}"
        mpi_serves "${preference#* }"
    done
}

mpi_note_shared_memory
for check in parameters missing version odd_rank contradictions local_parameters first_calls namespaces no_ucx preference; do
    mpi_beside check_$check
done
mpi_join
# Tries of mpi_patiently end at their time limit where Open MPI hangs.
mpi_nothing_left "$mpi_files_of_killed"
mpi_result $? "nothing of these jobs is left in shared memory"
mpi_done
