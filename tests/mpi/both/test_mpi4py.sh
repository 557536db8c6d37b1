#!/bin/sh
# A Python program gets the same answers, bit for bit, with and without the
# components (mpi4py_allreduce.py).
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup

python=/usr/bin/python3
script=$(dirname "$0")/mpi4py_allreduce.py
[ -x $python ] || mpi_skip_all "no $python"
$python -c 'import mpi4py' 2>/dev/null || mpi_skip_all "no mpi4py (Debian: python3-mpi4py)"
$python -c 'import numpy' 2>/dev/null || mpi_skip_all "no numpy (Debian: python3-numpy)"

for ranks in 2 5; do
    mpi_start_without_plugin "$ranks" 90 "" $python "$script"
    mpi_result $? "np=$ranks: ends well without the components"
    mpi_show "$mpi_scratch/err"
    sort "$mpi_scratch/out" >"$mpi_scratch/answers_without"
    mpi_start "$ranks" 90 "" $python "$script"
    mpi_result "$mpi_status" "np=$ranks: ends well with them"
    mpi_show "$mpi_scratch/err"
    sort "$mpi_scratch/out" >"$mpi_scratch/answers"
    test -s "$mpi_scratch/answers" &&
        diff "$mpi_scratch/answers_without" "$mpi_scratch/answers" >"$mpi_scratch/diff"
    mpi_result $? "np=$ranks: the same answers, $(wc -l <"$mpi_scratch/answers") of them"
    mpi_show "$mpi_scratch/diff"
done
mpi_done
