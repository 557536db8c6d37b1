# Shell functions for the MPI tests: run a TAP-printing program under mpirun, many
# times with different ranks and MCA arguments, as one TAP stream. To be sourced.
#
#   . "$(dirname "$0")/../lib/mpi_run.sh"
#   mpi_setup
#   mpi_run "np=4 lowlat" 4 60 "--mca coll_lowlat_algorithm auto" matrix -l 1000
#   mpi_done
#
# Every line of a program is renumbered and gets the label in front. An end by a
# signal or the time limit, a missing plan, and any word of our components on
# stderr are failures of their own.
#
# Environment:
#   ARC_STAGE     folder with arc.env, which makes Open MPI see the components;
#                 default: $top_builddir/stage. "none": plain Open MPI, to try the
#                 tests themselves.
#   ARC_TEST_BIN  folder with the test programs; default: the current one
#   ARC_PRELOAD   runtime of the sanitizers, where the components are built with them: every rank gets
#                 it, and what it reports about our code is a failure
#   ARC_MPI_TESTS no: skip everything
#   ARC_TEST_ALONE no: mpi_alone does nothing; yes: it has been called
#   MPI_OPTIONS   more arguments for every mpirun
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause

mpi_cases=0
mpi_lanes=2 # of mpi_beside; more would spin in each other's way on few processors
mpi_patience_turns=20 # of half a second, in mpi_nothing_left
# Open MPI's own files, which stay where its processes are killed before they have cleaned up, also without us.
mpi_files_of_killed='^vader_segment\|^sm_segment'
mpi_asides=0
mpi_joined=0
mpi_scratch=
mpi_bin=${ARC_TEST_BIN:-.}

# Ends the script when nothing can be run at all.
mpi_skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}

# mpi_alone "$@": before mpi_setup, in tests of what jobs leave in shared memory.  Begins the script again
# in an IPC and a mount namespace of its own, with an empty /dev/shm, where other jobs of the machine are
# not seen.  Where the kernel does not let this user do so the script goes on: mpi_nothing_left then leaves
# out what somebody uses.
mpi_alone() {
    [ -z "${ARC_TEST_ALONE-}" ] || return 0
    for mpi_user in "" "--user --map-root-user"; do
        # shellcheck disable=SC2086
        unshare $mpi_user --ipc --mount mount -t tmpfs shm /dev/shm 2>/dev/null || continue
        ARC_TEST_ALONE=yes
        export ARC_TEST_ALONE
        # shellcheck disable=SC2016,SC2086
        exec unshare $mpi_user --ipc --mount sh -c \
            'mount -t tmpfs -o mode=1777 shm /dev/shm && exec sh "$0" "$@"' "$0" "$@"
    done
}

