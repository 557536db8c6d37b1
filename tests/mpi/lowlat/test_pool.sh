#!/bin/sh
# The shared memory of many communicators (pool.c): few System V ids, used again, and only when nobody
# uses it any more; a memfd where no id is left.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_alone "$@"
mpi_setup components

mpi_note_shared_memory
mpi_run "np=4" 4 300 "" pool -c 500
mpi_run "np=5, 2 on a node" 5 300 "--mca coll_arc_ranks_per_node 2 --mca coll_arc_explore_percent 0" \
    pool -c 50
mpi_for_tests mpi_run "np=64" 64 300 "" growth -c 3 -m 20000
for _ in 1 2 3 4 5 6; do # a hang only: MPI_Comm_spawn of plain Open MPI has some on a busy machine
    mpi_start 3 40 "" pool -s 5
    [ "$mpi_status" -eq 124 ] || break
    killed=yes
done
mpi_judge "np=3"
mpi_run "np=4 late" 4 300 "" pool -l 200
mpi_for_tests mpi_run "np=3 late, twoshot" 3 300 "--mca coll_lowlat_algorithm twoshot" pool -l 200

# In this test's own namespace: regions that are smaller than the pool wishes them.
shmmax=$(cat /proc/sys/kernel/shmmax)
if [ "${ARC_TEST_ALONE-}" = yes ] && (echo 120000 >/proc/sys/kernel/shmmax) 2>/dev/null; then
    mpi_judge "np=3, regions of 120,000 bytes at most" mpi_start 3 120 "--mca coll_arc_verbose 10" pool -c 20 -i 40
    grep -q 'sysv memory' "$mpi_scratch/said"
    mpi_result $? "np=3, regions of 120,000 bytes at most: System V memory is used"
    echo "$shmmax" >/proc/sys/kernel/shmmax
else
    mpi_skip "small regions" "no right to limit System V memory"
fi

# No id at all, one for each of three ranks, and then for two of three only.
said="--mca coll_arc_verbose 10"
shmmni=$(cat /proc/sys/kernel/shmmni)
if [ "${ARC_TEST_ALONE-}" = yes ] && (echo "$shmmni" >/proc/sys/kernel/shmmni) 2>/dev/null; then
    for ids in 0 2 3; do
        echo $ids >/proc/sys/kernel/shmmni
        mpi_judge "np=3, $ids System V ids" mpi_start 3 120 "$said" pool -c 100 -i 1
        mpi_says "no communicator is left out" 'not used' 0
        grep -q 'memfd memory' "$mpi_scratch/said"
        mpi_result $? "np=3, $ids System V ids: memfds are used"
        grep -q 'sysv memory' "$mpi_scratch/said"
        test $? -eq $((ids < 3))
        mpi_result $? "np=3, $ids System V ids: they are used where all ranks have one"
    done
    echo 0 >/proc/sys/kernel/shmmni
    mpi_judge "np=3, memfds of 2 MiB in all" mpi_start 3 120 "$said --mca coll_arc_max_memory 2m" pool -c 100
    grep -q 'memfd memory' "$mpi_scratch/said" && grep -q 'not used: no memory' "$mpi_scratch/said"
    mpi_result $? "np=3, memfds of 2 MiB in all: some communicators have memory, the others pass all down"
    # A memfd counts as a file, and one beyond the limit of files would end the process.
    limited="sh -c 'ulimit -f 16; exec $(mpi_find pool) -c 100'"
    mpi_judge "np=3, short files only" mpi_start_each 120 "$said --mca btl self,tcp" "$limited" "$limited" "$limited"
    mpi_says "all calls are passed down" 'memfd memory' 0
    grep -q 'not used: no memory' "$mpi_scratch/said"
    mpi_result $? "np=3, short files only: it is said why"
    echo "$shmmni" >/proc/sys/kernel/shmmni
else
    mpi_skip "few System V ids" "no right to limit System V memory"
fi
mpi_nothing_left "${killed:+$mpi_files_of_killed}"
mpi_result $? "nothing of these jobs is left in shared memory"
mpi_done
