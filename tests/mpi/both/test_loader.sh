#!/bin/sh
# Finding, choosing and configuring the components: parameters are listed, --mca
# coll works in all its forms, bad values and names are named once and change nothing, the
# report appears when asked for, and by default nothing is printed.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup components

check_listed() {
    mpi_parameters "$1" >"$mpi_scratch/parameters"
    for parameter in $2; do
        grep -q ":coll_$1_$parameter:value:" "$mpi_scratch/parameters" &&
            grep -q ":coll_$1_$parameter:help:..*" "$mpi_scratch/parameters"
        mpi_result $? "ompi_info lists coll_$1_$parameter with help"
    done
    ompi_info --param coll "$1" --level 9 >"$mpi_scratch/printed" 2>&1
    mpi_result $? "ompi_info prints all of coll_$1"
}

check_report() {
    mpi_judge "with a report" mpi_start 2 60 "--mca coll_arc_verbose 2" fallback
    mpi_serves 1
    mpi_counts "passed  no algorithm here is for messages"
    mpi_result $? "the report counts calls passed down for their length"
    mpi_judge "with a report of coll_quant" \
        mpi_start 2 60 "--mca coll_arc_verbose 2 --mca coll_quant_enable 1" quantized -n 1048576
    mpi_serves 1 quant
    mpi_counts "passed  message is smaller than min_bytes" coll_quant
    mpi_result $? "the report counts calls passed down by coll_quant: smaller than min_bytes"
}

# check_bad_value PARAMETER VALUE [file]
check_bad_value() {
    if [ $# -eq 2 ]; then
        mpi_start 2 60 "--mca $1 $2" stress -n 500
    else
        echo "$1 = $2" >"$mpi_scratch/$3"
        OMPI_MCA_mca_base_param_files=$mpi_scratch/$3 && export OMPI_MCA_mca_base_param_files
        mpi_start 2 60 "" stress -n 500
        unset OMPI_MCA_mca_base_param_files
    fi
    mpi_result "$mpi_status" "$1 = $2: the program runs"
    grep -q '^ok 1' "$mpi_scratch/out"
    mpi_result $? "$1 = $2: right answers"
    test "$(grep -c "$1" "$mpi_scratch/err")" -eq 1
    mpi_result $? "$1 = $2: one line on stderr names it"
    mpi_show "$mpi_scratch/err"
}

# check_silent LABEL "MCA ARGUMENTS"
check_silent() {
    mpi_run "$1" 3 60 "$2" stress -n 500
    test ! -s "$mpi_scratch/err"
    mpi_result $? "$1: nothing on stderr"
    mpi_show "$mpi_scratch/err"
}

check_listed arc "installed_everywhere setup_calls ranks_per_node timeout explore_percent max_memory verbose"
check_listed lowlat "priority rules algorithm"
check_listed quant "priority enable collectives min_bytes segment_bytes block format algorithm"

check_silent "default" ""
check_silent "--mca coll ^quant" "--mca coll ^quant"
check_silent "--mca coll ^lowlat" "--mca coll ^lowlat"
check_silent "both and lower ones by name" "--mca coll lowlat,quant,tuned,basic,libnbc,self"
check_silent "lowlat and lower ones by name" "--mca coll lowlat,basic,libnbc,self"
check_silent "priorities exchanged" "--mca coll_lowlat_priority 90 --mca coll_quant_priority 20"

check_silent "lowlat switched off" "--mca coll_lowlat_priority -1 --mca coll_quant_priority -1"
mpi_judge "coll_lowlat_priority -1" \
    mpi_start 2 60 "--mca coll_lowlat_priority -1 --mca coll_arc_verbose 2" stress -n 500
! mpi_counts served
mpi_result $? "coll_lowlat_priority -1: no call is served"

for release in 4.1.99 5.0.99 6.0.99rc2; do
    mpi_judge "release $release" mpi_start 2 60 "--mca coll_arc_verbose 2 -x ARC_TEST_RELEASE=$release" other_release
    ! grep -q 'MPI_Allreduce calls of rank 0' "$mpi_scratch/said"
    mpi_result $? "release $release: the components are not used"
    for component in lowlat quant; do
        mpi_says "one line of coll_$component says so" \
            "coll_$component: not used: it was built for another release of Open MPI" 1
    done
done
mpi_run "another release, verbose 0" 2 60 "--mca coll_arc_verbose 0" other_release

check_report
for value in abc -5 1e6 9999999999999999999999; do
    check_bad_value coll_quant_segment_bytes "$value"
done
check_bad_value coll_lowlat_algorithm nonesuch
check_bad_value coll_lowlat_priority 1000
check_bad_value coll_quant_format nonesuch
check_bad_value coll_quant_min_bytes 1e6
for bad in "coll_lowlat_priority x40" "coll_quant_segment_bytes 70000x" "coll_quant_format nonesuch"; do
    # shellcheck disable=SC2086
    check_bad_value $bad file
done
check_bad_value coll_quant_nonesuch 1
check_bad_value coll_lowlat_verbose 2
check_silent "a parameter that there is not, verbose 0" "--mca coll_quant_nonesuch 1 --mca coll_arc_verbose 0"

# Persistent requests that are never freed, and so their communicators, count all the same.  Half of
# these starts are on MPI_COMM_WORLD, which goes in any case.
mpi_judge "requests that are never freed" mpi_start 2 60 "--mca coll_arc_verbose 2 -x ARC_DEFERRED=kept" explored -n 100
awk '/coll_lowlat: .* calls of rank 0/ { mine = /MPI_Allreduce_init calls/ }
    mine && /served/ { calls += $(NF - 1) }
    END { exit calls < 800 }' "$mpi_scratch/said"
mpi_result $? "requests that are never freed: the report counts their starts"
mpi_show "$mpi_scratch/said"
mpi_done