# mpi_setup [components]: nothing can be tested without these
mpi_setup() {
    [ "${ARC_MPI_TESTS:-yes}" != no ] || mpi_skip_all "ARC_MPI_TESTS is no"
    command -v mpirun >/dev/null 2>&1 || mpi_skip_all "no mpirun"
    command -v timeout >/dev/null 2>&1 || mpi_skip_all "no timeout command"
    mpi_stage=${ARC_STAGE:-${top_builddir:-../..}/stage}
    mpi_path_before=${OMPI_MCA_mca_base_component_path-}
    OMPI_ALLOW_RUN_AS_ROOT=1
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
    # What Open MPI chooses where there is no fabric; it takes a third off MPI_Init not to open the others.
    OMPI_MCA_pml=${OMPI_MCA_pml-ob1}
    export OMPI_MCA_pml
    # hwloc's plugins look for graphics cards and PCI devices, which nothing here asks for, in each process.
    HWLOC_PLUGINS_PATH=${HWLOC_PLUGINS_PATH-$mpi_stage/none}
    export HWLOC_PLUGINS_PATH
    # What a test wants to have quantized must not depend on how fast this machine is today.
    OMPI_MCA_coll_arc_explore_percent=0
    export OMPI_MCA_coll_arc_explore_percent
    # Nor must short vectors be approximate where a test does not ask for it.
    OMPI_MCA_coll_quant_min_bytes=262144
    export OMPI_MCA_coll_quant_min_bytes
    # What a test wants to have served must not wait until the communicator has made some calls.
    OMPI_MCA_coll_arc_setup_calls=0
    export OMPI_MCA_coll_arc_setup_calls
    # Open MPI 5 prints a line for each rank and network over which that rank cannot reach another one:
    # our components' silence could not be seen, and tests compare what is printed.
    mpi_major=$(mpirun --version 2>/dev/null | sed -n 's/^mpirun (Open MPI) \([0-9]*\).*/\1/p')
    if [ "${mpi_major:=4}" -ge 5 ] && [ -z "${OMPI_MCA_btl_tcp_if_include-}" ]; then
        OMPI_MCA_btl_tcp_if_include=lo
        export OMPI_MCA_btl_tcp_if_include
    fi
    # So many seconds mpirun of Open MPI 4 waits, twice, until it kills the other ranks of a job that has failed.
    [ "$mpi_major" -ne 4 ] || export OMPI_MCA_odls_base_sigkill_timeout=0
    mpi_scratch=$(mktemp -d) || exit 1
    trap 'rm -rf "$mpi_scratch"' EXIT
    trap 'exit 1' HUP INT TERM
    if [ "$mpi_stage" = none ]; then
        [ "${1-}" != components ] || mpi_skip_all "needs the components"
        echo "# plain Open MPI, no components of ours"
        return
    fi
    if [ ! -f "$mpi_stage/arc.env" ]; then
        echo "Bail out! no $mpi_stage/arc.env"
        exit 1
    fi
    . "$mpi_stage/arc.env"
    # Without this, every test below would pass on components that do not load.
    mpi_known=$mpi_scratch/parameters_of_coll
    LD_PRELOAD=${ARC_PRELOAD-} ASAN_OPTIONS=detect_leaks=0 \
        ompi_info --param coll all --level 9 --parsable >"$mpi_known" 2>/dev/null
    for mpi_component in lowlat quant; do
        if ! mpi_parameters "$mpi_component" | grep -q "coll_${mpi_component}_priority"; then
            echo "Bail out! Open MPI does not load coll_$mpi_component from $mpi_stage"
            exit 1
        fi
    done
    # Nor would a loop over no algorithms fail.
    if [ -z "$(mpi_algorithms quant)" ] || [ -z "$(mpi_lowlat_algorithms node)" ] ||
        [ -z "$(mpi_lowlat_algorithms nodes)" ]; then
        echo "Bail out! no list of algorithms in the help of coll_lowlat_algorithm, or coll_quant_algorithm"
        exit 1
    fi
}

# True when the tests run with our components.
mpi_have_plugin() {
    [ "$mpi_stage" != none ]
}

# All parameters of a component, in the form made for programs, as they were in mpi_setup.
mpi_parameters() {
    grep "^mca:coll:$1:" "$mpi_known"
}

# The algorithms that parameter coll_<component>_algorithm, or _$2, accepts, one per line, without
# auto and none: from the end of its help, "Allowed: one of auto, a, b."
mpi_algorithms() {
    mpi_have_plugin || return 0
    mpi_parameters "$1" |
        sed -n "s/.*:coll_$1_${2:-algorithm}:help:.*Allowed: one of \([^.]*\).*/\1/p" |
        tr -d ' ' | tr ',' '\n' | grep -vx -e auto -e none
}

# Those of coll_lowlat for communicators on one node ($1 is node), or on several (nodes), which begin with doubling.
mpi_lowlat_algorithms() {
    case $1 in
    node) mpi_algorithms lowlat | sed '/^doubling$/,$d' ;;
    nodes) mpi_algorithms lowlat | sed -n '/^doubling$/,$p' ;;
    esac
}

