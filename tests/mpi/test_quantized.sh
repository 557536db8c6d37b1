#!/bin/sh
# coll_quant as a program sees it; quantized.c has the promises.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "${srcdir:-$(dirname "$0")}/mpi_run.sh"
mpi_setup
mpi_have_plugin || mpi_skip_all "needs the components"

on="--mca coll_quant_enable 1"
mpi_run "np=8 16M elements" 8 240 "$on" quantized
for ranks in 2 3 4 5; do
    mpi_run "np=$ranks 1M elements" "$ranks" 120 "$on" quantized -n 1048576
    mpi_run "np=$ranks info key" "$ranks" 60 "" quantized -k
done
# Parameters about how messages are cut must not change the error.
mpi_run "np=4 small segments" 4 120 \
    "$on --mca coll_quant_segment_bytes 16k --mca coll_quant_depth 3" quantized -n 1048576
# Naming the component asks for it, too.
mpi_run "np=2 named in --mca coll" 2 60 \
    "--mca coll lowlat,quant,tuned,basic,libnbc,self" quantized -n 1048576
mpi_done
