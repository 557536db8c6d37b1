#!/bin/sh
# HPC Challenge (HPL, PTRANS, RandomAccess, FFT and more) passes its own checks on
# four ranks, with and without the components.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup

hpcc=$(command -v hpcc) || mpi_skip_all "no hpcc (Debian: hpcc)"
example=/usr/share/doc/hpcc/examples/_hpccinf.txt
[ -f $example ] || mpi_skip_all "no $example"

# The example on a smaller problem: 2 x 2 ranks, N = 300. hpcc works in the current folder.  Without
# look-ahead: with it, HPL cuts its updates where it finds that a panel has come in the meantime, and
# the last bits of its residual depend on time.
cd "$mpi_scratch" || exit 1
sed -e '6s/^[0-9]*/300/' -e '8s/^[0-9]*/40/' -e '25s/^[0-9]*/0/' $example >hpccinf.txt

# check_hpcc LABEL STATUS: judge hpccoutf.txt, the output of the last run.
check_hpcc() {
    mpi_result "$2" "$1: hpcc ends well"
    mpi_show "$mpi_scratch/err"
    test -s hpccoutf.txt
    mpi_result $? "$1: hpcc wrote its results"
    test "$(grep -c '^||Ax-b||.*PASSED' hpccoutf.txt)" -ge 1 && ! grep -q FAILED hpccoutf.txt
    mpi_result $? "$1: HPL residual passed, nothing failed"
    grep -q 'WALL .*PASSED' hpccoutf.txt
    mpi_result $? "$1: PTRANS passed"
    test "$(grep -c 'Found 0 errors in' hpccoutf.txt)" -ge 2
    mpi_result $? "$1: RandomAccess found no errors"
    grep -q '^Success=1' hpccoutf.txt
    mpi_result $? "$1: hpcc reports success"
    # Residuals depend on the arithmetic, not on time: the answers.
    grep -E '^(HPL_RnormI|HPL_Anorm1|HPL_AnormI|HPL_Xnorm1|HPL_XnormI|PTRANS_residual)=|maxErr' \
        hpccoutf.txt | sort >"$mpi_scratch/answers"
    rm -f hpccoutf.txt
}

mpi_start_without_plugin 4 240 "" "$hpcc"
check_hpcc "without the components" $?
cp "$mpi_scratch/answers" "$mpi_scratch/answers_without"
if mpi_have_plugin; then
    mpi_start 4 240 "" "$hpcc"
    check_hpcc "with the components" "$mpi_status"
    test -s "$mpi_scratch/answers" &&
        diff "$mpi_scratch/answers_without" "$mpi_scratch/answers" >"$mpi_scratch/diff"
    mpi_result $? "with the components: the same answers"
    mpi_show "$mpi_scratch/diff"
fi
mpi_done