# For components that are built with sanitizers: what mpirun must hand on to the ranks, in $mpi_watched.
# They write their reports to $mpi_scratch/sanitizer.<process>.  Names of functions would take half of the time of a
# short run, as Open MPI leaks in each: mpi_inspect looks them up when it has found something.
mpi_watch() {
    mpi_watched=
    [ -n "${ARC_PRELOAD-}" ] || return 0
    rm -f "$mpi_scratch"/sanitizer.*
    ASAN_OPTIONS=detect_leaks=1:symbolize=${mpi_symbolize:-0}:allocator_may_return_null=1
    ASAN_OPTIONS=$ASAN_OPTIONS:log_path=$mpi_scratch/sanitizer
    LSAN_OPTIONS=exitcode=0:print_suppressions=0:use_tls=0
    # Open MPI's patcher writes over functions that AddressSanitizer has replaced: 6.0 ends by SIGILL.
    OMPI_MCA_memory=^patcher
    # That of PMIx 5 may want an address that AddressSanitizer has taken.
    PMIX_MCA_gds=^shmem2
    export ASAN_OPTIONS LSAN_OPTIONS OMPI_MCA_memory PMIX_MCA_gds
    mpi_watched="-x LD_PRELOAD=$ARC_PRELOAD -x ASAN_OPTIONS -x LSAN_OPTIONS"
}

# A case of its own for what the sanitizers reported of the last run, however that ended.  Leaks count if
# a component of ours is on the way to the allocation: Open MPI, PMIx and UCX have leaks of their own.
mpi_inspect() {
    [ -n "${ARC_PRELOAD-}" ] || return 0
    for mpi_found in "$mpi_scratch"/sanitizer.*; do
        # That it does not know fibers; common/core/fiber.c tells it of each switch.
        [ ! -f "$mpi_found" ] || grep -v "WARNING: ASan doesn't fully support makecontext" "$mpi_found" |
            awk -v RS= -v ORS='\n\n' '
            /leak of .* allocated from/ && !/mca_coll_(lowlat|quant)\.so\+/ { next }
            /ERROR: LeakSanitizer: detected|SUMMARY: .* leaked in/ { next }
            { print }'
    done >"$mpi_scratch/faults"
    if [ -s "$mpi_scratch/faults" ]; then
        mpi_result 1 "the sanitizers find nothing in $mpi_program"
        mpi_show "$mpi_scratch/faults"
        grep -o '[^ (]*+0x[0-9a-f]*' "$mpi_scratch/faults" | sort -u | while IFS=+ read -r mpi_object mpi_at; do
            echo "#   +$mpi_at: $(addr2line -fpe "$mpi_object" "$mpi_at")"
        done
    fi
}

# mpi_find PROGRAM: its path
mpi_find() {
    for mpi_found in "$mpi_bin"/mpi/*/"$1" "$mpi_bin/$1"; do
        [ ! -x "$mpi_found" ] || break
    done
    echo "$mpi_found"
}

# mpi_start RANKS SECONDS "MCA ARGUMENTS" PROGRAM ...: leaves stdout in $mpi_scratch/out, stderr in
# $mpi_scratch/err, the exit status in $mpi_status.
mpi_start() {
    mpi_ranks=$1 mpi_seconds=$2 mpi_mca=$3 mpi_program=$4
    shift 4
    case $mpi_program in
    */*) ;;
    *) mpi_program=$(mpi_find "$mpi_program") ;;
    esac
    # Open MPI 6.0.0rc2 loses short messages of several threads: 6 of 16 runs without ARC hung, none of 20 with this.
    case $mpi_major.$mpi_program in
    6.*/threads) mpi_mca="$mpi_mca --mca btl_sm_fbox_max 0" ;;
    esac
    mpi_watch
    # Open MPI's session folder is this job's own: where two jobs make the user's at the same time, one fails.
    # shellcheck disable=SC2086
    TMPDIR=$mpi_scratch timeout -k 5 "$mpi_seconds" mpirun --oversubscribe -n "$mpi_ranks" $mpi_watched $MPI_OPTIONS \
        $mpi_mca "$mpi_program" "$@" >"$mpi_scratch/out" 2>"$mpi_scratch/err" </dev/null
    mpi_status=$?
    mpi_inspect
}

