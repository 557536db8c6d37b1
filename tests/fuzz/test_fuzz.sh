#!/bin/sh
# The fuzz targets on their corpus and on random bytes; under --enable-sanitizers every access is
# checked.  `make fuzz` runs them under libFuzzer.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
exec ./fuzz_replay "${top_srcdir:-../..}/tests/fuzz/corpus"