# mpi_start_each SECONDS "MCA ARGUMENTS" "COMMAND OF RANK 0" "COMMAND OF RANK 1" ...: the same with a
# command for each rank.  Parameters of one rank: env OMPI_MCA_x=y COMMAND; mpirun makes --mca of
# one command a matter of all.  A script chooses: Debian 13's mpirun crashes on several commands.
mpi_start_each() {
    mpi_seconds=$1 mpi_mca=$2 mpi_rank=0 mpi_program=each
    shift 2
    echo 'case $OMPI_COMM_WORLD_RANK in' >"$mpi_scratch/each"
    for mpi_command in "$@"; do
        # shellcheck disable=SC2086
        echo "$mpi_rank) exec" $mpi_command ";;" >>"$mpi_scratch/each"
        mpi_rank=$((mpi_rank + 1))
    done
    echo 'esac' >>"$mpi_scratch/each"
    mpi_watch
    # shellcheck disable=SC2086
    TMPDIR=$mpi_scratch timeout -k 5 "$mpi_seconds" mpirun --oversubscribe -n "$mpi_rank" $mpi_watched $MPI_OPTIONS \
        $mpi_mca sh "$mpi_scratch/each" >"$mpi_scratch/out" 2>"$mpi_scratch/err" </dev/null
    mpi_status=$?
    mpi_inspect
}

# mpi_patiently mpi_start ...: again while it fails, for four minutes at most.  For runs with pmix_base_async_modex,
# with which plain Open MPI 4.1.4 fails in MPI_Init ("PML add procs failed") where rank 0 starts a little later than
# the others, in four of eight runs of a script for each rank, and now and again waits for ever in the first
# MPI_Comm_dup; 5.0.7 does so in four of five runs of five ranks.
mpi_patiently() {
    mpi_patience_ends=$(($(date +%s) + 240))
    while :; do
        "$@"
        [ "$mpi_status" -ne 0 ] && [ "$(date +%s)" -lt $mpi_patience_ends ] || break
        echo "# a run with pmix_base_async_modex ended with status $mpi_status"
    done
}

# The same with an environment that does not know our components.
mpi_start_without_plugin() (
    if [ -n "$mpi_path_before" ]; then
        OMPI_MCA_mca_base_component_path=$mpi_path_before
        export OMPI_MCA_mca_base_component_path
    else
        unset OMPI_MCA_mca_base_component_path
    fi
    mpi_start "$@"
    exit "$mpi_status"
)

# Names in /dev/shm and System V segments of this user.
mpi_shared_memory() {
    find /dev/shm -mindepth 1 -maxdepth 1 -user "$(id -u)" 2>/dev/null
    awk -v user="$(id -u)" 'NR > 1 && $8 == user { print "sysv", $2 }' /proc/sysvipc/shm 2>/dev/null
}

# Those of them that a process has mapped, or whose maker lives; none where all are this test's.
mpi_shared_memory_in_use() {
    [ "${ARC_TEST_ALONE-}" != yes ] || return 0
    cat /proc/[0-9]*/maps 2>/dev/null | awk '$6 ~ "^/dev/shm/" { print $6 }'
    awk 'NR > 1 { print $2, $5, $7 }' /proc/sysvipc/shm 2>/dev/null |
        while read -r mpi_segment mpi_maker mpi_attached; do
            [ "$mpi_attached" -eq 0 ] && [ ! -d "/proc/$mpi_maker" ] || echo "sysv $mpi_segment"
        done
}

# To be called before the runs that mpi_nothing_left is about.
mpi_note_shared_memory() {
    mpi_shared_memory | sort >"$mpi_scratch/shm_before"
}

# mpi_nothing_left [PATTERN]: true if nothing new stays in shared memory but names in /dev/shm that match
# PATTERN.  Processes that were killed need a while to go; where the test is not alone, so do other jobs.
mpi_nothing_left() {
    mpi_turns=0
    while [ $mpi_turns -lt "$mpi_patience_turns" ]; do
        mpi_shared_memory | sort >"$mpi_scratch/shm_after"
        mpi_shared_memory_in_use | sort -u >"$mpi_scratch/shm_used"
        comm -13 "$mpi_scratch/shm_before" "$mpi_scratch/shm_after" |
            comm -23 - "$mpi_scratch/shm_used" | sed 's:^/dev/shm/::' |
            grep -v -e "${1:-^$}" >"$mpi_scratch/shm_new"
        [ -s "$mpi_scratch/shm_new" ] || return 0
        sleep 0.5
        mpi_turns=$((mpi_turns + 1))
    done
    mpi_show "$mpi_scratch/shm_new"
    return 1
}

# mpi_result STATUS DESCRIPTION: one case of the script's own, `ok` when STATUS is 0.
mpi_result() {
    mpi_cases=$((mpi_cases + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $mpi_cases - $2"
    else
        echo "not ok $mpi_cases - $2"
    fi
}

# mpi_skip DESCRIPTION REASON
mpi_skip() {
    mpi_cases=$((mpi_cases + 1))
    echo "ok $mpi_cases - $1 # SKIP $2"
}

# A file as TAP comments, shortened.
mpi_show() {
    head -n 25 "$1" | sed 's/^/#   /'
}

# mpi_renumber FILE PREFIX: pass the TAP of FILE on, with PREFIX before each description.
mpi_renumber() {
    awk -v prefix="$2" -v cases="$mpi_cases" -v counter="$mpi_scratch/cases" '
        /^(not )?ok [0-9]+/ {
            verdict = /^not/ ? "not ok" : "ok"
            sub(/^(not )?ok [0-9]+ *(- )?/, "")
            seen++
            printf "%s %d - %s%s\n", verdict, ++cases, prefix, $0
            next
        }
        /^1\.\.[0-9]+$/ { plan = substr($0, 4) + 0; next }
        { print (/^#/ ? "" : "# ") $0 }
        END {
            if (plan == 0 || plan != seen) {
                printf "not ok %d - %sprinted its whole plan\n", ++cases, prefix
            }
            print cases > counter
        }' "$1"
    mpi_cases=$(cat "$mpi_scratch/cases")
}

# Pass the TAP of the last run on under LABEL, and judge how the run ended.
mpi_report() {
    mpi_renumber "$mpi_scratch/out" "$1: "
    if [ "$mpi_status" -ne 0 ]; then
        mpi_result 1 "$1: ended with status $mpi_status (124: time limit of $mpi_seconds s)"
        mpi_show "$mpi_scratch/err"
    elif grep -qiE 'coll_?(lowlat|quant)|lowlat|coll:quant' "$mpi_scratch/err"; then
        mpi_result 1 "$1: our components print nothing"
        mpi_show "$mpi_scratch/err"
    fi
}

# mpi_judge LABEL [mpi_start ...]: run that, and judge the sums; what the run said goes to $mpi_scratch/said.
mpi_judge() {
    mpi_label=$1
    shift
    "$@"
    cp "$mpi_scratch/err" "$mpi_scratch/said"
    [ "$mpi_status" -ne 0 ] || : >"$mpi_scratch/err" # to speak is what these runs are asked for
    mpi_report "$mpi_label"
}

# mpi_says WHAT TEXT TIMES: the run that was judged last said TEXT on so many lines
mpi_says() {
    test "$(cat "$mpi_scratch/out" "$mpi_scratch/said" | grep -c -- "$2")" -eq "$3"
    mpi_said=$?
    mpi_result $mpi_said "$mpi_label: $1"
    [ $mpi_said -eq 0 ] || mpi_show "$mpi_scratch/said"
}

# mpi_counts ROW [TABLE]: true if the report of the last run counts calls in a row that begins so, of a table whose title
# has TABLE
mpi_counts() {
    cat "$mpi_scratch/out" "$mpi_scratch/said" | awk -v row="$1" -v table="${2-}" '
        / calls of rank 0/ { mine = $0 ~ table }
        mine && $0 ~ "^ *" row && $(NF - 1) ~ /^[1-9][0-9]*$/ { counted = 1 }
        END { exit !counted }'
}

# mpi_serves YES [COMPONENT]: the report of the run that was judged last shows calls that coll_lowlat, or the other
# one, served (1) or none (0)
mpi_serves() {
    mpi_says "there is one report" "coll_${2:-lowlat}: MPI_Allreduce calls of rank 0" 1
    mpi_counts served "coll_${2:-lowlat}:"
    test $? -eq $((1 - $1))
    mpi_result $? "$mpi_label: $([ "$1" = 1 ] && echo some || echo no) calls are served"
}

# mpi_run LABEL RANKS SECONDS "MCA ARGUMENTS" PROGRAM ...
mpi_run() {
    mpi_label=$1
    shift
    mpi_start "$@"
    mpi_report "$mpi_label"
}

# mpi_deferred HOW COMMAND ...: with calls that are nonblocking, or persistent (deferred.c)
mpi_deferred() {
    [ -n "$1" ] && export ARC_DEFERRED="$1"
    shift
    "$@"
    unset ARC_DEFERRED
}

# mpi_for_tests COMMAND ...: with components whose blocks, chunks and counts are small, and whose counts for learning
# have the ends that tests want (settled.h); made by `make check` in the build directory.
mpi_for_tests() {
    mpi_path=${OMPI_MCA_mca_base_component_path-}
    if mpi_have_plugin; then
        mpi_small_stage=${top_builddir:-../..}/tests/stage
        if [ ! -f "$mpi_small_stage/mca_coll_quant.so" ]; then
            echo "Bail out! no components for tests in $mpi_small_stage"
            exit 1
        fi
        OMPI_MCA_mca_base_component_path=$mpi_small_stage:$mpi_path
    fi
    "$@"
    OMPI_MCA_mca_base_component_path=$mpi_path
}

# mpi_in_time FUNCTION ...: call it with the time limit, $mpi_limit, at one second.  On a machine
# that was kept from running for so long others than the missing rank are late, too: then all is done once
# more with a limit of five, and what was said the first time becomes comments.
mpi_in_time() {
    mpi_cases_before=$mpi_cases
    for mpi_limit in 1 5; do
        (
            OMPI_MCA_coll_arc_timeout=$mpi_limit
            export OMPI_MCA_coll_arc_timeout
            mpi_cases=$mpi_cases_before
            "$@"
            echo "$mpi_cases" >"$mpi_scratch/in_time.cases"
        ) >"$mpi_scratch/in_time.tap"
        grep -q '^not ok' "$mpi_scratch/in_time.tap" || break
        [ $mpi_limit -gt 1 ] || sed 's/^/# within 1 s: /' "$mpi_scratch/in_time.tap"
    done
    cat "$mpi_scratch/in_time.tap"
    mpi_cases=$(cat "$mpi_scratch/in_time.cases")
}

# mpi_missing LABEL TEXT RANKS "MCA ARGUMENTS" OPTION ...: a rank does not come (late.c); a line of stderr is as
# TEXT, a pattern, says.  For mpi_in_time.
mpi_missing() {
    mpi_label=$1 mpi_text=$2 mpi_ranks=$3 mpi_mca=$4
    shift 4
    mpi_judge "$mpi_label" mpi_start "$mpi_ranks" 60 "$mpi_mca" late "$@"
    grep -q "$mpi_text" "$mpi_scratch/said"
    mpi_result $? "$mpi_label: the rank is named"
    mpi_show "$mpi_scratch/said"
}

# mpi_run with an environment that does not know our components.
mpi_run_without_plugin() {
    mpi_label=$1
    mpi_seconds=$3
    shift
    mpi_start_without_plugin "$@"
    mpi_status=$?
    mpi_report "$mpi_label"
}

# mpi_beside FUNCTION ...: call it in a copy of this shell, next to the one that was called so before.
# For runs that mostly start and wait; mpi_join prints what they have to say.
mpi_beside() {
    mpi_asides=$((mpi_asides + 1))
    mkdir "$mpi_scratch/aside.$mpi_asides"
    (
        mpi_scratch=$mpi_scratch/aside.$mpi_asides
        mpi_cases=0
        "$@"
        mpi_done
    ) >"$mpi_scratch/aside.$mpi_asides.tap" &
    [ $((mpi_asides % mpi_lanes)) -ne 0 ] || wait
}

# Wait for all of mpi_beside, and pass their results on in the order of the calls.
mpi_join() {
    wait
    while [ $mpi_joined -lt $mpi_asides ]; do
        mpi_joined=$((mpi_joined + 1))
        mpi_renumber "$mpi_scratch/aside.$mpi_joined.tap" ""
    done
}

mpi_done() {
    echo "1..$mpi_cases"
}
